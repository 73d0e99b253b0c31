// The state of each user by the sandbox's processor, computed by code that shares nothing with the
// service, and the differences from the service.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import type { Stripe } from 'stripe'
import type { TestApp } from '../app.ts'

/** Returns the differences, a line each; empty when the service agrees with the processor. */
export async function differences(app: TestApp, name: string): Promise<string[]> {
  const sandbox = new DatabaseSync(join(app.dataDir, 'sandbox.db'))
  const all = <T>(object: string): T[] =>
    sandbox
      .prepare('select body from stripe_objects where object = ? order by seq')
      .all(object)
      .map(({ body }) => JSON.parse(String(body)) as T)
  const world: World = {
    subscriptions: all('subscription'),
    charges: all<Stripe.Charge>('charge').filter(({ status }) => status === 'succeeded'),
    checkouts: all('checkout.session'),
    refunds: all('refund'),
    disputes: all('dispute'),
    invoices: all('invoice'),
    fingerprints: new Map(
      all<Stripe.PaymentMethod>('payment_method').map((one) => [
        one.id,
        (one.card ?? one.us_bank_account)?.fingerprint ?? undefined,
      ]),
    ),
  }
  sandbox.close()
  const { db } = app.platform
  const users = await sql<OurUser>`
    select id, email, subscription_status as status, subscription_tier as tier, processor_customer_id as customer
    from users where email like ${`${name}-%`} order by email`.execute(db)
  const wrong: string[] = []
  for (const user of users.rows) {
    for (const problems of [
      ...ofSubscriptions(app, world, user),
      ...(await ofMoney(app, world, user)),
    ]) {
      wrong.push(`${user.email}: ${problems}`)
    }
  }
  const known = new Set(users.rows.map(({ id }) => id))
  for (const { id, status, metadata } of world.subscriptions) {
    const isOver = status === 'canceled' || status === 'incomplete_expired'
    if (!known.has(metadata.user_id ?? '') && !isOver)
      wrong.push(`subscription ${id} of nobody any more is ${status}`)
  }
  const dead = await app.platform.jobs.dead()
  return [...wrong, ...dead.map(({ kind, last_error }) => `a dead job: ${kind}: ${last_error}`)]
}

/** Counts each kind of event, to detect a run in which too little happened. */
export async function census(app: TestApp): Promise<Record<string, number>> {
  const sandbox = new DatabaseSync(join(app.dataDir, 'sandbox.db'))
  const count = (object: string, where = '1'): number =>
    Number(
      sandbox
        .prepare(`select count(*) as found from stripe_objects where object = ? and (${where})`)
        .get(object)?.found,
    )
  const countEvents = (type: string, where = '1') =>
    count('event', `body ->> '$.type' = '${type}' and ${where}`)
  const was = (status: string) =>
    countEvents('customer.subscription.updated', `body ->> '$.data.object.status' = '${status}'`)
  const { rows: users } = await sql<{ id: string }>`select id from users`.execute(app.platform.db)
  const here = new Set(users.map(({ id }) => id))
  const payers = sandbox
    .prepare(
      `select distinct body ->> '$.metadata.user_id' as id from stripe_objects where object in ('checkout.session', 'subscription')`,
    )
    .all()
    .map(({ id }) => String(id))
  const found = {
    subscriptions: count('subscription'),
    trials: count('subscription', `body ->> '$.trial_end' is not null`),
    'with a code': count(
      'checkout.session',
      `body ->> '$.status' = 'complete' and body ->> '$.discounts[0]' is not null`,
    ),
    'for nothing': count(
      'checkout.session',
      `body ->> '$.payment_status' = 'no_payment_required' and body ->> '$.mode' = 'payment'`,
    ),
    'plans changed': countEvents(
      'customer.subscription.updated',
      `body ->> '$.data.previous_attributes.items' is not null`,
    ),
    paused: countEvents('customer.subscription.paused'),
    'changed later': count('subscription', `body ->> '$.metadata.paid_price' <> ''`),
    resumed: countEvents('customer.subscription.resumed'),
    'past due': was('past_due'),
    unpaid: was('unpaid'),
    ended: countEvents('customer.subscription.deleted'),
    purchases: count(
      'checkout.session',
      `body ->> '$.mode' = 'payment' and body ->> '$.status' = 'complete'`,
    ),
    'debits paid': countEvents('checkout.session.async_payment_succeeded'),
    'debits refused': countEvents('checkout.session.async_payment_failed'),
    refunds: count('refund'),
    'in part': countEvents('charge.refunded', `body ->> '$.data.object.refunded' = 0`),
    'come back': count('refund', `body ->> '$.status' = 'failed'`),
    disputes: count('dispute'),
    won: count('dispute', `body ->> '$.status' = 'won'`),
    lost: count('dispute', `body ->> '$.status' = 'lost'`),
    reinstated: count(
      'dispute',
      `body ->> '$.status' = 'lost' and body ->> '$.balance_transactions[1]' is not null`,
    ),
    'customers deleted': countEvents('customer.deleted'),
    'accounts deleted': payers.filter((id) => !here.has(id)).length,
  }
  sandbox.close()
  return found
}

