// Guards against events that never came: what the processor has recorded is read again, and quiet accounts are looked at.
// One thing to know: reading events twice is free, because the inbox knows each by its id.
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, plus } from '#platform/clock.ts'
import { anyAccount, instantOf, staleAccounts } from './accounts.ts'
import type { BillingDeps } from './deps.ts'
import { HINT_TYPES, hintOf } from './hints.ts'
import { requireProcessor } from './processor.ts'
import { syncCustomer } from './sync.ts'
import { INBOX_SOURCE } from './webhook.ts'

export const RECONCILE_JOB = 'billing.reconcile'

const CURSOR = 'events'
/** As long as the processor itself keeps trying to deliver. */
const FIRST_LOOK_BACK_MS = 3 * DAY_MS
/** Events appear in the list a moment after their own time. */
const OVERLAP_MS = 10 * MINUTE_MS
/** The processor keeps events for 30 days. */
const KEPT_MS = 29 * DAY_MS
const STALE_MS = DAY_MS
const ACCOUNTS_A_RUN_MAX = 500
const AT_ONCE = 4

export type Reconciled = { events: number; accounts: number; failed: number }

/** Hourly and at the start. `everyone`: all customers are looked at, however fresh (the CLI). */
export async function reconcile(deps: BillingDeps, { everyone = false } = {}): Promise<Reconciled> {
  const events = await readMissedEvents(deps)
  const before = everyone ? deps.clock.now() : plus(deps.clock.now(), -STALE_MS)
  let accounts = 0
  let failed = 0
  for (;;) {
    const stale = await staleAccounts(deps.db, before, everyone ? 100 : ACCOUNTS_A_RUN_MAX)
    const outcomes = await inBatches(stale, (account) => syncCustomer(deps, account.user_id, account.customer_id))
    accounts += outcomes.length
    const wrong = outcomes.filter((outcome) => outcome.status === 'rejected')
    failed += wrong.length
    if (wrong[0]) deps.log.warn({ err: wrong[0].reason, failed: wrong.length }, 'customers could not be read')
    // A failed account stays stale: going on would meet it again without end.
    if (!everyone || stale.length === 0 || wrong.length > 0) return { events, accounts, failed }
  }
}

async function readMissedEvents(deps: BillingDeps): Promise<number> {
  const processor = requireProcessor(deps.processor)
  // Every customer begins with an account of ours: without one there is nobody an event could be about.
  if (!(await anyAccount(deps.db))) return 0
  const now = deps.clock.now()
  const known = await deps.db
    .selectFrom('billing_cursors')
    .select('reached_at')
    .where('name', '=', CURSOR)
    .executeTakeFirst()
  const from = later(plus(known?.reached_at ?? plus(now, -FIRST_LOOK_BACK_MS), -OVERLAP_MS), plus(now, -KEPT_MS))

  let fresh = 0
  const created = { gte: Math.floor(Date.parse(from) / 1000) }
  for await (const event of processor.events.list({ types: [...HINT_TYPES], created, limit: 100 })) {
    const hint = hintOf(event)
    if (hint && (await deps.inbox.receive(INBOX_SOURCE, hint.id, hint)) !== 'duplicate') fresh++
  }
  await deps.db
    .insertInto('billing_cursors')
    .values({ name: CURSOR, reached_at: now })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ reached_at: now }))
    .execute()
  if (fresh > 0)
    deps.log.info(
      { events: fresh, since: instantOf(created.gte) },
      'events that never came were read from the processor',
    )
  return fresh
}

async function inBatches<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<PromiseSettledResult<R>[]> {
  const outcomes: PromiseSettledResult<R>[] = []
  for (let index = 0; index < items.length; index += AT_ONCE) {
    outcomes.push(...(await Promise.allSettled(items.slice(index, index + AT_ONCE).map(work))))
  }
  return outcomes
}

const later = (a: Instant, b: Instant): Instant => (a > b ? a : b)

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
