/** Promotion codes that a buyer enters before the payment page, or that a link carries. */
import { billingProblem } from '#billing/problems.ts'
import { mapProcessorErrors, type Processor, requireProcessor } from '#billing/processor.ts'
import type { Platform } from '#platform/platform.ts'
import { storefrontProblem } from '../problems.ts'
import { isEnded, listOfUser } from '../purchases/store.ts'
import { findDiscount, isUsable, requirePayable } from './discounts.ts'
import type { Quote } from './quotes.ts'

export type Promotion = {
  code: string
  /** The discount of the checkout session. */
  discount: { promotion_code: string } | { coupon: string }
}

/**
 * @throws Problem 400 `unknown_promotion_code`, 409 `promotion_code_unusable`, `amount_too_small`
 */
export async function findPromotion(
  { db, clock, processor }: Pick<Platform, 'db' | 'clock'> & { processor: Processor | null },
  code: string,
  /** Null: a guest, who owns nothing. */
  { userId, quote }: { userId: string | null; quote: Pick<Quote, 'product' | 'cents'> },
): Promise<Promotion> {
  const { promotionCodes } = requireProcessor(processor)
  const own = await findDiscount(db, code)
  if (own) {
    const purchases = userId === null ? [] : await listOfUser(db, userId)
    const owned = purchases.filter((row) => !isEnded(row)).map((row) => row.tier)
    if (!isUsable(own, { tier: quote.product.tier, owned, now: clock.now() }))
      throw storefrontProblem('promotion_code_unusable')
    requirePayable(own, quote)
    return { code: own.code, discount: { coupon: own.coupon_id } }
  }
  const { data } = await mapProcessorErrors(promotionCodes.list({ code, active: true, limit: 1 }))
  if (!data[0]) throw billingProblem('unknown_promotion_code')
  return { code: data[0].code, discount: { promotion_code: data[0].id } }
}
