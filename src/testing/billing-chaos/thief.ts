// A year of people who try to get more of the models than they pay for. After each of their calls what they have cost is held against
// what the processor says that their payments bought, by code that shares nothing with the service's own.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Stripe } from 'stripe'
import { DAY_MS } from '#platform/clock.ts'
import type { Client, TestApp } from '../app.ts'
import { ASKS_ONCE, FAILS_AT_RENEWAL, GOOD_CARD, PRICES, SLOW_DEBIT, shopOf } from '../shop.ts'
import { spend } from '../spend.ts'
import { createRandom, type Random } from './random.ts'
import { call, createPerson, type Person } from './steps.ts'

/** Of `chaosCatalogue`, in US dollars. */
const ALLOWANCES: Record<string, { month: number; trial: number }> = {
  pro: { month: 20, trial: 2 },
  enterprise: { month: 80, trial: 8 },
}
const BOUGHT = [
  PRICES.pro,
  PRICES.pro,
  PRICES.enterprise,
  PRICES.proYearly,
  'price_sandbox_enterprise_yearly',
]
const CARDS = [
  GOOD_CARD,
  GOOD_CARD,
  '5555555555554444',
  FAILS_AT_RENEWAL,
  FAILS_AT_RENEWAL,
  SLOW_DEBIT,
  ASKS_ONCE,
]
const PORTAL = [
  'change-plan',
  'change-plan',
  'cancel-now',
  'cancel-at-end',
  'resume',
  'pause',
  'unpause',
  'retry',
]
const CHARGES = [
  'refund',
  'refund',
  'refund-part',
  'dispute',
  'dispute',
  'win',
  'lose',
  'reinstate',
  'settle',
  'bounce',
]
/** Calls of so many dollars are tried one after the other. */
const CALLS = [80, 60, 20, 20, 10, 5, 2, 1, 0.5, 0.2]
/** Tolerance for rounding down to thousand-millionths. */
const EPSILON = 1e-6

export type Thieves = {
  /** A line for each call that cost more than was bought. */
  wrong: string[]
  bought: number
  spent: number
  calls: number
  refused: number
}

export async function playThieves(
  app: TestApp,
  {
    seed,
    thieves,
    rounds,
    name = `thief-${seed}`,
  }: { seed: number; thieves: number; rounds: number; name?: string },
): Promise<Thieves> {
  const random = createRandom(seed)
  const people: Person[] = []
  for (let index = 0; index < thieves; index++)
    people.push(await createPerson(app, `${name}-${index}`))
  const costs = people.map(() => 0)
  const outcome: Thieves = { wrong: [], bought: 0, spent: 0, calls: 0, refused: 0 }
  for (let round = 0; round < rounds; round++) {
    for (const [index, person] of people.entries()) {
      const acts: string[] = []
      for (let left = 1 + Math.floor(random.next() * 3); left > 0; left--) {
        acts.push(await act(app, person, random))
        await app.settle()
        if (random.chance(0.5)) await use(index, person, acts)
      }
      await use(index, person, acts)
    }
    // Now hours, now weeks: renewals, retries and ends of grace among them.
    await pass(
      app,
      random.chance(0.4) ? random.next() * 3 * DAY_MS : (3 + random.next() * 35) * DAY_MS,
    )
  }
  for (const { client } of people) outcome.bought += await computePurchases(app, client)
  return outcome

  async function use(index: number, person: Person, acts: readonly string[]) {
    const before = outcome.spent
    for (const usd of random.chance(0.7) ? CALLS : [random.next() * 30]) {
      const isDone = await spend(app, person.client.userId, usd)
      outcome[isDone ? 'calls' : 'refused']++
      if (isDone) outcome.spent += usd
    }
    if (outcome.spent === before) return
    costs[index] = (costs[index] ?? 0) + outcome.spent - before
    const bought = await computePurchases(app, person.client)
    if ((costs[index] ?? 0) > bought + EPSILON)
      outcome.wrong.push(
        `${person.client.email}: cost ${costs[index]} of ${bought} after ${acts.join(', ')}`,
      )
  }
}

