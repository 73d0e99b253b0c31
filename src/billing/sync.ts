/**
 * Reads a user's subscriptions over all their customers at the processor. Reads happen outside of
 * transactions; the result is written under the account's row lock, unless another read was written
 * meanwhile: then it restarts. So the last write is also the last read, regardless of the order of
 * events.
 */
import type { Stripe } from 'stripe'
import { FREE } from '#catalogue/catalogue.ts'
import { findUser, type User } from '#identity/users.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { type Account, buildSnapshot, findAccount, lockAccount, updateAccount } from './accounts.ts'
import { applyState, setStatus } from './apply-state.ts'
import {
  type Customer,
  chooseCustomer,
  listCustomers,
  markLost,
  readCustomerState,
} from './customers.ts'
import { readPrices } from './deals.ts'
import type { BillingDeps, SyncRequest } from './deps.ts'
import { isDouble, REPLACE_JOB, type ReplaceRequest } from './double-payments.ts'
import { findInvoice, isFinal, saveInvoice, WITH_PAYMENTS } from './money/invoices.ts'
import type { Disagreement } from './money/proof.ts'
import { readField, readId } from './object-reader.ts'
import { reportSeveralSubscriptions, reportUnknownPrice } from './operator-notices.ts'
import {
  describeMissingPayment,
  describePendingCheckout,
  readMissingPayment,
} from './payment-status.ts'
import { nullIfMissing, requireProcessor } from './processor.ts'
import { applyReversals, findReversals, type Reversal, withReversal } from './reversals.ts'
import { readSubscription, WITH_CARD } from './subscription-facts.ts'
import {
  combineSubscriptions,
  findDuplicates,
  findTier,
  isLive,
  type Prices,
  rankTier,
  type SubscriptionFacts,
} from './subscription-state.ts'
import { claimTrials } from './trials.ts'

const SUBSCRIPTIONS_MAX = 100
const INVOICES_MAX = 100
/** Every retry means that another read was written, so concurrent reads make progress. */
const READINGS_MAX = 10

/**
 * Reads the subscriptions of all the user's customers, writes the resulting state and returns them.
 * Returns null when the processor lacks all the customers.
 * @throws when the processor cannot be reached.
 */
export function syncUser(
  deps: BillingDeps,
  userId: string,
  request: SyncRequest = {},
): Promise<SubscriptionFacts[] | null> {
  return deps.syncs(userId, request, (requests) => readAndWrite(deps, userId, requests))
}

async function readAndWrite(deps: BillingDeps, userId: string, requests: readonly SyncRequest[]) {
  const checkedOut = requests.flatMap((request) => request.checkoutSubscriptionId ?? [])
  for (let readings = 1; readings <= READINGS_MAX; readings++) {
    const version = (await findAccount(deps.db, userId))?.version ?? 0
    const reads = await readCustomers(deps, await listCustomers(deps.db, userId))
    const present = reads.every(isUnknown) ? null : listSubscriptions(reads)
    const isWritten = await transaction(deps.db, async (tx) => {
      const account = await lockAccount(tx, userId)
      if (account.version !== version) return false
      await writeReads(deps, tx, account, { reads, checkedOut })
      for (const { settle } of requests) if (settle?.isEnough(present)) await settle.write(tx)
      return true
    })
    if (isWritten) return present
  }
  throw new Error('too many concurrent reads of the subscriptions')
}

/** Returns the change that a read would make now, without writing it; null for no change. */
export async function compareUser(deps: BillingDeps, userId: string): Promise<Disagreement | null> {
  const prices = await readPrices(deps, deps.db, userId)
  const reads = await readCustomers(deps, await listCustomers(deps.db, userId))
  const [account, user] = [await findAccount(deps.db, userId), await findUser(deps.db, userId)]
  if (!account || !user) return null
  const reversals = await findReversals(deps.db, userId)
  const ours = listSubscriptions(reads).filter((subscription) =>
    isOurs(subscription, account, user, prices),
  )
  const state = combineSubscriptions(
    ours.map((subscription) => withReversal(subscription, reversals)),
    prices,
  )
  const { subscription_status: status, processor_tier: tier } = user
  const isRunning = status === 'active' || status === 'past_due'
  const isGone = reads.length > 0 && reads.every((read) => read.state === 'deleted')
  const theirs =
    state ?? (isGone && isRunning ? { status: 'cancelled' as const, tier: FREE } : null)
  if (!theirs) return null
  // The saved tier wins when no price determines it, or after a grace period closed it.
  const expectedTier = theirs.tier === null || account.is_grace_over ? tier : theirs.tier
  if (theirs.status === status && expectedTier === tier) return null
  return {
    about: 'subscription',
    id: state?.subscription.id ?? account.subscription_id ?? '',
    user_id: userId,
    ours: `${status}, ${tier}`,
    theirs: `${theirs.status}, ${expectedTier}`,
  }
}

