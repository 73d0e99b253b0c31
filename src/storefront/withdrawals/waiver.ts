/**
 * EU directive 2011/83, articles 9 and 16(m): a consumer may withdraw within 14 days. They lose that
 * right for digital content once its delivery has begun with their consent, given at checkout.
 */
import { DAY_MS, type Instant, plus } from '#platform/clock.ts'
import { storefrontProblem } from '../problems.ts'
import type { PurchaseRow } from '../purchases/store.ts'

const PERIOD_MS = 14 * DAY_MS

/** A new text gets a new version. Purchases store the version that the buyer agreed to. */
export const WAIVER_VERSION = '2026-11-26'
export const WAIVER_TEXT =
  'I request immediate delivery and acknowledge that I lose my right of withdrawal once it begins.'

/** @throws Problem 409 `waiver_outdated` when the buyer agreed to another text */
export function requireWaiver(version: string | undefined): void {
  if (version !== undefined && version !== WAIVER_VERSION)
    throw storefrontProblem('waiver_outdated')
}

/** `waived`: delivery began with the buyer's consent. `late`: the period is over. */
export type WithdrawalRight = 'open' | 'waived' | 'late' | 'ended'

export function findWithdrawalRight(
  purchase: Pick<PurchaseRow, 'status' | 'created_at' | 'waiver_json'>,
  { isDelivered, now }: { isDelivered: boolean; now: Instant },
): WithdrawalRight {
  if (!['completed', 'expired', 'disputed'].includes(purchase.status)) return 'ended'
  if (now > plus(purchase.created_at, PERIOD_MS)) return 'late'
  return purchase.waiver_json !== null && isDelivered ? 'waived' : 'open'
}