/** Moves the processor's clock. Every event it sends arrives. */
async function pass(app: TestApp, ms: number): Promise<void> {
  const { status, text } = await app.post('/sandbox/processor/clock', {
    to: new Date(app.clock.ms() + ms),
  })
  if (status !== 200) throw new Error(`the clock: ${status} ${text}`)
  await app.settle()
  await app.service.billing.sync()
  await app.settle()
}

async function act(app: TestApp, person: Person, random: Random): Promise<string> {
  const kind = random.next()
  if (kind < 0.3) return subscribe(app, person, random)
  if (kind < 0.55) return changePlan(app, person, random)
  if (kind < 0.63) return post(app, person, '/api/billing/pause')
  if (kind < 0.73) return post(app, person, '/api/billing/resume')
  if (kind < 0.87) return pressPortal(app, person, random)
  return pressCharge(app, person, random)
}

async function post(app: TestApp, person: Person, path: string): Promise<string> {
  return `${path} ${(await call(app, person, 'POST', path)).status}`
}

async function subscribe(app: TestApp, person: Person, random: Random): Promise<string> {
  const price = random.pick(BOUGHT)
  const { status, body } = await call(
    app,
    person,
    'POST',
    `/api/billing/create-checkout-session?price_id=${price}`,
  )
  if (status !== 200) return `checkout ${price} ${status}`
  await shopOf(app).pay(body.url, random.pick(CARDS), { email: person.client.email })
  if (random.chance(0.5)) await call(app, person, 'GET', '/api/billing/subscription')
  return `subscribed ${price}`
}

async function changePlan(app: TestApp, person: Person, random: Random): Promise<string> {
  const price_id = random.pick(BOUGHT)
  const preview = await call(app, person, 'POST', '/api/billing/change/preview', { price_id })
  if (preview.status !== 200) return `change ${price_id} ${preview.status}`
  const { proration_at } = preview.body
  const { status } = await call(app, person, 'POST', '/api/billing/change', {
    price_id,
    proration_at,
  })
  return `changed ${price_id} ${status}`
}

async function pressPortal(app: TestApp, person: Person, random: Random): Promise<string> {
  const { body, status } = await call(app, person, 'POST', '/api/billing/create-portal-session')
  if (status !== 200) return `portal ${status}`
  const mine = (await listSubscriptions(app, person.client)).filter(
    (one) => one.status !== 'canceled',
  )
  if (mine.length === 0) return 'portal'
  const button = random.pick(PORTAL)
  const { id } = random.pick(mine)
  await shopOf(app).press(`${new URL(body.url).pathname}/${button}`, {
    subscription: id,
    price: random.pick(BOUGHT),
  })
  return button
}

/** Actions of the operator and the banks. */
async function pressCharge(app: TestApp, person: Person, random: Random): Promise<string> {
  const charges = await listCharges(app, person.client)
  if (charges.length === 0) return 'no charge'
  const button = random.pick(CHARGES)
  const isPart = button === 'refund-part'
  const path = `/sandbox/processor/charges/${random.pick(charges).id}/${isPart ? 'refund' : button}`
  await shopOf(app).press(path, isPart ? { units: '5' } : {})
  return button
}

/** Returns the value of a customer's kept payments until now, in US dollars, including trials. */
async function computePurchases(app: TestApp, client: Client): Promise<number> {
  const { processor } = shopOf(app)
  const keptCharges = new Set(
    (await listCharges(app, client)).filter(({ isKept }) => isKept).map(({ payment }) => payment),
  )
  const lines: Line[] = []
  for (const customer of listCustomers(app, client)) {
    const { data } = await processor.invoices.list({
      customer,
      status: 'paid',
      limit: 100,
      expand: ['data.payments'],
    })
    for (const invoice of data) lines.push(...listLines(app, invoice, keptCharges))
  }
  return computeWorth(lines, app.clock.ms() / 1000)
}

type Line = {
  subscription: string
  tier: string
  amount: number
  start: number
  end: number
  isProration: boolean
  isKept: boolean
}

