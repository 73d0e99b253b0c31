/**
 * What no event told, for subscriptions and purchases alike: the processor's list of events is read, quiet accounts are read anew, and its
 * lists of money are held against our rows. Hourly and at the start, one of those at a time, whichever process does it; one that an
 * operator asks for may run beside it.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, plus } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { listStaleUsers } from './accounts.ts'
import { endGracePeriods } from './apply-state.ts'
import type { BillingDeps } from './deps.ts'
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

/** `mended`: what no event told of payments, refunds, disputes, invoices and purchases. */
export type Reconciled = { events: number; accounts: number; mended: number; failed: number }

/**
 * `everyone`: all customers and all money of the last half year are looked at, however fresh (the CLI). `byClockAlone`: only what falls due
 * by time, and the processor is asked about nothing else.
 */
export async function reconcile(
  deps: ReconcilerDeps,
  { everyone = false, byClockAlone = false } = {},
): Promise<Reconciled> {
  if (byClockAlone) {
    await runScheduledWork(deps)
    return { events: 0, accounts: 0, mended: 0, failed: 0 }
  }
  const events = await readMissedEvents(deps, deps.listeners)
  const { accounts, failed } = await syncStale(deps, everyone)
  await runScheduledWork(deps)
  const money = (await isAwaited(deps, deps.listeners))
    ? await reconcileMoney(deps, { everything: everyone })
    : null
  return { events, accounts, mended: money?.mended ?? 0, failed: failed + (money?.failed ?? 0) }
}

async function runScheduledWork(deps: BillingDeps): Promise<void> {
  await endGracePeriods(deps, (userId) => syncUser(deps, userId)).catch((error) =>
    deps.log.warn({ err: error }, 'failed payments could not be looked at'),
  )
  await sendScheduledNotices(deps).catch((error) =>
    deps.log.warn({ err: error }, 'letters could not be sent'),
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
    const outcomes = await inBatches(stale, (userId) => syncUser(deps, userId))
    accounts += outcomes.length
    const rejected = outcomes.filter((outcome) => outcome.status === 'rejected')
    failed += rejected.length
    if (rejected[0])
      deps.log.warn(
        { err: rejected[0].reason, failed: rejected.length },
        'customers could not be read',
      )
    // A failed account stays stale: going on would meet it again without end.
    if (!everyone || stale.length === 0 || rejected.length > 0) return { accounts, failed }
  }
}

/** Four at once, so that a long list does not run into the processor's rate limit. A failure keeps nothing from the rest. */
export async function inBatches<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const outcomes: PromiseSettledResult<R>[] = []
  for (let index = 0; index < items.length; index += AT_ONCE) {
    outcomes.push(...(await Promise.allSettled(items.slice(index, index + AT_ONCE).map(work))))
  }
  return outcomes
}

/** Looks at everything, once. */
export async function enqueueSync({ jobs }: Pick<BillingDeps, 'jobs'>, tx: Db): Promise<void> {
  await jobs.enqueue(tx, RECONCILE_JOB, { everyone: true }, { key: `${RECONCILE_JOB}:everyone` })
}

/** Then it waits, among what gave up, for the next hour's call. */
export const RECONCILE_DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS]

/** Asks for a reconciliation now and every hour; one of them at a time, whichever process runs it. Returns how to stop. */
export function scheduleReconciliation(deps: Pick<BillingDeps, 'jobs' | 'db' | 'log'>): () => void {
  const enqueue = () =>
    deps.jobs
      .enqueue(deps.db, RECONCILE_JOB, {}, { key: RECONCILE_JOB })
      .catch((error) => deps.log.warn({ err: error }, 'reconciliation could not be asked for'))
  void enqueue()
  const timer = setInterval(enqueue, HOUR_MS).unref()
  return () => clearInterval(timer)
}
