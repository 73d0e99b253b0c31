/**
 * A user's subscription state as the processor has it now, over all customers that the user ever had there. It is read outside of any
 * transaction, then written under the account's row lock, unless another reading was written since this one began: then it is read anew.
 * So the last that is written is also the last that was read, whatever order events come in.
 */
import type { Stripe } from 'stripe'
import { FREE } from '#catalogue/catalogue.ts'
import { findUser, type User } from '#identity/users.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { type Account, findAccount, lockAccount, snapshotOf, updateAccount } from './accounts.ts'
import { applyState, setStatus } from './apply-state.ts'
import {
  type Customer,
  customersOf,
  markLost,
  putOnRecord,
  readCustomerState,
} from './customers.ts'
import { pricesFor } from './deals.ts'
import type { BillingDeps, SyncWish } from './deps.ts'
import { isDouble, REPLACE_JOB, type ReplaceWish } from './double-payments.ts'
import { findInvoice, isFinal, keepInvoice, WITH_PAYMENTS } from './money/invoices.ts'
import type { Disagreement } from './money/proof.ts'
import { at, idOf } from './object-reader.ts'
import { tellOfSeveral, tellOfUnknownPrice } from './operator-notices.ts'
import { missingPayment, pendingCheckout, readMissingPayment } from './payment-status.ts'
import { requireProcessor, unlessMissing } from './processor.ts'
import { applyReversals, findReversals, type Reversal, withReversal } from './reversals.ts'
import { readSubscription, WITH_CARD } from './subscription-facts.ts'
import {
  duplicatesOf,
  isLive,
  type Prices,
  rankOf,
  type SubscriptionFacts,
  stateOfAll,
  tierOf,
} from './subscription-state.ts'
import { claimTrials } from './trials.ts'

const SUBSCRIPTIONS_MAX = 100
const INVOICES_MAX = 100
/** Each time somebody else's reading was written meanwhile, so all of them together get on. */
const READINGS_MAX = 10

/**
 * Reads the subscriptions of all the user's customers, writes what they amount to, and returns them; null when the processor knows none
 * of the customers.
 * @throws when the processor cannot be asked.
 */
export function syncUser(
  deps: BillingDeps,
  userId: string,
  wish: SyncWish = {},
): Promise<SubscriptionFacts[] | null> {
  return deps.syncs(userId, wish, (wishes) => readAndWrite(deps, userId, wishes))
}

async function readAndWrite(deps: BillingDeps, userId: string, wishes: readonly SyncWish[]) {
  const checkedOut = wishes.flatMap((wish) => wish.checkedOut ?? [])
  for (let readings = 1; readings <= READINGS_MAX; readings++) {
    const version = (await findAccount(deps.db, userId))?.version ?? 0
    const reads = await readCustomers(deps, await customersOf(deps.db, userId))
    const present = reads.every(isUnknown) ? null : subscriptionsIn(reads)
    const isWritten = await transaction(deps.db, async (tx) => {
      const account = await lockAccount(tx, userId)
      if (account.version !== version) return false
      await writeReads(deps, tx, account, { reads, checkedOut })
      for (const { settle } of wishes) if (settle?.isEnough(present)) await settle.write(tx)
      return true
    })
    if (isWritten) return present
  }
  throw new Error('the subscriptions are read by too many at once')
}

/** What a reading now would change, without writing it; null when it would change nothing. */
export async function compareUser(deps: BillingDeps, userId: string): Promise<Disagreement | null> {
  const prices = await pricesFor(deps, deps.db, userId)
  const reads = await readCustomers(deps, await customersOf(deps.db, userId))
  const [account, user] = [await findAccount(deps.db, userId), await findUser(deps.db, userId)]
  if (!account || !user) return null
  const reversals = await findReversals(deps.db, userId)
  const ours = subscriptionsIn(reads).filter((one) => isOurs(one, account, user, prices))
  const state = stateOfAll(
    ours.map((one) => withReversal(one, reversals)),
    prices,
  )
  const { subscription_status: status, processor_tier: tier } = user
  const isRunning = status === 'active' || status === 'past_due'
  const isGone = reads.length > 0 && reads.every((read) => read.state === 'deleted')
  const says = state ?? (isGone && isRunning ? { status: 'cancelled' as const, tier: FREE } : null)
  if (!says) return null
  // A tier that is not known from a price, or that a grace period closed, is ours to say.
  const wanted = says.tier === null || account.is_grace_over ? tier : says.tier
  if (says.status === status && wanted === tier) return null
  return {
    about: 'subscription',
    id: state?.subscription.id ?? account.subscription_id ?? '',
    user_id: userId,
    ours: `${status}, ${tier}`,
    theirs: `${says.status}, ${wanted}`,
  }
}

type CustomerRead = {
  customerId: string
  state: Customer['state']
  subscriptions: SubscriptionFacts[] | null
}

