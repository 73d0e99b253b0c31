// A buyer on the processor's hosted pages, for tests: a person with a card, and a processor that
// signs the given events.
import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Stripe } from 'stripe'
import { openProcessor, type Processor } from '#billing/processor.ts'
import { updateUser } from '#identity/users.ts'
import { transaction } from '#platform/db/db.ts'
import type { Client, Reply, TestApp } from './app.ts'

export const GOOD_CARD = '4242424242424242'
export const FAILS_AT_RENEWAL = '4000000000000341'
export const DECLINED_CARD = '4000000000000002'
export const SLOW_DEBIT = '000123456789'
/** Their bank asks its customer to confirm: when the card is first used, or each time. */
export const ASKS_ONCE = '4000 0025 0000 3155'
export const ASKS_ALWAYS = '4000 0000 0000 3220'

export const PRICES = {
  pro: 'price_sandbox_pro_monthly',
  proYearly: 'price_sandbox_pro_yearly',
  enterprise: 'price_sandbox_enterprise_monthly',
} as const

export type SignedHow = {
  /** Which header carries the signature. */
  header?: string
  secret?: string
  /** Unix seconds of the signature. */
  at?: number
  /** Instead of a right one; null: none. */
  signature?: string | null
  path?: string
}

export function createShop(app: TestApp) {
  const processor = openProcessor(app.config.processor) as Processor
  const press = (path: string, form: Record<string, string> = {}) =>
    app.request('POST', path, { body: new URLSearchParams(form) })

  const shop = {
    processor,
    /** Presses a button of a hosted page. */
    press,
    /** Pays an open checkout. Returns the redirect, or the page with the reason of a failure. */
    pay: (url: string, card = GOOD_CARD, form: Record<string, string> = {}): Promise<Reply> =>
      press(new URL(url).pathname, { card, email: 'payer@example.com', ...form }),

    /** Objects created from now on are newer: the processor counts whole seconds. */
    later: () => app.clock.advance(60_000),
    /** As if the person had followed the link of their email: a trial needs that. */
    async verify({ userId }: Client): Promise<void> {
      await transaction(app.platform.db, (tx) =>
        updateUser(tx, userId, { is_verified: true }, app.clock.now()),
      )
    },
    /** Also what no page of the processor waits for. */
    reconcile: () => app.service.billing.sync(),
    async subscribe(client: Client, { price = PRICES.pro as string, card = GOOD_CARD } = {}) {
      await shop.verify(client)
      const reply = await client.post(`/api/billing/create-checkout-session?price_id=${price}`)
      assert.equal(reply.status, 200, reply.text)
      const back = await shop.pay(reply.body.url, card)
      assert.equal(back.status, 303, back.text)
      return shop.subscription(client)
    },
    /** Asks for a pause, and lets the paid period end, with which it begins. */
    async pause(client: Client): Promise<void> {
      const reply = await client.post('/api/billing/pause')
      assert.equal(reply.status, 200, reply.text)
      assert.ok(reply.body.pauses_at)
      await shop.portal(client, 'renew-well')
    },
    async subscription(
      client: Client,
    ): Promise<{ status: string; tier: string; processor_customer_id: string | null }> {
      const { body } = await client.get('/api/billing/subscription')
      return {
        status: body.status,
        tier: body.tier,
        processor_customer_id: body.processor_customer_id,
      }
    },
    async readSubscription(client: Client): Promise<Stripe.Subscription> {
      const { processor_customer_id: customer } = await shop.subscription(client)
      const { data } = await processor.subscriptions.list({
        customer: customer ?? '',
        status: 'all',
      })
      assert.ok(data[0], 'there is a subscription')
      return data[0]
    },
    /** Presses a button of the customer's portal, about the newest subscription. */
    async portal(
      client: Client,
      button: string,
      form: Record<string, string> = {},
    ): Promise<Reply> {
      const { body } = await client.post('/api/billing/create-portal-session')
      const { id } = await shop.readSubscription(client)
      return press(`${new URL(body.url).pathname}/${button}`, { subscription: id, ...form })
    },

    /** Sends an event like the processor, optionally with a fault. */
    send(
      event: { id?: string; type: string; object: object; created?: number },
      how: SignedHow = {},
    ): Promise<Reply> {
      const seconds = Math.floor(app.clock.ms() / 1000)
      const payload = JSON.stringify({
        id: event.id ?? `evt_${crypto.randomUUID().replaceAll('-', '')}`,
        object: 'event',
        api_version: '2026-09-30.endive',
        created: event.created ?? seconds,
        type: event.type,
        data: { object: event.object },
      })
      return shop.sendRaw(payload, how)
    },
    sendRaw(
      payload: string,
      {
        header = 'stripe-signature',
        secret,
        at,
        signature,
        path = '/api/billing/webhook',
      }: SignedHow = {},
    ): Promise<Reply> {
      const signed =
        signature === undefined
          ? Stripe.webhooks.generateTestHeaderString({
              payload,
              secret: secret ?? app.config.processor.webhookSecret ?? '',
              timestamp: at ?? Math.floor(app.clock.ms() / 1000),
            })
          : signature
      return app.request('POST', path, {
        body: payload,
        headers: {
          'content-type': 'application/json',
          ...(signed === null ? {} : { [header]: signed }),
        },
      })
    },
  }
  return shop
}

