// A business in which everything goes wrong: users subscribe, buy, pause, cancel, dispute and are refunded in random order, while the
// processor's events are lost, doubled, delayed and reordered, and the processor itself fails now and then.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Stripe } from 'stripe'
import { BILLING_EVENT_TYPES } from '#billing/billing-events.ts'
import { MONEY_EVENT_TYPES } from '#billing/money/money-events.ts'
import { HOUR_MS, MINUTE_MS } from '#platform/clock.ts'
import { PAYMENT_EVENT_TYPES } from '#storefront/payments/payment-events.ts'
import { type Client, PASSWORD, type TestApp } from '../app.ts'
import { cookieOf } from '../buyer.ts'
import { FAILS_AT_RENEWAL, GOOD_CARD, intercept, loseEvents, PRICES, SLOW_DEBIT, shopOf } from '../shop.ts'
import { type Random, randomOf } from './random.ts'

export type ChaosOptions = {
  seed: number
  histories: number
  steps: number
  /** Histories under way at once. */
  atOnce?: number
  /** Users of this run; another run on the same data goes on with them under the same name. */
  name?: string
}

/** Settings under which one of the plans has a trial. */
export function chaosCatalogue(t: { after: (end: () => void) => void }): { CATALOGUE: string } {
  const folder = mkdtempSync(join(tmpdir(), 'chaos-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const CATALOGUE = join(folder, 'catalogue.json')
  const plans = [
    { tier: 'pro', name: 'Pro', trial_days: 14, grants: ['ai'] },
    { tier: 'enterprise', name: 'Enterprise', grants: ['ai'] },
  ]
  writeFileSync(CATALOGUE, JSON.stringify({ plans }))
  return { CATALOGUE }
}

const LOST = 0.2
/** Of those lost: the processor's list does not have them, either. */
const FORGOTTEN = 0.2
const DOUBLED = 0.1
const DELAYED = 0.2
const FAULTS = 0.02

const DISPUTED_CARD = '4000000000000259'
const CARDS = [GOOD_CARD, GOOD_CARD, GOOD_CARD, FAILS_AT_RENEWAL, SLOW_DEBIT, DISPUTED_CARD]
const TIERS = ['basic', 'pro', 'enterprise']
const ON_SUBSCRIPTIONS = [
  'cancel-at-end',
  'resume',
  'cancel-now',
  'pause',
  'unpause',
  'renew-well',
  'renew-badly',
  'give-up',
  'retry',
  'change-plan',
]
const ON_CHARGES = [
  'refund',
  'refund',
  'refund-part',
  'refund-part',
  'fail-refund',
  'dispute',
  'lose',
  'win',
  'settle',
  'bounce',
]

type StoredEvent = { id: string; type: string; created: number; data: { object: object } }

export type Chaos = { events: number; lost: number; faults: number }

/** Plays all histories. What is on its way at the end is never delivered. */
export async function playChaos(app: TestApp, options: ChaosOptions): Promise<Chaos> {
  const { seed, histories, steps, atOnce = 8, name = `chaos-${seed}` } = options
  loseEvents(app)
  holdDebits(app)
  const told: Chaos = { events: 0, lost: 0, faults: 0 }
  const stopFaults = makeFaults(app, randomOf(seed ^ 0xfa17), told)
  const sandbox = new DatabaseSync(join(app.dataDir, 'sandbox.db'), { timeout: 5_000 })
  try {
    const courier = courierOf(app, sandbox, randomOf(seed), told)
    const waiting = Array.from({ length: histories }, (_, index) => index)
    const play = async () => {
      for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
        const random = randomOf(seed * 1_000 + index)
        const person = await personOf(app, `${name}-${index}`)
        for (let step = 0; step < steps; step++) {
          // What the processor refuses (a paused subscription does not renew) or fails at is part of it.
          await stepOf(app, sandbox, person, random)
          await courier.deliver()
        }
      }
    }
    await Promise.all(Array.from({ length: atOnce }, play))
  } finally {
    stopFaults()
    sandbox.close()
  }
  return told
}

type Person = { client: Client; cookie: string }

async function personOf(app: TestApp, name: string): Promise<Person> {
  const client = await app.as(name)
  const session = await app.store('POST', '/api/session', { body: { email: client.email, password: PASSWORD } })
  return { client, cookie: cookieOf(session) }
}

async function stepOf(app: TestApp, sandbox: DatabaseSync, person: Person, random: Random): Promise<void> {
  const kind = random.next()
  if (kind < 0.2) await subscribe(app, person, random)
  else if (kind < 0.4) await buy(app, person, random)
  else if (kind < 0.6) await pressOnSubscription(app, sandbox, person, random)
  else if (kind < 0.68) await changeLife(app, sandbox, person, random)
  else if (kind < 0.87) await pressOnCharge(app, sandbox, person, random)
  else if (kind < 0.91) await deleteCustomer(app, sandbox, person, random)
  else if (kind < 0.96) app.clock.advance(random.next() * HOUR_MS)
  else await person.client.get('/api/billing/subscription')
}

async function subscribe(app: TestApp, { client }: Person, random: Random) {
  const price = random.pick(Object.values(PRICES))
  const { body, status } = await client.post(`/api/billing/create-checkout-session?price_id=${price}`)
  if (status !== 200 || random.chance(0.1)) return
  await shopOf(app).pay(body.url, random.pick(CARDS))
  if (random.chance(0.3)) await client.get('/api/billing/subscription')
}

async function buy(app: TestApp, { cookie }: Person, random: Random) {
  const headers = { cookie }
  const reply = await app.store('GET', `/api/checkout?tier=${random.pick(TIERS)}`, { headers })
  const address = reply.headers.get('location') ?? ''
  if (!address.includes('/sandbox/pay/')) return
  const session = new URL(address).pathname.split('/').at(-1)
  await shopOf(app).pay(address, random.pick(CARDS))
  if (random.chance(0.3)) await app.store('GET', `/dashboard?success=true&session_id=${session}`, { headers })
}

async function pressOnSubscription(app: TestApp, sandbox: DatabaseSync, { client }: Person, random: Random) {
  const mine = subscriptionsOf(sandbox, client.userId)
  if (mine.length === 0) return
  const { id, customer } = random.pick(mine)
  const { press } = shopOf(app)
  const portal = (await press(`/sandbox/processor/customers/${customer}/portal`)).headers.get('location')
  if (!portal) return
  await press(`${portal}/${random.pick(ON_SUBSCRIPTIONS)}`, {
    subscription: id,
    price: random.pick(Object.values(PRICES)),
  })
}

/** What the customer does in the app, and the operator at the processor. */
async function changeLife(app: TestApp, sandbox: DatabaseSync, { client }: Person, random: Random) {
  const kind = random.next()
  if (kind < 0.3) return client.post('/api/billing/pause')
  if (kind < 0.6) return client.post('/api/billing/resume')
  if (kind < 0.75) {
    const price_id = random.pick(Object.values(PRICES))
    const { status, body } = await client.post('/api/billing/change/preview', { price_id })
    // Only at once: what follows later is told by no status of the processor's.
    if (status !== 200 || body.due_now === 0) return
    return client.post('/api/billing/change', { price_id, proration_at: body.proration_at })
  }
  const mine = subscriptionsOf(sandbox, client.userId)
  if (mine.length === 0) return
  const behavior = random.pick(['void', 'keep_as_draft', ''])
  const field = behavior === '' ? 'pause_collection' : 'pause_collection[behavior]'
  return app.request('POST', `/sandbox/stripe/v1/subscriptions/${random.pick(mine).id}`, {
    body: new URLSearchParams({ [field]: behavior }),
    headers: { authorization: `Bearer ${app.config.processor.secretKey}` },
  })
}

async function pressOnCharge(app: TestApp, sandbox: DatabaseSync, { client }: Person, random: Random) {
  const mine = chargesOf(sandbox, client.userId)
  if (mine.length === 0) return
  const { id } = random.pick(mine)
  const button = random.pick(ON_CHARGES)
  const isPart = button === 'refund-part'
  const action = isPart ? 'refund' : button
  await shopOf(app).press(`/sandbox/processor/charges/${id}/${action}`, isPart ? { units: '5' } : {})
}

/** Support does that, in the processor's dashboard. */
async function deleteCustomer(app: TestApp, sandbox: DatabaseSync, { client }: Person, random: Random) {
  const mine = subscriptionsOf(sandbox, client.userId)
  if (mine.length === 0) return
  const { secretKey } = app.config.processor
  const headers = { authorization: `Bearer ${secretKey}` }
  await app.request('DELETE', `/sandbox/stripe/v1/customers/${random.pick(mine).customer}`, { headers })
}

/** Hands on what the processor emits, but not all of it, not once, not at once and not in order. */
function courierOf(app: TestApp, sandbox: DatabaseSync, random: Random, told: Chaos) {
  const read = sandbox.prepare(`select seq, body from stripe_objects where object = 'event' and seq > ? order by seq`)
  const forget = sandbox.prepare('delete from stripe_objects where id = ?')
  let reached = Number(sandbox.prepare('select coalesce(max(seq), 0) as seq from stripe_objects').get()?.seq)
  let delayed: StoredEvent[] = []

  return {
    async deliver() {
      const fresh = read.all(reached) as { seq: number; body: string }[]
      reached = fresh.at(-1)?.seq ?? reached
      const due: StoredEvent[] = delayed.splice(0, delayed.length)
      for (const { body } of fresh) {
        const event = JSON.parse(body) as StoredEvent
        told.events++
        if (random.chance(LOST)) {
          told.lost++
          if (random.chance(FORGOTTEN)) forget.run(event.id)
        } else if (random.chance(DELAYED)) delayed.push(event)
        else due.push(event, ...(random.chance(DOUBLED) ? [event] : []))
      }
      // Some wait once more, so that later ones overtake them.
      delayed = [...delayed, ...due.filter(() => random.chance(DELAYED / 4))]
      const now = due.filter((event) => !delayed.includes(event))
      await Promise.all(random.shuffle(now).map(send))
    },
  }

  async function send(event: StoredEvent) {
    const { webhookSecret, storefrontWebhookSecret } = app.config.processor
    const hears = (types: readonly string[]) => types.includes(event.type)
    const body = JSON.stringify(event)
    const signed = (secret: string | null) => ({
      body,
      headers: { 'stripe-signature': signatureOf(app, body, secret) },
    })
    if (hears(BILLING_EVENT_TYPES)) await app.request('POST', '/api/billing/webhook', signed(webhookSecret))
    if (hears(PAYMENT_EVENT_TYPES) || hears(MONEY_EVENT_TYPES)) {
      await app.store('POST', '/api/processor/webhook', signed(storefrontWebhookSecret))
    }
  }
}

function signatureOf(app: TestApp, payload: string, secret: string | null): string {
  const timestamp = Math.floor(app.clock.ms() / 1000)
  return Stripe.webhooks.generateTestHeaderString({ payload, secret: secret ?? '', timestamp })
}

/** Debits settle when a history says so. */
function holdDebits({ dataDir }: TestApp): void {
  const db = new DatabaseSync(join(dataDir, 'sandbox.db'))
  db.exec(`create trigger if not exists held before insert on stripe_settlements begin select raise(ignore); end`)
  db.close()
}

/** The processor fails at some calls. */
function makeFaults(app: TestApp, random: Random, told: Chaos): () => void {
  let isOn = true
  intercept(app, (request, response) => {
    if (!isOn || !request.url?.startsWith('/sandbox/stripe/') || !random.chance(FAULTS)) return false
    told.faults++
    response.writeHead(400, { 'content-type': 'application/json', 'stripe-should-retry': 'false' })
    response.end(JSON.stringify({ error: { type: 'api_error', message: 'Out of order.' } }))
    return true
  })
  return () => {
    isOn = false
  }
}

export type Owned = { id: string; customer: string }

export function subscriptionsOf(sandbox: DatabaseSync, userId: string): Owned[] {
  return sandbox
    .prepare(
      `select id, json_extract(body, '$.customer') as customer from stripe_objects
       where object = 'subscription' and json_extract(body, '$.metadata.user_id') = ? order by seq`,
    )
    .all(userId) as Owned[]
}

/** For subscriptions and purchases. */
export function chargesOf(sandbox: DatabaseSync, userId: string): { id: string }[] {
  return sandbox
    .prepare(
      `select id from stripe_objects where object = 'charge' and (json_extract(body, '$.metadata.user_id') = ?1 or owner in (
         select owner from stripe_objects where object = 'subscription' and json_extract(body, '$.metadata.user_id') = ?1)) order by seq`,
    )
    .all(userId) as { id: string }[]
}

/** Long enough for whatever was put off, and for every account to be stale. */
export const AFTERWARDS_MS = 25 * HOUR_MS + MINUTE_MS