const isUnknown = ({ subscriptions, state }: CustomerRead): boolean =>
  subscriptions === null && state !== 'deleted'
const subscriptionsIn = (reads: CustomerRead[]) =>
  reads.flatMap(({ subscriptions }) => subscriptions ?? [])

/** A deleted customer has nothing running and never will; what it once had makes its user's status `cancelled`, where it is listed. */
function readCustomers(deps: BillingDeps, customers: readonly Customer[]): Promise<CustomerRead[]> {
  return Promise.all(
    customers.map(async ({ customer_id: customerId, state }) => {
      const subscriptions = await readSubscriptions(deps, customerId)
      if (subscriptions !== null || state !== 'present') return { customerId, state, subscriptions }
      return { customerId, state: await readCustomerState(deps, customerId), subscriptions }
    }),
  )
}

/** Null when the processor does not know the customer. A subscription that cannot be read is listed with the status `unreadable`. */
async function readSubscriptions(
  deps: Pick<BillingDeps, 'db' | 'processor' | 'log'>,
  customer: string,
): Promise<SubscriptionFacts[] | null> {
  const { processor, log } = deps
  const { subscriptions } = requireProcessor(processor)
  const found = await unlessMissing(
    subscriptions.list({
      customer,
      status: 'all',
      limit: SUBSCRIPTIONS_MAX,
      expand: [`data.${WITH_CARD}`],
    }),
  )
  if (found === null) return null
  return Promise.all(
    found.data.map(async (one) => {
      const facts = readSubscription(one)
      if (!facts) {
        log.error(
          { customer, subscription: idOf(one) },
          'a subscription at the processor cannot be read',
        )
        return { ...UNREADABLE, id: idOf(one) ?? '' }
      }
      const { missing, ...known } = facts
      if (missing.length > 0)
        log.warn({ subscription: facts.id, missing }, 'a subscription lacks some of its details')
      const unknownInvoices = isLive(facts) ? await readUnknownInvoices(deps, one) : []
      return {
        ...known,
        customerId: customer,
        ...(await readMissingPayment({ processor }, one)),
        unknownInvoices,
      }
    }),
  )
}

const UNREADABLE: Omit<SubscriptionFacts, 'id'> = {
  customerId: null,
  userId: null,
  status: 'unreadable',
  created: 0,
  priceIds: [],
  periodEnd: null,
  cancelAtPeriodEnd: false,
}

/** A subscription's invoices, unless its latest is known here as it will stay: their events may come late, or never. */
async function readUnknownInvoices(
  { db, processor }: Pick<BillingDeps, 'db' | 'processor'>,
  subscription: Stripe.Subscription,
): Promise<Stripe.Invoice[]> {
  const latest = idOf(at(subscription, 'latest_invoice'))
  if (latest === null) return []
  const known = await findInvoice(db, latest)
  if (known !== null && isFinal(known.status)) return []
  const { invoices } = requireProcessor(processor)
  const listed = await invoices.list({
    subscription: subscription.id,
    limit: INVOICES_MAX,
    expand: [`data.${WITH_PAYMENTS}`],
  })
  return listed.data
}

async function writeReads(
  deps: BillingDeps,
  tx: Db,
  account: Account,
  { reads, checkedOut }: { reads: CustomerRead[]; checkedOut: readonly string[] },
): Promise<void> {
  const { user_id: userId, version } = account
  const deleted = reads.filter(({ state }) => state === 'deleted')
  for (const { customerId } of deleted) await markLost(tx, userId, customerId, 'deleted')
  const now = deps.clock.now()
  const user = await findUser(tx, userId)
  // Read all the same: a row without its user would be met without end by whoever reads all that were not.
  if (!user) return updateAccount(tx, userId, { version: version + 1, synced_at: now })

  const prices = await pricesFor(deps, tx, userId)
  const read = subscriptionsIn(reads)
  const refused = await claimTrials(deps, tx, userId, read)
  // A refused trial opens nothing, also while its end is on the way.
  const reversals = await findReversals(tx, userId)
  await applyReversals(deps, tx, { userId, read, reversals })
  const subscriptions = read.map((one) =>
    refused.has(one.id) ? { ...one, status: 'canceled' } : withReversal(one, reversals),
  )
  const ours = subscriptions.filter((one) => isOurs(one, account, user, prices))
  const state = stateOfAll(ours, prices)
  // The one that cannot be read may be the one that is paid: nothing closes for it.
  const isUnsure = read.some(({ status }) => status === UNREADABLE.status)
  if (isUnsure && !(state && isLive(state.subscription))) {
    return updateAccount(tx, userId, { version: version + 1, synced_at: now })
  }
  const missing = missingPayment(ours, state?.subscription)
  await updateAccount(tx, userId, {
    version: version + 1,
    synced_at: now,
    ...missing,
    ...pendingCheckout(ours, state?.subscription),
  })
  for (const invoice of read.flatMap(({ unknownInvoices }) => unknownInvoices ?? []))
    await keepInvoice(deps, tx, invoice)
  const paying = state && isLive(state.subscription) ? state.subscription.customerId : null
  await putOnRecord(tx, account, { paying })
  if (state) {
    await applyState(deps, tx, { ...account, ...missing }, state, { at: now })
    await cancelDuplicates(deps, tx, account, { subscriptions, checkedOut, prices, reversals })
    return
  }
  await noteUnknownPrice(deps, tx, userId, subscriptions, prices)
  if (deleted.length > 0 && !reads.some(isUnknown)) await cancelWithCustomer(deps, tx, userId)
}

