/**
 * Business counters, counted on the node that writes: the sum over the nodes is the total, without
 * reading the database. A process that dies between its commit and the next scrape loses a few; the
 * rows are authoritative.
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
        // A refund that fails comes back: counters only grow, so that the sums of a day may differ
        // from the books by it.
        if (minorUnits > 0) lines(kind, currency).value += minorUnits
      })

  return {
    /** `way`: `password`, or the provider. */
    signedUp: (tx: Db, way: string) => afterCommit(tx, () => void signUps(way).value++),
    downloaded: (tx: Db, tier: string) => afterCommit(tx, () => void downloads(tier).value++),
    paid: add(paid),
    refunded: add(refunded),
  }
}
