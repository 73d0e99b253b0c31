// A year of customers who try to spend more on models than they paid for. After each call their
// cost is compared with what their payments bought, computed from the processor's objects by code
// that shares nothing with the service's own. Each UTC month adds the free plan's allowance, and no
// month has more than that on the free plan.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import type { Stripe } from 'stripe'
import { DAY_MS } from '#platform/clock.ts'
import type { Client, TestApp } from '../app.ts'
import { ASKS_ONCE, createShop, FAILS_AT_RENEWAL, GOOD_CARD, PRICES, SLOW_DEBIT } from '../shop.ts'
import { spend } from '../spend.ts'
import { createRandom, type Random } from './random.ts'
import { call, createPerson, type Person } from './steps.ts'
import { FREE_USD, separateCards } from './world.ts'

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
/** Calls of so many dollars are tried one after the other; the last ones fit the free plan. */
const CALLS = [80, 60, 20, 20, 10, 5, 2, 1, 0.5, 0.2, 0.06, 0.06]
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

/** Seeds of one block share a clock, so a thief's history depends on its seed and not on COUNT. */
export const THIEVES_A_BLOCK = 25

/** Plays one thief for each seed. `seeds` lie in one block. */
export async function playThieves(
  app: TestApp,
  { seeds, rounds }: { seeds: readonly number[]; rounds: number },
): Promise<Thieves> {
  separateCards(app)
  const books = new ProcessorBooks(app)
  const thieves: Thief[] = []
  for (const seed of seeds) {
    // The length of an address decides whether its cards are shared: see separateCards.
    const person = await createPerson(app, `thief-${seed}-${'x'.repeat(1 + (seed % 4))}`)
    const sinceMs = app.clock.ms()
    thieves.push({ seed, person, random: createRandom(seed), sinceMs, costUsd: 0, paidUsd: 0 })
  }
  const result: Thieves = { wrong: [], bought: 0, spent: 0, calls: 0, refused: 0 }
  const clock = createRandom(Math.floor((seeds[0] ?? 0) / THIEVES_A_BLOCK) ^ 0xc10c)
  for (let round = 0; round < rounds; round++) {
    for (const thief of thieves) await playRound(app, books, thief, result)
    // Hours or weeks: renewals, retries and ends of grace happen on the way.
    const days = clock.chance(0.4) ? clock.next() * 3 : 3 + clock.next() * 35
    await pass(app, days * DAY_MS)
  }
  for (const { person } of thieves) result.bought += books.computeBought(person.client)
  books.close()
  return result
}

type Thief = {
  seed: number
  person: Person
  random: Random
  sinceMs: number
  costUsd: number
  paidUsd: number
}

async function playRound(
  app: TestApp,
  books: ProcessorBooks,
  thief: Thief,
  result: Thieves,
): Promise<void> {
  const { person, random } = thief
  const actions: string[] = []
  for (let left = 1 + Math.floor(random.next() * 3); left > 0; left--) {
    actions.push(await act(app, books, person, random))
    await app.settle()
    if (left === 1 || random.chance(0.5)) await callModels(app, books, thief, actions, result)
  }
}

async function callModels(
  app: TestApp,
  books: ProcessorBooks,
  thief: Thief,
  actions: readonly string[],
  result: Thieves,
): Promise<void> {
  const { client } = thief.person
  const costBefore = thief.costUsd
  for (const usd of thief.random.chance(0.7) ? CALLS : [thief.random.next() * 30]) {
    const isAdmitted = await spend(app, client.userId, usd)
    result[isAdmitted ? 'calls' : 'refused']++
    if (isAdmitted) thief.costUsd += usd
  }
  if (thief.costUsd === costBefore) return
  result.spent += thief.costUsd - costBefore
  const months = countMonths(thief.sinceMs, app.clock.ms())
  const given = months * FREE_USD
  const bought = books.computeBought(client)
  const free = await sumFreeMonths(app, client.userId)
  const paidUsd = thief.costUsd - free.reduce((sum, usd) => sum + usd, 0)
  // A refund takes back what was bought, and may leave less than was spent. Further calls may only
  // use the free plan.
  const isOverspent =
    paidUsd > thief.paidUsd + EPSILON &&
    (paidUsd > bought + EPSILON || thief.costUsd > bought + given + EPSILON)
  thief.paidUsd = paidUsd
  if (isOverspent || free.length > months || free.some((usd) => usd > FREE_USD + EPSILON))
    result.wrong.push(
      `seed ${thief.seed}: cost ${thief.costUsd} of ${bought} bought and ${given} free (${free.join(' + ')}) after ${actions.join(', ')}`,
    )
}