/** To one of our plans; or to an old price of ours, by the subscription that the tier of today came from. */
function isOurs(one: SubscriptionFacts, account: Account, user: User, prices: Prices): boolean {
  if (tierOf(one.priceIds, prices) !== null) return true
  if (account.subscription_id === null) return user.processor_tier !== FREE
  return (
    account.subscription_id === one.id &&
    (account.granted_tier !== null || user.processor_tier !== FREE)
  )
}

/** Somebody else's product, or a price of ours that was forgotten in the settings: the operator is told, and the doctor tells on. */
async function noteUnknownPrice(
  deps: Pick<BillingDeps, 'config' | 'jobs' | 'log' | 'clock'>,
  tx: Db,
  userId: string,
  subscriptions: readonly SubscriptionFacts[],
  prices: Prices,
) {
  const foreign = stateOfAll(subscriptions, prices)?.subscription
  if (!foreign) return
  deps.log.warn(
    { userId, subscription: foreign.id, prices: foreign.priceIds },
    'a subscription has a price that no plan of ours has',
  )
  await updateAccount(tx, userId, snapshotOf(foreign))
  if (isLive(foreign)) await tellOfUnknownPrice(deps, tx, userId, foreign)
}

/** What a deleted customer paid for has ended with it, listed or not. */
async function cancelWithCustomer(
  deps: Pick<BillingDeps, 'config' | 'clock'>,
  tx: Db,
  userId: string,
): Promise<void> {
  const status = (await findUser(tx, userId))?.subscription_status
  if (status !== 'active' && status !== 'past_due') return
  await updateAccount(tx, userId, { past_due_at: null })
  await setStatus(deps, tx, userId, { status: 'cancelled', tier: FREE })
}

type Found = {
  subscriptions: readonly SubscriptionFacts[]
  checkedOut: readonly string[]
  prices: Prices
  reversals: ReadonlyMap<string, Reversal>
}

/**
 * A checkout of a subscriber is a change of plan: the older subscription ends, and what is left of it is credited, unless it was open, and to
 * a larger plan, whose allowance may be used. One that nobody checked out was made by hand, and whoever made it is told instead.
 */
async function cancelDuplicates(
  deps: Pick<BillingDeps, 'config' | 'jobs' | 'log' | 'clock'>,
  tx: Db,
  { user_id: userId, subscription_id: known, granted_tier: granted }: Account,
  { subscriptions, checkedOut, prices, reversals }: Found,
): Promise<void> {
  const { config, jobs, log } = deps
  // Also what is paid at an old price, which the catalogue names no more.
  const tierIn = (one: SubscriptionFacts) =>
    tierOf(one.priceIds, prices) ?? (one.id === known ? granted : null)
  const duplicates = duplicatesOf(subscriptions, tierIn)
  if (!duplicates) return
  const { kept, older } = duplicates
  if (kept.userId !== userId && !checkedOut.includes(kept.id)) {
    const ids = [kept, ...older].map(({ id }) => id)
    log.warn(
      { userId, subscriptions: ids },
      'a user pays several subscriptions, and no checkout made the newest',
    )
    await tellOfSeveral(deps, tx, userId, [kept, ...older])
    return
  }
  const rank = (one: SubscriptionFacts) => rankOf(config, tierIn(one))
  for (const one of older) {
    const key = `${REPLACE_JOB}:${one.id}:`
    // What was found first holds: once another counts, nothing tells that this one was open.
    const wasUsed = (await jobs.findPayloads<ReplaceWish>(tx, key)).some(
      ({ isCredited }) => isCredited === false,
    )
    const isCredited =
      !wasUsed && !reversals.has(one.id) && (one.id !== known || rank(kept) >= rank(one))
    const wish: ReplaceWish = {
      userId,
      subscriptionId: one.id,
      insteadOf: kept.id,
      isCredited,
      isDouble: !reversals.has(one.id) && isDouble(one, kept),
    }
    // A wish that waits still may be void by now: it holds only while what it was made for runs.
    await jobs.enqueue(tx, REPLACE_JOB, wish, { key: key + kept.id })
  }
}
