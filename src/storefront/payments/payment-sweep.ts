/**
 * The hourly look at payments that nobody has said anything about: a refund or a lost dispute whose event is lost would otherwise leave
 * its key and downloads alive. Events, where they come, are handled at once; this finds the rest within a day.
 */
import { inBatches } from '#billing/reconciliation.ts'
import { DAY_MS, HOUR_MS, plus } from '#platform/clock.ts'
import { type PaymentDeps, refreshPayment } from './payments.ts'
import { uncheckedPayments } from './store.ts'

export const SWEEP_JOB = 'storefront.sweep-payments'

/** A card payment can be disputed for 120 days, some for longer; a refund later than this still has its event. */
const SWEPT_MS = 180 * DAY_MS
const CHECKED_EVERY_MS = DAY_MS
const PAYMENTS_A_RUN_MAX = 500

/** Asks for a sweep now and every hour; one at a time, whichever process runs it. Returns how to stop. */
export function schedulePaymentSweep({ jobs, db, log }: PaymentDeps): () => void {
  const ask = () =>
    jobs
      .enqueue(db, SWEEP_JOB, {}, { key: SWEEP_JOB })
      .catch((error) => log.warn({ err: error }, 'a sweep of payments could not be asked for'))
  void ask()
  const timer = setInterval(ask, HOUR_MS).unref()
  return () => clearInterval(timer)
}

export type Swept = { payments: number; failed: number }

/** `everyone`: all of the last 180 days, however fresh (the CLI). One that cannot be read stands in nobody's way. */
export async function sweepPayments(deps: PaymentDeps, { everyone = false } = {}): Promise<Swept> {
  if (!deps.processor) return { payments: 0, failed: 0 }
  const now = deps.clock.now()
  const bounds = {
    madeAfter: plus(now, -SWEPT_MS),
    checkedBefore: everyone ? now : plus(now, -CHECKED_EVERY_MS),
    max: PAYMENTS_A_RUN_MAX,
  }
  for (let payments = 0; ; ) {
    const refs = await uncheckedPayments(deps.db, bounds)
    const outcomes = await inBatches(refs, (ref) => refreshPayment(deps, ref))
    payments += outcomes.length
    const wrong = outcomes.filter((outcome) => outcome.status === 'rejected')
    if (wrong[0]) deps.log.warn({ err: wrong[0].reason, failed: wrong.length }, 'payments could not be read')
    // One that failed stays unchecked: going on would meet it again without end.
    if (!everyone || refs.length === 0 || wrong.length > 0) return { payments, failed: wrong.length }
  }
}
