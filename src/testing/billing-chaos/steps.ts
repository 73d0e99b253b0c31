// The steps of one person in the chaos: actions in the app, in the shop and at the processor, and
// those of the operator and the banks.
import type { DatabaseSync } from 'node:sqlite'
import { HOUR_MS } from '#platform/clock.ts'
import { type Client, createClient, PASSWORD, type Reply, type TestApp } from '../app.ts'
import { readCookie } from '../buyer.ts'
import { createShop, FAILS_AT_RENEWAL, GOOD_CARD, PRICES, SLOW_DEBIT } from '../shop.ts'
import type { Random } from './random.ts'

const DISPUTED_CARD = '4000000000000259'
const CARDS = [GOOD_CARD, GOOD_CARD, GOOD_CARD, FAILS_AT_RENEWAL, SLOW_DEBIT, DISPUTED_CARD]
const CODES = ['WELCOME10', 'MINUS20', 'HALF3', 'FREE100']
const TIERS = ['basic', 'pro', 'enterprise']
/** Possible steps of a subscription, by its status; now and then an impossible one. */
const ALIVE = [
  'cancel-at-end',
  'cancel-now',
  'renew-well',
  'renew-well',
  'renew-badly',
  'renew-badly',
  'change-plan',
  'change-plan',
  'pause',
]
const ON_SUBSCRIPTIONS: Record<string, readonly string[]> = {
  active: ALIVE,
  trialing: ALIVE,
  past_due: ['retry', 'retry', 'give-up', 'renew-badly', 'cancel-now'],
  unpaid: ['retry', 'retry', 'cancel-now', 'renew-well'],
  paused: ['unpause', 'unpause', 'cancel-now', 'renew-well'],
  ending: ['resume', 'resume', 'renew-well', 'cancel-now', 'pause'],
}
const ON_CHARGES: Record<string, readonly string[]> = {
  pending: ['settle', 'settle', 'bounce'],
  paid: ['refund', 'refund-part', 'refund-part', 'dispute'],
  refunded: ['fail-refund', 'refund', 'refund-part', 'dispute'],
  needs_response: ['win', 'lose'],
  lost: ['reinstate'],
  won: ['refund'],
}
const all = (buttons: Record<string, readonly string[]>) => Object.values(buttons).flat()

export type Person = {
  client: Client
  cookie: string
  /** Checkouts that stand open in some tab. */
  open: string[]
  isGone: boolean
}

/** On a busy machine the database may be unavailable for a moment, which is no fault. */
export async function createPerson(app: TestApp, name: string): Promise<Person> {
  for (let tries = 1; ; tries++) {
    try {
      return await newPerson(app, name)
    } catch (error) {
      if (tries === TRIES_MAX) throw error
    }
  }
}

const TRIES_MAX = 5

async function newPerson(app: TestApp, name: string): Promise<Person> {
  const client = await app.as(name)
  await createShop(app).verify(client)
  const session = await app.store('POST', '/api/session', {
    body: { email: client.email, password: PASSWORD },
  })
  return { client, cookie: readCookie(session), open: [], isGone: false }
}

/**
 * The clock moves on while histories are played, so a session may be over at any call: then the
 * person signs in again.
 */
export async function call(
  app: TestApp,
  person: Person,
  method: string,
  path: string,
  body?: unknown,
): Promise<Reply> {
  const reply = await person.client.request(method, path, { body })
  if (reply.status !== 401 || person.isGone) return reply
  const { email } = person.client
  const { body: signedIn } = await app.post('/api/auth/login', { email, password: PASSWORD })
  const { access_token: token, refresh_token: refreshToken, user } = signedIn
  person.client = createClient(app.url, token, { email, userId: user.id, refreshToken })
  return person.client.request(method, path, { body })
}

/**
 * Refusals by the processor (a paused subscription does not renew) and its failures are part of it.
 */
