/**
 * Reconciles with the processor what events missed, for subscriptions and purchases: reads its list
 * of events, stale accounts, and its lists of money. Runs at the start and hourly, one run at a
 * time across processes; an operator's run may overlap it.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, plus } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { listStaleUsers } from './accounts.ts'
import { endGracePeriods } from './apply-state.ts'
import type { BillingDeps } from './deps.ts'
import { recordSubscriptionChanges } from './metrics/subscription-changes.ts'
import { type EventListener, isAwaited, readMissedEvents } from './missed-events.ts'
import { reconcileMoney, type Seller } from './money/proof.ts'
import type { MoneyDeps } from './money/refresh.ts'
import { sendScheduledNotices } from './notices.ts'
import { syncUser } from './sync.ts'

export const RECONCILE_JOB = 'billing.reconcile'

const STALE_MS = DAY_MS
const ACCOUNTS_A_RUN_MAX = 500
const AT_ONCE = 4

export type ReconcilerDeps = BillingDeps &
  MoneyDeps & { listeners: readonly EventListener[]; sellers: readonly Seller[] }

/** `repaired` counts payments, refunds, disputes, invoices and purchases. */
export type Reconciled = { events: number; accounts: number; repaired: number; failed: number }

/**
 * `everyone`: reads all customers and the money of the last half year, however recently they were
 * read (the CLI). `byClockAlone`: only runs work that is due by time, without reading the processor
 * otherwise.
 */
export async function reconcile(
  deps: ReconcilerDeps,
  { everyone = false, byClockAlone = false } = {},
): Promise<Reconciled> {
  if (byClockAlone) {
    await runScheduledWork(deps)
    return { events: 0, accounts: 0, repaired: 0, failed: 0 }
  }
  const events = await readMissedEvents(deps, deps.listeners)
  const { accounts, failed } = await syncStale(deps, everyone)
  await runScheduledWork(deps)
  const money = (await isAwaited(deps, deps.listeners))
    ? await reconcileMoney(deps, { everything: everyone })
    : null
  return { events, accounts, repaired: money?.repaired ?? 0, failed: failed + (money?.failed ?? 0) }
}

async function runScheduledWork(deps: BillingDeps): Promise<void> {
  await endGracePeriods(deps, (userId) => syncUser(deps, userId)).catch((error) =>
    deps.log.warn({ err: error }, 'failed payments could not be read'),
  )
  await sendScheduledNotices(deps).catch((error) =>
    deps.log.warn({ err: error }, 'notices could not be sent'),
  )
  await recordSubscriptionChanges(deps).catch((error) =>
    deps.log.warn({ err: error }, 'changes of subscriptions could not be recorded'),
  )
}

async function syncStale(
  deps: BillingDeps,
  everyone: boolean,
): Promise<{ accounts: number; failed: number }> {
  const before = everyone ? deps.clock.now() : plus(deps.clock.now(), -STALE_MS)
  let accounts = 0
  let failed = 0
  for (;;) {
    const stale = await listStaleUsers(deps.db, before, everyone ? 100 : ACCOUNTS_A_RUN_MAX)
    const outcomes = await runInBatches(stale, (userId) => syncUser(deps, userId))
    accounts += outcomes.length
    const rejected = outcomes.filter((outcome) => outcome.status === 'rejected')
    failed += rejected.length
    if (rejected[0])
      deps.log.warn(
        { err: rejected[0].reason, failed: rejected.length },
        'customers could not be read',
      )
    // A failed account stays stale, so another round would read it again endlessly.
    if (!everyone || stale.length === 0 || rejected.length > 0) return { accounts, failed }
  }
}

/**
 * Works on four items at a time, so that a long list stays below the processor's rate limit. A
 * failure does not stop the rest.
 */
export async function runInBatches<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const outcomes: PromiseSettledResult<R>[] = []
  for (let index = 0; index < items.length; index += AT_ONCE) {
    outcomes.push(...(await Promise.allSettled(items.slice(index, index + AT_ONCE).map(work))))
  }
  return outcomes
}

/** Enqueues one full reconciliation. */
export async function enqueueSync({ jobs }: Pick<BillingDeps, 'jobs'>, tx: Db): Promise<void> {
  await jobs.enqueue(tx, RECONCILE_JOB, { everyone: true }, { key: `${RECONCILE_JOB}:everyone` })
}

/** Retry delays. Afterwards the job stays with the failed ones until the next hourly call. */
export const RECONCILE_DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS]

/**
 * Enqueues a reconciliation now and every hour; only one is queued at a time. Returns a function
 * that stops it.
 */
export function scheduleReconciliation(deps: Pick<BillingDeps, 'jobs' | 'db' | 'log'>): () => void {
  const enqueue = () =>
    deps.jobs
      .enqueue(deps.db, RECONCILE_JOB, {}, { key: RECONCILE_JOB })
      .catch((error) => deps.log.warn({ err: error }, 'reconciliation could not be enqueued'))
  void enqueue()
  const timer = setInterval(enqueue, HOUR_MS).unref()
  return () => clearInterval(timer)
}