type OurUser = { id: string; email: string; status: string; tier: string; customer: string | null }
type World = {
  subscriptions: Stripe.Subscription[]
  charges: Stripe.Charge[]
  checkouts: Stripe.Checkout.Session[]
  refunds: Stripe.Refund[]
  disputes: Stripe.Dispute[]
  invoices: Stripe.Invoice[]
  fingerprints: Map<string, string | undefined>
}

/**
 * The clock never moves as far as a grace period lasts: a failed payment leaves the plan open,
 * except the first after a trial.
 */
const MEANT: Record<string, { status: string; isOpen: boolean }> = {
  active: { status: 'active', isOpen: true },
  trialing: { status: 'active', isOpen: true },
  past_due: { status: 'past_due', isOpen: true },
  unpaid: { status: 'past_due', isOpen: false },
  paused: { status: 'past_due', isOpen: false },
  canceled: { status: 'cancelled', isOpen: false },
  incomplete_expired: { status: 'cancelled', isOpen: false },
}
const BEST_FIRST = [
  ['active', 'trialing'],
  ['past_due'],
  ['unpaid', 'paused'],
  ['canceled', 'incomplete_expired'],
]

/**
 * Voided invoices mean paused, even when the processor reports another status. A customer's pause
 * waits for the end of the paid period; a dispute closes the plan at once.
 */
function describeStatus({
  status,
  pause_collection: pause,
  metadata,
  items,
}: Stripe.Subscription): string {
  if (pause?.behavior !== 'void' || !['active', 'trialing', 'past_due'].includes(status))
    return status
  const isDisputed = Boolean(metadata.suspended_for_dispute)
  const isAhead =
    status === 'active' &&
    !isDisputed &&
    (items.data[0]?.current_period_end ?? 0) <= Number(metadata.paused_from || 0)
  return isAhead ? 'active' : 'paused'
}

/**
 * A smaller plan that is to come has the price already: until then the paid one counts, as long as
 * the period that it was paid for lasts.
 */
function readPriceId({ items, metadata }: Stripe.Subscription): string | undefined {
  const [item] = items.data
  const isPaid = item !== undefined && item.current_period_end <= Number(metadata.paid_until || 0)
  return isPaid ? metadata.paid_price : item?.price.id
}

function ofSubscriptions(app: TestApp, world: World, user: OurUser): string[] {
  const mine = world.subscriptions.filter(({ metadata }) => metadata.user_id === user.id)
  // One whose invoices are void is not paid.
  const active = mine.filter((one) => ['active', 'trialing'].includes(describeStatus(one)))
  const best = BEST_FIRST.map((words) => mine.filter((one) => words.includes(describeStatus(one))))
    .find((some) => some.length > 0)
    // Within one second any of them is the newest.
    ?.filter(({ created }, _index, some) => created === Math.max(...some.map((one) => one.created)))
  const expected = (best ?? [null]).map((one) => {
    const meaning = one ? MEANT[describeStatus(one)] : { status: 'free', isOpen: false }
    const hasGrace = one?.status !== 'past_due' || one.trial_end === null || hasPaid(world, mine)
    const price = one ? readPriceId(one) : ''
    const tier =
      meaning?.isOpen && hasGrace ? app.config.processor.prices.get(price ?? '')?.tier : 'free'
    return `${meaning?.status} ${tier}`
  })
  const has = `${user.status} ${user.tier}`
  // One trial for each person, and each card.
  const trials = world.subscriptions.filter(
    ({ status, metadata }) => status === 'trialing' && metadata.first_trial,
  )
  const cards = trials.map(({ default_payment_method: method }) =>
    world.fingerprints.get(String(method)),
  )
  const shared = trials.filter(
    (_one, index) => cards[index] !== undefined && cards.indexOf(cards[index]) !== index,
  )
  return [
    ...shared
      .filter(({ metadata }) => metadata.user_id === user.id)
      .map(({ id }) => `has trial ${id} on a card that had one`),
    ...(expected.includes(has)
      ? []
      : [`is ${has} instead of ${expected.join(' or ')} (${mine.map(describeStatus)})`]),
    ...(active.length > 1 ? [`pays ${active.length} subscriptions`] : []),
  ]
}

/** A charge for a subscription that its payer's bank has neither got back nor claimed. */
function hasPaid(
  { charges, refunds, disputes }: World,
  mine: readonly Stripe.Subscription[],
): boolean {
  const customers = mine.map(({ customer }) => customer)
  return charges.some(({ id, customer, amount, metadata }) => {
    if (metadata.tier !== undefined || customer === null || !customers.includes(customer))
      return false
    const back = refunds.filter(({ charge, status }) => charge === id && status !== 'failed')
    const dispute = disputes.find(({ charge }) => charge === id)
    const word = dispute === undefined ? null : DISPUTE_WORDS[describeDispute(dispute)]
    return (
      back.reduce((sum, one) => sum + one.amount, 0) < amount && (word === null || word === 'won')
    )
  })
}