export async function takeStep(
  app: TestApp,
  sandbox: DatabaseSync,
  person: Person,
  random: Random,
): Promise<void> {
  // Two tabs, or a person and the operator, in the same moment.
  if (random.chance(0.1)) {
    await Promise.all([
      oneStep(app, sandbox, person, random),
      oneStep(app, sandbox, person, random),
    ])
  } else await oneStep(app, sandbox, person, random)
}

async function oneStep(
  app: TestApp,
  sandbox: DatabaseSync,
  person: Person,
  random: Random,
): Promise<unknown> {
  const kind = random.next()
  if (kind < 0.18) return subscribe(app, person, random)
  if (kind < 0.35) return buy(app, person, random)
  if (kind < 0.38) return payLate(app, person, random)
  if (kind < 0.57) return pressOnSubscription(app, sandbox, person, random)
  if (kind < 0.67) return changeLife(app, sandbox, person, random)
  if (kind < 0.87) return pressOnCharge(app, sandbox, person, random)
  if (kind < 0.9) return deleteCustomer(app, sandbox, person, random)
  if (kind < 0.92) return deleteAccount(app, person)
  if (kind < 0.96) return app.clock.advance(random.next() * HOUR_MS)
  return call(app, person, 'GET', '/api/billing/subscription')
}

async function subscribe(app: TestApp, person: Person, random: Random) {
  const price = random.pick(Object.values(PRICES))
  // A former subscriber enters the code in the address; the page of a first subscription asks for
  // it.
  const code = random.chance(0.15) ? `&promotion_code=${random.pick(CODES)}` : ''
  const { body, status } = await call(
    app,
    person,
    'POST',
    `/api/billing/create-checkout-session?price_id=${price}${code}`,
  )
  if (status !== 200) return
  if (random.chance(0.1)) return person.open.push(body.url)
  await payCheckout(app, person, body.url, random)
  if (random.chance(0.3)) await call(app, person, 'GET', '/api/billing/subscription')
}

async function buy(app: TestApp, person: Person, random: Random) {
  const headers = { cookie: person.cookie }
  const reply = await app.store('GET', `/api/checkout?tier=${random.pick(TIERS)}`, { headers })
  const address = reply.headers.get('location') ?? ''
  if (!address.includes('/sandbox/pay/')) return
  if (random.chance(0.1)) return person.open.push(address)
  const session = new URL(address).pathname.split('/').at(-1)
  await payCheckout(app, person, address, random)
  if (random.chance(0.3))
    await app.store('GET', `/dashboard?success=true&session_id=${session}`, { headers })
}

/** Continues in an old tab: the user may have subscribed or deleted the account since. */
async function payLate(app: TestApp, person: Person, random: Random) {
  const address = person.open.shift()
  if (address) await payCheckout(app, person, address, random)
}

async function payCheckout(app: TestApp, { client }: Person, address: string, random: Random) {
  const { press, pay } = createShop(app)
  if (random.chance(0.15))
    await press(`${new URL(address).pathname}/code`, { code: random.pick(CODES) })
  // This address distinguishes cards: see separateCards.
  await pay(address, random.pick(CARDS), { email: client.email })
}

async function pressOnSubscription(
  app: TestApp,
  sandbox: DatabaseSync,
  person: Person,
  random: Random,
) {
  const mine = listSubscriptions(sandbox, person.client.userId)
  if (mine.length === 0) return subscribe(app, person, random)
  const { id, customer, status } = random.pick(mine)
  const { press } = createShop(app)
  const portal = (await press(`/sandbox/processor/customers/${customer}/portal`)).headers.get(
    'location',
  )
  if (!portal) return
  const buttons = random.chance(0.8) ? ON_SUBSCRIPTIONS[status] : all(ON_SUBSCRIPTIONS)
  // An ended subscription cannot change any more.
  if (!buttons) return subscribe(app, person, random)
  await press(`${portal}/${random.pick(buttons)}`, {
    subscription: id,
    price: random.pick(Object.values(PRICES)),
  })
}

