/**
 * Business counters. Each node counts its own writes; the sum over all nodes is the total. A
 * process that crashes between a commit and the next scrape loses a few counts; the database is
 * authoritative.
 */
import type { Db } from '../db/db.ts'
import { afterCommit } from '../db/db.ts'
import type { Metrics } from './metrics.ts'

export type Business = ReturnType<typeof createBusiness>

/** Money in the currency's smallest unit, as in the database. */
export type Money = { kind: string; currency: string; minorUnits: number }

export function createBusiness(metrics: Pick<Metrics, 'counts'>) {
  const signUps = metrics.counts('latchkey_sign_ups_total', 'Accounts that were made, by how', [
    'way',
  ])
  const downloads = metrics.counts(
    'latchkey_downloads_total',
    'Downloads of what was bought, without resumed ones',
    ['tier'],
  )
  const kinds = ['kind', 'currency']
  const paid = metrics.counts(
    'latchkey_revenue_minor_units_total',
    'What was paid, in cents or their like',
    kinds,
  )
  const refunded = metrics.counts(
    'latchkey_refunds_minor_units_total',
    'What was refunded, in cents or their like',
    kinds,
  )

  const add =
    (lines: typeof paid) =>
    (tx: Db, { kind, currency, minorUnits }: Money) =>
      afterCommit(tx, () => {
        // A failed refund would decrease the counter. Counters only grow, so a day's sum may differ
        // from accounting by it.
        if (minorUnits > 0) lines(kind, currency).value += minorUnits
      })

  return {
    /** `way`: `password`, `purchase` or the name of the provider. */
    signedUp: (tx: Db, way: string) => afterCommit(tx, () => void signUps(way).value++),
    downloaded: (tx: Db, tier: string) => afterCommit(tx, () => void downloads(tier).value++),
    paid: add(paid),
    refunded: add(refunded),
  }
}
