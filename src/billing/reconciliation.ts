/**
 * What no event told: the processor's list of events is read, for everyone who listens, and quiet accounts are read anew. Hourly and at
 * the start, one at a time, whichever process does it.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, plus } from '#platform/clock.ts'
import { staleUsers } from './accounts.ts'
import { endGracePeriods } from './apply-state.ts'
import type { BillingDeps } from './deps.ts'
import { type EventListener, readMissedEvents } from './missed-events.ts'
import { syncUser } from './sync.ts'

export const RECONCILE_JOB = 'billing.reconcile'

const STALE_MS = DAY_MS
const ACCOUNTS_A_RUN_MAX = 500
const AT_ONCE = 4

export type Reconciled = { events: number; accounts: number; failed: number }

/** `everyone`: all customers are looked at, however fresh (the CLI). */
export async function reconcile(
  deps: BillingDeps,
  listeners: readonly EventListener[],
  { everyone = false } = {},
): Promise<Reconciled> {
  const events = await readMissedEvents(deps, listeners)
  await endGracePeriods(deps, (userId) => syncUser(deps, userId)).catch((error) =>
    deps.log.warn({ err: error }, 'failed payments could not be looked at'),
  )
  const before = everyone ? deps.clock.now() : plus(deps.clock.now(), -STALE_MS)
  let accounts = 0
  let failed = 0
  for (;;) {
    const stale = await staleUsers(deps.db, before, everyone ? 100 : ACCOUNTS_A_RUN_MAX)
    const outcomes = await inBatches(stale, (userId) => syncUser(deps, userId))
    accounts += outcomes.length
    const wrong = outcomes.filter((outcome) => outcome.status === 'rejected')
    failed += wrong.length
    if (wrong[0]) deps.log.warn({ err: wrong[0].reason, failed: wrong.length }, 'customers could not be read')
    // A failed account stays stale: going on would meet it again without end.
    if (!everyone || stale.length === 0 || wrong.length > 0) return { events, accounts, failed }
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

/** Then it waits, among what gave up, for the next hour's call. */
export const RECONCILE_DELAYS_MS = [MINUTE_MS, 5 * MINUTE_MS]

/** Asks for a reconciliation now and every hour; one at a time, whichever process runs it. Returns how to stop. */
export function scheduleReconciliation(deps: BillingDeps): () => void {
  const ask = () =>
    deps.jobs
      .enqueue(deps.db, RECONCILE_JOB, {}, { key: RECONCILE_JOB })
      .catch((error) => deps.log.warn({ err: error }, 'reconciliation could not be asked for'))
  void ask()
  const timer = setInterval(ask, HOUR_MS).unref()
  return () => clearInterval(timer)
}