/** Actions of the customer in the app, and of the operator at the processor. */
async function changeLife(app: TestApp, sandbox: DatabaseSync, person: Person, random: Random) {
  const kind = random.next()
  if (kind < 0.3) return call(app, person, 'POST', '/api/billing/pause')
  if (kind < 0.6) return call(app, person, 'POST', '/api/billing/resume')
  if (kind < 0.75) {
    const price_id = random.pick(Object.values(PRICES))
    const { status, body } = await call(app, person, 'POST', '/api/billing/change/preview', {
      price_id,
    })
    if (status !== 200) return
    return call(app, person, 'POST', '/api/billing/change', {
      price_id,
      proration_at: body.proration_at,
    })
  }
  const mine = listSubscriptions(sandbox, person.client.userId)
  if (mine.length === 0) return
  const behavior = random.pick(['void', 'keep_as_draft', ''])
  const field = behavior === '' ? 'pause_collection' : 'pause_collection[behavior]'
  return app.request('POST', `/sandbox/stripe/v1/subscriptions/${random.pick(mine).id}`, {
    body: new URLSearchParams({ [field]: behavior }),
    headers: { authorization: `Bearer ${app.config.processor.secretKey}` },
  })
}

async function pressOnCharge(app: TestApp, sandbox: DatabaseSync, person: Person, random: Random) {
  const mine = listCharges(sandbox, person.client.userId)
  if (mine.length === 0) return buy(app, person, random)
  const { id, status } = random.pick(mine)
  const button = random.pick((random.chance(0.8) && ON_CHARGES[status]) || all(ON_CHARGES))
  const isPart = button === 'refund-part'
  const action = isPart ? 'refund' : button
  await createShop(app).press(
    `/sandbox/processor/charges/${id}/${action}`,
    isPart ? { units: '5' } : {},
  )
}

/**
 * After the deletion, every payment of the account must end unbilled, including open, settling and
 * delayed ones.
 */
async function deleteAccount(app: TestApp, person: Person) {
  const { status } = await call(app, person, 'DELETE', '/api/users/me', { password: PASSWORD })
  if (status === 200) person.isGone = true
}

/** Support does that, in the processor's dashboard. */
async function deleteCustomer(
  app: TestApp,
  sandbox: DatabaseSync,
  { client }: Person,
  random: Random,
) {
  const mine = listSubscriptions(sandbox, client.userId)
  if (mine.length === 0) return
  const { secretKey } = app.config.processor
  const headers = { authorization: `Bearer ${secretKey}` }
  await app.request('DELETE', `/sandbox/stripe/v1/customers/${random.pick(mine).customer}`, {
    headers,
  })
}

type Owned = { id: string; customer: string; status: string }

function listSubscriptions(sandbox: DatabaseSync, userId: string): Owned[] {
  return sandbox
    .prepare(
      `select id, body ->> '$.customer' as customer,
         iif(body ->> '$.status' = 'active' and body ->> '$.cancel_at_period_end', 'ending', body ->> '$.status') as status
       from stripe_objects where object = 'subscription' and body ->> '$.metadata.user_id' = ? order by seq`,
    )
    .all(userId) as Owned[]
}

/** For subscriptions and purchases. A disputed charge is described by its dispute. */
function listCharges(sandbox: DatabaseSync, userId: string): { id: string; status: string }[] {
  return sandbox
    .prepare(
      `select c.id, coalesce(d.body ->> '$.status', iif(c.body ->> '$.status' = 'pending', 'pending',
           iif(c.body ->> '$.amount_refunded' > 0, 'refunded', 'paid'))) as status
       from stripe_objects c left join stripe_objects d on d.object = 'dispute' and d.owner = c.id
       where c.object = 'charge' and c.body ->> '$.status' <> 'failed' and (c.body ->> '$.metadata.user_id' = ?1 or c.owner in (
         select owner from stripe_objects where object = 'subscription' and body ->> '$.metadata.user_id' = ?1)) order by c.seq`,
    )
    .all(userId) as { id: string; status: string }[]
}