function listLines(
  app: TestApp,
  { lines, payments, amount_paid }: Stripe.Invoice,
  kept: ReadonlySet<string>,
): Line[] {
  const intents = (payments?.data ?? []).map(({ payment }) => String(payment.payment_intent))
  // Amounts paid by a balance or a coupon needed no charge.
  const isKept = amount_paid === 0 || intents.some((intent) => kept.has(intent))
  return lines.data.map(({ amount, period, pricing, parent }) => {
    const { proration = false, subscription = '' } = parent?.subscription_item_details ?? {}
    const tier = app.config.processor.prices.get(String(pricing?.price_details?.price))?.tier ?? ''
    return {
      subscription: subscription ?? '',
      tier,
      amount,
      ...period,
      isProration: proration,
      isKept,
    }
  })
}

/** Each whole line buys months; prorations of its subscription that end with it add to and take from those. */
function computeWorth(lines: readonly Line[], now: number): number {
  let worth = 0
  for (const whole of lines.filter(({ isProration }) => !isProration)) {
    const { month = 0, trial = 0 } = ALLOWANCES[whole.tier] ?? {}
    if (whole.amount === 0) {
      if (whole.start <= now) worth += trial
      continue
    }
    const changes = lines.filter(
      (one) =>
        one.isProration &&
        one.isKept &&
        one.subscription === whole.subscription &&
        one.end === whole.end,
    )
    for (const [start, end] of listMonths(whole)) {
      if (start > now) break
      let bought = whole.isKept ? month : 0
      for (const { tier, amount, start: from } of changes) {
        const share = Math.max(0, end - Math.max(start, from)) / (end - start)
        bought += Math.sign(amount) * share * (ALLOWANCES[tier]?.month ?? 0)
      }
      worth += Math.max(0, bought)
    }
  }
  return worth
}

/** By the calendar: twelve of a year, one of a month. */
function listMonths({ start, end }: Line): [start: number, end: number][] {
  if (end - start < 60 * 24 * 3_600) return [[start, end]]
  const starts = Array.from({ length: 12 }, (_, months) => {
    const from = new Date(start * 1000)
    const lastDay = new Date(
      Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + months + 1, 0),
    ).getUTCDate()
    const day = Math.min(from.getUTCDate(), lastDay)
    return new Date(from).setUTCMonth(from.getUTCMonth() + months, day) / 1000
  })
  return starts.map((from, index) => [from, starts[index + 1] ?? end])
}

type Charge = { id: string; payment: string; isKept: boolean }

async function listCharges(app: TestApp, client: Client): Promise<Charge[]> {
  const { processor } = shopOf(app)
  const found: Charge[] = []
  for (const customer of listCustomers(app, client)) {
    for (const { id, payment_intent, amount, status, disputed } of (
      await processor.charges.list({ customer, limit: 100 })
    ).data) {
      const refunds = (await processor.refunds.list({ charge: id, limit: 100 })).data
      const back = refunds.reduce((sum, one) => sum + (one.status === 'failed' ? 0 : one.amount), 0)
      const [dispute] = disputed ? (await processor.disputes.list({ charge: id })).data : []
      const isGivenBack =
        dispute?.status === 'won' || (dispute !== undefined && isReinstated(dispute))
      const isKept =
        status === 'succeeded' && back < amount && (dispute === undefined || isGivenBack)
      found.push({ id, payment: String(payment_intent), isKept })
    }
  }
  return found
}

/** The processor calls a dispute lost also when its money was given back later. */
function isReinstated({ balance_transactions: moved }: Stripe.Dispute): boolean {
  return moved.length > 1 && moved.reduce((sum, { amount }) => sum + amount, 0) >= 0
}

function listCustomers(app: TestApp, { userId }: Client): string[] {
  const sandbox = new DatabaseSync(join(app.dataDir, 'sandbox.db'), {
    readOnly: true,
    timeout: 5_000,
  })
  try {
    const rows = sandbox
      .prepare(
        `select id from stripe_objects where object = 'customer' and body ->> '$.metadata.user_id' = ?`,
      )
      .all(userId)
    return rows.map(({ id }) => String(id))
  } finally {
    sandbox.close()
  }
}

async function listSubscriptions(app: TestApp, client: Client): Promise<Stripe.Subscription[]> {
  const { processor } = shopOf(app)
  const lists = listCustomers(app, client).map((customer) =>
    processor.subscriptions.list({ customer, status: 'all' }),
  )
  return (await Promise.all(lists)).flatMap(({ data }) => data)
}
