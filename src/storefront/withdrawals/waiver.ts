/**
 * EU directive 2011/83, articles 9 and 16(m): a consumer may withdraw within 14 days. They lose that
 * right for digital content once its delivery has begun with their consent, given at checkout.
 */
import { DAY_MS, type Instant, plus } from '#platform/clock.ts'
import type { Messages } from '#platform/locale.ts'
import { storefrontProblem } from '../problems.ts'
import { isUnpaid, type PurchaseRow } from '../purchases/store.ts'

const PERIOD_MS = 14 * DAY_MS

type WaiverText = { version: string; text: string }

/** A new text gets a new version. Purchases store the version that the buyer agreed to. */
export const WAIVERS: Messages<WaiverText> = {
  en: {
    version: '2026-11-26',
    text: 'I request immediate delivery and acknowledge that I lose my right of withdrawal once it begins.',
  },
  de: {
    version: '2026-11-27-de',
    text: 'Ich verlange die sofortige Lieferung und nehme zur Kenntnis, dass mein Widerrufsrecht mit ihrem Beginn erlischt.',
  },
}

/** Returns the text that the buyer agreed to. */
export function findWaiverText(version: string): string {
  return Object.values(WAIVERS).find((waiver) => waiver.version === version)?.text ?? ''
}

/** @throws Problem 409 `waiver_outdated` when the buyer agreed to another text */
export function requireWaiver(version: string | undefined): void {
  if (version !== undefined && findWaiverText(version) === '')
    throw storefrontProblem('waiver_outdated')
}

/** `waived`: delivery began with the buyer's consent. `late`: the period is over. */
export type WithdrawalRight = 'open' | 'waived' | 'late' | 'ended' | 'free'

export function findWithdrawalRight(
  purchase: Pick<PurchaseRow, 'status' | 'created_at' | 'waiver_json' | 'payment_ref'>,
  { isDelivered, now }: { isDelivered: boolean; now: Instant },
): WithdrawalRight {
  if (isUnpaid(purchase)) return 'free'
  if (!['completed', 'expired', 'disputed'].includes(purchase.status)) return 'ended'
  if (now > plus(purchase.created_at, PERIOD_MS)) return 'late'
  return purchase.waiver_json !== null && isDelivered ? 'waived' : 'open'
}