/** Counts the UTC months from one time to another, both included. */
function countMonths(fromMs: number, toMs: number): number {
  const [from, to] = [new Date(fromMs), new Date(toMs)]
  const years = to.getUTCFullYear() - from.getUTCFullYear()
  return 12 * years + to.getUTCMonth() - from.getUTCMonth() + 1
}

/** Returns the dollars that the user's calls on the free plan cost in each UTC month. */
async function sumFreeMonths({ platform: { db } }: TestApp, userId: string): Promise<number[]> {
  const { rows } = await sql<{ nanos: number }>`
    select sum(cost_nanos) as nanos from usage_days
    where user_id = ${userId} and tier = 'free' group by substr(day, 1, 7)`.execute(db)
  return rows.map(({ nanos }) => Number(nanos) / 1e9)
}

/** Advances the processor's clock. Every event that results is delivered. */
async function pass(app: TestApp, ms: number): Promise<void> {
  const { status, text } = await app.post('/sandbox/processor/clock', {
    to: new Date(app.clock.ms() + ms),
  })
  if (status !== 200) throw new Error(`the clock: ${status} ${text}`)
  await app.settle()
  await app.service.billing.sync()
  await app.settle()
}

async function act(
  app: TestApp,
  books: ProcessorBooks,
  person: Person,
  random: Random,
): Promise<string> {
  const kind = random.next()
  if (kind < 0.3) return subscribe(app, person, random)
  if (kind < 0.55) return changePlan(app, person, random)
  if (kind < 0.63) return post(app, person, '/api/billing/pause')
  if (kind < 0.73) return post(app, person, '/api/billing/resume')
  if (kind < 0.87) return pressPortal(app, books, person, random)
  return pressCharge(app, books, person, random)
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
  await createShop(app).pay(body.url, random.pick(CARDS), { email: person.client.email })
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

async function pressPortal(
  app: TestApp,
  books: ProcessorBooks,
  person: Person,
  random: Random,
): Promise<string> {
  const { body, status } = await call(app, person, 'POST', '/api/billing/create-portal-session')
  if (status !== 200) return `portal ${status}`
  const mine = books.findLiveSubscriptions(person.client)
  if (mine.length === 0) return 'portal'
  const button = random.pick(PORTAL)
  const { id } = random.pick(mine)
  await createShop(app).press(`${new URL(body.url).pathname}/${button}`, {
    subscription: id,
    price: random.pick(BOUGHT),
  })
  return button
}

/** Actions of the operator and the banks. */
async function pressCharge(
  app: TestApp,
  books: ProcessorBooks,
  person: Person,
  random: Random,
): Promise<string> {
  const charges = books.findCharges(person.client)
  if (charges.length === 0) return 'no charge'
  const button = random.pick(CHARGES)
  const isPart = button === 'refund-part'
  const path = `/sandbox/processor/charges/${random.pick(charges).id}/${isPart ? 'refund' : button}`
  await createShop(app).press(path, isPart ? { units: '5' } : {})
  return button
}

/** Reads the processor's objects from its file, so that a check costs no calls. */
class ProcessorBooks {
  readonly #db: DatabaseSync
  readonly #prices: TestApp['config']['processor']['prices']
  readonly #clock: TestApp['clock']

  constructor(app: TestApp) {
    this.#db = new DatabaseSync(join(app.dataDir, 'sandbox.db'), { readOnly: true, timeout: 5_000 })
    this.#prices = app.config.processor.prices
    this.#clock = app.clock
  }

  /** Returns what a customer's kept payments and trials have bought until now, in US dollars. */
  computeBought(client: Client): number {
    const keptPayments = new Set(
      this.findCharges(client).flatMap(({ isKept, payment }) => (isKept ? payment : [])),
    )
    const lines = this.#findOwned<Stripe.Invoice>('invoice', client)
      .filter(({ status }) => status === 'paid')
      .flatMap((invoice) => {
        const payments = this.#find<Stripe.InvoicePayment>('invoice_payment', invoice.id)
        const intents = payments.map(({ payment }) => String(payment.payment_intent))
        // An invoice that a balance or a coupon paid has no charge.
        const isKept =
          invoice.amount_paid === 0 || intents.some((intent) => keptPayments.has(intent))
        return readLines(invoice, this.#prices, isKept)
      })
    return computeWorth(lines, this.#clock.ms() / 1000)
  }

  findCharges(client: Client): Charge[] {
    return this.#findOwned<Stripe.Charge>('charge', client).map((charge) => {
      const refunds = this.#find<Stripe.Refund>('refund', charge.id)
      const back = refunds.reduce((sum, one) => sum + (one.status === 'failed' ? 0 : one.amount), 0)
      const [dispute] = this.#find<Stripe.Dispute>('dispute', charge.id)
      const isGivenBack = dispute?.status === 'won' || (dispute && isReinstated(dispute))
      const isKept =
        charge.status === 'succeeded' && back < charge.amount && (!dispute || isGivenBack === true)
      return { id: charge.id, payment: String(charge.payment_intent), isKept }
    })
  }

  findLiveSubscriptions(client: Client): Stripe.Subscription[] {
    return this.#findOwned<Stripe.Subscription>('subscription', client).filter(
      ({ status }) => status !== 'canceled' && status !== 'incomplete_expired',
    )
  }

  close(): void {
    this.#db.close()
  }

  #findOwned<T>(object: string, { userId }: Client): T[] {
    return this.#db
      .prepare(
        `select id from stripe_objects
         where object = 'customer' and body ->> '$.metadata.user_id' = ? order by seq`,
      )
      .all(userId)
      .flatMap(({ id }) => this.#find<T>(object, String(id)))
  }

  #find<T>(object: string, owner: string): T[] {
    return this.#db
      .prepare('select body from stripe_objects where object = ? and owner = ? order by seq')
      .all(object, owner)
      .map(({ body }) => JSON.parse(String(body)) as T)
  }
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

function readLines(
  { lines }: Stripe.Invoice,
  prices: TestApp['config']['processor']['prices'],
  isKept: boolean,
): Line[] {
  return lines.data.map(({ amount, period, pricing, parent }) => {
    const { proration = false, subscription = '' } = parent?.subscription_item_details ?? {}
    return {
      subscription: subscription ?? '',
      tier: prices.get(String(pricing?.price_details?.price))?.tier ?? '',
      amount,
      start: period.start,
      end: period.end,
      isProration: proration,
      isKept,
    }
  })
}

/**
 * Each whole line buys months; prorations of its subscription that end with it add to and take from
 * those.
 */
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
    for (const [start, end] of splitMonths(whole)) {
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
function splitMonths({ start, end }: Line): [start: number, end: number][] {
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

/** The processor calls a dispute lost also when its money was given back later. */
function isReinstated({ balance_transactions: moved }: Stripe.Dispute): boolean {
  return moved.length > 1 && moved.reduce((sum, { amount }) => sum + amount, 0) >= 0
}
