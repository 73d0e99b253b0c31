// A buyer at the storefront for tests: a user with a cookie who can pay, and events with the
// processor's signature.
import { createHmac, randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { PASSWORD, type Reply, type RequestOptions, type TestApp, testApp } from './app.ts'
import { GOOD_CARD, loseEvents, neverWritten } from './shop.ts'

export type Shop = Awaited<ReturnType<typeof openShop>>
type Payer = { email: string; get(path: string): Promise<Reply> }
export type Buyer = Awaited<ReturnType<Shop['buyer']>>

/** The service, with a hand for storefront matters. */
export async function openShop(
  t: Pick<TestContext, 'after'>,
  env: Record<string, string> = {},
  options: { userApp?: boolean; worker?: boolean } = {},
) {
  const app = await testApp(t, {
    ...options,
    env: { STRIPE_STOREFRONT_WEBHOOK_SECRET: 'whsec_shop', ...env },
  })

  return {
    ...storeClient(app),

    /** Signs in at the storefront; makes the account when there is none. */
    async buyer(name: string) {
      const { userId, email } = await app.as(name)
      const reply = await app.store('POST', '/api/session', { body: { email, password: PASSWORD } })
      if (reply.status !== 200) throw new Error(`signing ${name} in: ${reply.status} ${reply.text}`)
      const cookie = readCookie(reply)
      const request = (method: string, path: string, options: RequestOptions = {}) =>
        app.store(method, path, { ...options, headers: { cookie, ...options.headers } })
      return {
        userId,
        email,
        cookie,
        request,
        get: (path: string, headers: Record<string, string> = {}) =>
          request('GET', path, { headers }),
        /** Fetches bytes, as a download does. */
        async download(path = '/api/download', headers: Record<string, string> = {}) {
          const response = await fetch(`${app.storefrontUrl}${path}`, {
            headers: { cookie, ...headers },
          })
          const bytes = Buffer.from(await response.arrayBuffer())
          const isJson = response.headers.get('content-type')?.includes('json')
          return {
            status: response.status,
            headers: response.headers,
            bytes,
            body: isJson ? JSON.parse(bytes.toString()) : null,
          }
        },
      }
    },

    /** Delivers an event with a valid signature. */
    event: (
      type: string,
      object: object,
      options: { id?: string; header?: string; secret?: string; age?: number } = {},
    ) => {
      const body = JSON.stringify({
        id: options.id ?? `evt_${randomUUID().replaceAll('-', '')}`,
        object: 'event',
        api_version: '2026-09-30.endive',
        created: Math.floor(Date.now() / 1000),
        type,
        data: { object },
      })
      const signature = signed(
        body,
        options.secret ?? 'whsec_shop',
        app.clock.ms() - (options.age ?? 0) * 1000,
      )
      return app.store('POST', '/api/processor/webhook', {
        body,
        headers: {
          'content-type': 'application/json',
          [options.header ?? 'stripe-signature']: signature,
        },
      })
    },

    /** From now on the processor's events stand in its list and are never delivered. */
    loseEvents: () => loseEvents(app),

    /** Bank debits settle when a test requests it, even on a slow machine. */
    holdDebits: () => neverWritten(app, 'stripe_settlements'),

    /**
     * Pays the checkout of the address on the processor's page and comes back, so that the processor
     * knows the payment. Returns the checkout session's id.
     */
    async pay(buyer: Payer, address: string, more: Record<string, string> = {}): Promise<string> {
      const { pathname } = new URL(address)
      const form = { email: buyer.email, name: 'Ada', card: GOOD_CARD, ...more }
      const paid = await app.request('POST', pathname, { body: new URLSearchParams(form) })
      if (paid.status !== 303) throw new Error(`paying: ${paid.status} ${paid.text}`)
      const session = pathname.split('/').at(-1) ?? ''
      await buyer.get(`/dashboard?success=true&session_id=${session}`)
      await app.settle()
      return session
    },

    /** Buys a tier as `pay` does. */
    async buy(buyer: Payer, tier: string): Promise<string> {
      const { headers } = await buyer.get(`/api/checkout?tier=${tier}`)
      return this.pay(buyer, headers.get('location') ?? '')
    },

    /** A purchase, as a paid checkout's event makes it. Returns its payment intent's id. */
    async sell(buyer: { userId: string }, tier: string): Promise<string> {
      const session = paidSession(buyer.userId, tier)
      const reply = await this.event('checkout.session.completed', session)
      if (reply.status !== 200) throw new Error(`selling ${tier}: ${reply.status} ${reply.text}`)
      return session.payment_intent
    },
  }
}

/** A checkout session as the processor sends it; only what matters here. */
export function paidSession(userId: string, tier: string) {
  const id = randomUUID().replaceAll('-', '')
  return {
    id: `cs_test_${id}`,
    object: 'checkout.session',
    mode: 'payment',
    payment_status: 'paid',
    payment_intent: `pi_${id}`,
    amount_total: 29_900,
    currency: 'usd',
    customer_email: null,
    customer_details: { email: 'payer@example.com' },
    metadata: { user_id: userId, tier },
  }
}

export function signed(body: string, secret: string, atMs = Date.now()): string {
  const time = Math.floor(atMs / 1000)
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`
}

export function readCookie(reply: Reply): string {
  return (reply.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
}

/** The app's members that tests of the storefront use, with live getters. */
function storeClient(app: TestApp) {
  const { url, storefrontUrl, config, clock, store, settle, mail, get, post, dataDir } = app
  return {
    app,
    url,
    storefrontUrl,
    config,
    clock,
    store,
    settle,
    mail,
    get,
    post,
    dataDir,
    as: app.as,
    platform: app.platform,
  }
}