async function ofMoney(app: TestApp, world: World, user: OurUser): Promise<string[]> {
  const { db } = app.platform
  const customers = world.subscriptions
    .filter(({ metadata }) => metadata.user_id === user.id)
    .map(({ customer }) => customer)
  const isMine = ({ customer, metadata }: Pick<Stripe.Charge, 'customer' | 'metadata'>) =>
    metadata.user_id === user.id || (customer !== null && customers.includes(customer))
  const charges = world.charges.filter(isMine)
  const refunds = world.refunds.filter(({ charge }) => charges.some(({ id }) => id === charge))
  const disputes = world.disputes.filter(({ charge }) => charges.some(({ id }) => id === charge))
  // A draft is not a bill yet: neither side counts it.
  const invoices = world.invoices.filter(
    ({ customer, status }) => customers.includes(customer ?? '') && status !== 'draft',
  )

  const payments = charges.map((charge) => {
    const back = refunds.filter((one) => one.charge === charge.id && one.status !== 'failed')
    const dispute = disputes.find((one) => one.charge === charge.id)
    const word = dispute === undefined ? null : DISPUTE_WORDS[describeDispute(dispute)]
    const refunded = back.reduce((sum, { amount }) => sum + amount, 0)
    return { charge, refunded, word, isTaken: refunded >= charge.amount || word === 'lost' }
  })
  const free = world.checkouts.filter(
    ({ mode, metadata, payment_status: status }) =>
      mode === 'payment' && metadata?.user_id === user.id && status === 'no_payment_required',
  )
  const bought = payments.filter(({ charge }) => charge.metadata.user_id === user.id)

  const own = {
    purchases:
      await sql<Row>`select payment_ref as id, tier, status, amount_cents from purchases where user_id = ${user.id}`.execute(
        db,
      ),
    payments:
      await sql<Row>`select id, kind, amount_cents, refunded_cents, dispute from payments where user_id = ${user.id} and paid_at is not null`.execute(
        db,
      ),
    refunds:
      await sql<Row>`select r.id, r.status, r.amount_cents from refunds r join payments p on p.id = r.payment_id where p.user_id = ${user.id}`.execute(
        db,
      ),
    disputes:
      await sql<Row>`select d.id, d.status from disputes d join payments p on p.id = d.payment_id where p.user_id = ${user.id}`.execute(
        db,
      ),
    invoices:
      await sql<Row>`select id, status, paid_cents from invoices where user_id = ${user.id} and status <> 'draft'`.execute(
        db,
      ),
  }
  return [
    ...compared('purchases', own.purchases.rows, [
      ...bought.map(({ charge, isTaken, word }) => ({
        id: charge.payment_intent,
        tier: charge.metadata.tier,
        status: isTaken ? 'refunded' : word === 'open' ? 'disputed' : 'completed',
        amount_cents: charge.amount,
      })),
      ...free.map(({ id, metadata }) => ({
        id,
        tier: metadata?.tier,
        status: 'completed',
        amount_cents: 0,
      })),
    ]),
    ...compared('payments', own.payments.rows, [
      ...payments.map(({ charge, refunded, word }) => ({
        id: charge.payment_intent,
        kind: charge.metadata.tier === undefined ? 'subscription' : 'purchase',
        amount_cents: charge.amount,
        refunded_cents: refunded,
        dispute: word,
      })),
      ...free.map(({ id }) => ({
        id,
        kind: 'purchase',
        amount_cents: 0,
        refunded_cents: 0,
        dispute: null,
      })),
    ]),
    ...compared(
      'refunds',
      own.refunds.rows,
      refunds.map(({ id, status, amount }) => ({ id, status, amount_cents: amount })),
    ),
    ...compared(
      'disputes',
      own.disputes.rows,
      disputes.map((dispute) => ({ id: dispute.id, status: describeDispute(dispute) })),
    ),
    ...compared(
      'invoices',
      own.invoices.rows,
      invoices.map(({ id, status, amount_paid }) => ({ id, status, paid_cents: amount_paid })),
    ),
  ]
}

/**
 * The processor reports a dispute that was won after all as lost, as before; only its balance
 * movements show the difference.
 */
function describeDispute({ status, balance_transactions: moved }: Stripe.Dispute): string {
  const isGivenBack = moved.length > 1 && moved.reduce((sum, { amount }) => sum + amount, 0) >= 0
  return status === 'lost' && isGivenBack ? 'reinstated' : status
}

const DISPUTE_WORDS: Record<string, string> = {
  needs_response: 'open',
  won: 'won',
  lost: 'lost',
  reinstated: 'won',
}

type Row = Record<string, unknown>

/** PostgreSQL gives large integers as text. */
function compared(what: string, ours: readonly Row[], theirs: readonly Row[]): string[] {
  const describeRows = (rows: readonly Row[]) =>
    rows.map((row) => JSON.stringify(Object.values(row).map(String))).sort()
  const [here, there] = [describeRows(ours), describeRows(theirs)]
  return [
    ...here.filter((row) => !there.includes(row)).map((row) => `${what}: only here ${row}`),
    ...there.filter((row) => !here.includes(row)).map((row) => `${what}: only there ${row}`),
    ...(here.length > new Set(here).size ? [`${what}: twice here`] : []),
  ]
}