/** From now on the processor's events stand in its list and are never delivered. */
export function loseEvents(app: Pick<TestApp, 'dataDir'>): void {
  neverWritten(app, 'stripe_deliveries')
}

/** The sandbox continues, but its writes to this table are lost. */
export function neverWritten({ dataDir }: Pick<TestApp, 'dataDir'>, table: string): void {
  const db = new DatabaseSync(join(dataDir, 'sandbox.db'))
  db.exec(
    `create trigger if not exists never_${table} before insert on ${table} begin select raise(ignore); end`,
  )
  db.close()
}

/**
 * The processor fails whenever it should make an object of this kind, until the returned function
 * is called.
 */
export function failToMake({ dataDir }: Pick<TestApp, 'dataDir'>, object: string): () => void {
  const run = (statement: string) => {
    const db = new DatabaseSync(join(dataDir, 'sandbox.db'))
    db.exec(statement)
    db.close()
  }
  run(`create trigger failing before insert on stripe_objects when new.object = '${object}'
    begin select raise(abort, 'out of order'); end`)
  return () => run('drop trigger failing')
}

/**
 * The processor accepts calls, but answers none before `release`; `isHolding` reports the state.
 */
export function holdProcessor(
  app: TestApp,
  untilMs: number,
): { release: () => void; isHolding: () => boolean } {
  const freed = Promise.withResolvers<void>()
  let holding = true
  const release = () => {
    holding = false
    freed.resolve()
  }
  // Waits at most this long: a test fails rather than hangs.
  setTimeout(release, untilMs).unref()
  intercept(app, (request, _response, handle) => {
    if (!holding || !request.url?.startsWith('/sandbox/stripe/')) return false
    void freed.promise.then(handle)
    return true
  })
  return { release, isHolding: () => holding }
}

/** Intercepts requests of both servers; true: the request is handled. */
export function intercept(
  { service }: TestApp,
  takes: (request: IncomingMessage, response: ServerResponse, forward: () => void) => boolean,
): void {
  for (const server of [service.api?.server, service.storefront?.server]) {
    if (!server) continue
    const listeners = server.listeners('request') as ((
      request: IncomingMessage,
      response: ServerResponse,
    ) => void)[]
    server.removeAllListeners('request')
    server.on('request', (request, response) => {
      const handle = () => {
        for (const listener of listeners) listener.call(server, request, response)
      }
      if (!takes(request, response, handle)) handle()
    })
  }
}