type CustomerRead = {
  customerId: string
  state: Customer['state']
  subscriptions: SubscriptionFacts[] | null
}

const isUnknown = ({ subscriptions, state }: CustomerRead): boolean =>
  subscriptions === null && state !== 'deleted'
const listSubscriptions = (reads: CustomerRead[]) =>
  reads.flatMap(({ subscriptions }) => subscriptions ?? [])

/**
 * A deleted customer never has a running subscription again; a listed past one makes its user's
 * status `cancelled`.
 */
function readCustomers(deps: BillingDeps, customers: readonly Customer[]): Promise<CustomerRead[]> {
  return Promise.all(
    customers.map(async ({ customer_id: customerId, state }) => {
      const subscriptions = await readSubscriptions(deps, customerId)
      if (subscriptions !== null || state !== 'present') return { customerId, state, subscriptions }
      return { customerId, state: await readCustomerState(deps, customerId), subscriptions }
    }),
  )
}

/**
 * Returns null when the processor does not have the customer. A subscription that cannot be read is
 * listed with the status `unreadable`.
 */
async function readSubscriptions(
  deps: Pick<BillingDeps, 'db' | 'processor' | 'log'>,
  customer: string,
): Promise<SubscriptionFacts[] | null> {
  const { processor, log } = deps
  const { subscriptions } = requireProcessor(processor)
  const found = await nullIfMissing(
    subscriptions.list({
      customer,
      status: 'all',
      limit: SUBSCRIPTIONS_MAX,
      expand: [`data.${WITH_CARD}`],
    }),
  )
  if (found === null) return null
  return Promise.all(
    found.data.map(async (subscription) => {
      const facts = readSubscription(subscription)
      if (!facts) {
        log.error(
          { customer, subscription: readId(subscription) },
          'a subscription at the processor cannot be read',
        )
        return { ...UNREADABLE, id: readId(subscription) ?? '' }
      }
      const { missing, ...known } = facts
      if (missing.length > 0)
        log.warn({ subscription: facts.id, missing }, 'a subscription lacks some details')
      const unknownInvoices = isLive(facts) ? await readUnknownInvoices(deps, subscription) : []
      return {
        ...known,
        customerId: customer,
        ...(await readMissingPayment({ processor }, subscription)),
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

/**
 * Reads a subscription's invoices unless its latest one is saved in a final state: their events may
 * be late or lost.
 */
async function readUnknownInvoices(
  { db, processor }: Pick<BillingDeps, 'db' | 'processor'>,
  subscription: Stripe.Subscription,
): Promise<Stripe.Invoice[]> {
  const latest = readId(readField(subscription, 'latest_invoice'))
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
  // Marks the row as read even without its user, since a full reconciliation would otherwise never
  // end.
  if (!user) return updateAccount(tx, userId, { version: version + 1, synced_at: now })

  const prices = await readPrices(deps, tx, userId)
  const read = listSubscriptions(reads)
  const refused = await claimTrials(deps, tx, userId, read)
  // A refused trial opens nothing, also before its cancellation is complete.
  const reversals = await findReversals(tx, userId)
  await applyReversals(deps, tx, { userId, read, reversals })
  const subscriptions = read.map((subscription) =>
    refused.has(subscription.id)
      ? { ...subscription, status: 'canceled' }
      : withReversal(subscription, reversals),
  )
  const ours = subscriptions.filter((subscription) => isOurs(subscription, account, user, prices))
  const state = combineSubscriptions(ours, prices)
  // The unreadable subscription may be the paid one, so nothing closes because of it.
  const isUnsure = read.some(({ status }) => status === UNREADABLE.status)
  if (isUnsure && !(state && isLive(state.subscription))) {
    return updateAccount(tx, userId, { version: version + 1, synced_at: now })
  }
  const missing = describeMissingPayment(ours, state?.subscription)
  await updateAccount(tx, userId, {
    version: version + 1,
    synced_at: now,
    ...missing,
    ...describePendingCheckout(ours, state?.subscription),
  })
  for (const invoice of read.flatMap(({ unknownInvoices }) => unknownInvoices ?? []))
    await saveInvoice(deps, tx, invoice)
  const paying = state && isLive(state.subscription) ? state.subscription.customerId : null
  await chooseCustomer(tx, account, { paying })
  if (state) {
    await applyState(deps, tx, { ...account, ...missing }, state, { at: now })
    await cancelDuplicates(deps, tx, account, { subscriptions, checkedOut, prices, reversals })
    return
  }
  await recordUnknownPrice(deps, tx, userId, subscriptions, prices)
  if (deleted.length > 0 && !reads.some(isUnknown)) await cancelWithCustomer(deps, tx, userId)
}

/**
 * Returns true for a subscription to one of our plans, or to an old price if the present tier came
 * from it.
 */
function isOurs(
  subscription: SubscriptionFacts,
  account: Account,
  user: User,
  prices: Prices,
): boolean {
  if (findTier(subscription.priceIds, prices) !== null) return true
  if (account.subscription_id === null) return user.processor_tier !== FREE
  return (
    account.subscription_id === subscription.id &&
    (account.granted_tier !== null || user.processor_tier !== FREE)
  )
}

/**
 * Records a foreign product, or our price that the settings lack: emails the operator, and the
 * doctor reports it.
 */
async function recordUnknownPrice(
  deps: Pick<BillingDeps, 'config' | 'jobs' | 'log' | 'clock'>,
  tx: Db,
  userId: string,
  subscriptions: readonly SubscriptionFacts[],
  prices: Prices,
) {
  const foreign = combineSubscriptions(subscriptions, prices)?.subscription
  if (!foreign) return
  deps.log.warn(
    { userId, subscription: foreign.id, prices: foreign.priceIds },
    'a subscription has a price that belongs to no plan',
  )
  await updateAccount(tx, userId, buildSnapshot(foreign))
  if (isLive(foreign)) await reportUnknownPrice(deps, tx, userId, foreign)
}

/** A customer's deletion ends everything it paid for, listed or not. */
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
 * A subscriber's second checkout changes the plan: the older subscription ends and its rest is
 * credited, unless it was the larger, open plan, whose allowance may be used. If no checkout
 * started the newest one, somebody created it by hand: the operator gets an email instead.
 */
async function cancelDuplicates(
  deps: Pick<BillingDeps, 'config' | 'jobs' | 'log' | 'clock'>,
  tx: Db,
  { user_id: userId, subscription_id: known, granted_tier: granted }: Account,
  { subscriptions, checkedOut, prices, reversals }: Found,
): Promise<void> {
  const { config, jobs, log } = deps
  // Includes old prices that left the catalogue.
  const resolveTier = (subscription: SubscriptionFacts) =>
    findTier(subscription.priceIds, prices) ?? (subscription.id === known ? granted : null)
  const duplicates = findDuplicates(subscriptions, resolveTier)
  if (!duplicates) return
  const { newest, older } = duplicates
  if (newest.userId !== userId && !checkedOut.includes(newest.id)) {
    const ids = [newest, ...older].map(({ id }) => id)
    log.warn(
      { userId, subscriptions: ids },
      'a user pays for several subscriptions, and no checkout created the newest',
    )
    await reportSeveralSubscriptions(deps, tx, userId, [newest, ...older])
    return
  }
  const rank = (subscription: SubscriptionFacts) => rankTier(config, resolveTier(subscription))
  for (const replaced of older) {
    const key = `${REPLACE_JOB}:${replaced.id}:`
    // The first decision holds: after a switch, nothing reveals that the older plan was open.
    const wasUsed = (await jobs.findPayloads<ReplaceRequest>(tx, key)).some(
      ({ isCredited }) => isCredited === false,
    )
    const isCredited =
      !wasUsed &&
      !reversals.has(replaced.id) &&
      (replaced.id !== known || rank(newest) >= rank(replaced))
    const request: ReplaceRequest = {
      userId,
      subscriptionId: replaced.id,
      insteadOf: newest.id,
      isCredited,
      isDouble: !reversals.has(replaced.id) && isDouble(replaced, newest),
    }
    // A queued job may be outdated: it only runs while its replacement is live.
    await jobs.enqueue(tx, REPLACE_JOB, request, { key: key + newest.id })
  }
}
