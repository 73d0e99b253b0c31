/** Promotion codes that a buyer enters before the payment page, or that a link carries. */
import { billingProblem } from '#billing/problems.ts'
import { mapProcessorErrors, type Processor, requireProcessor } from '#billing/processor.ts'
import type { Tier } from '#catalogue/catalogue.ts'
import type { Platform } from '#platform/platform.ts'
import { storefrontProblem } from '../problems.ts'
import { isEnded, listOfUser } from '../purchases/store.ts'
import { findDiscount, isUsable } from './discounts.ts'

export type Promotion = {
  code: string
  /** The discount of the checkout session. */
  discount: { promotion_code: string } | { coupon: string }
}

/** @throws Problem 400 `unknown_promotion_code`, 409 `promotion_code_unusable` */
export async function findPromotion(
  { db, clock, processor }: Pick<Platform, 'db' | 'clock'> & { processor: Processor | null },
  code: string,
  /** Null: a guest, who owns nothing. */
  { userId, tier }: { userId: string | null; tier: Tier },
): Promise<Promotion> {
  const { promotionCodes } = requireProcessor(processor)
  const own = await findDiscount(db, code)
  if (own) {
    const purchases = userId === null ? [] : await listOfUser(db, userId)
    const owned = purchases.filter((row) => !isEnded(row)).map((row) => row.tier)
    if (!isUsable(own, { tier, owned, now: clock.now() }))
      throw storefrontProblem('promotion_code_unusable')
    return { code: own.code, discount: { coupon: own.coupon_id } }
  }
  const { data } = await mapProcessorErrors(promotionCodes.list({ code, active: true, limit: 1 }))
  if (!data[0]) throw billingProblem('unknown_promotion_code')
  return { code: data[0].code, discount: { promotion_code: data[0].id } }
}
