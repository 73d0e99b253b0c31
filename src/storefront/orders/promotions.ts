/** Promotion codes that a buyer enters before the payment page, or that a link carries. */
import { billingProblem } from '#billing/problems.ts'
import { mapProcessorErrors, type Processor, requireProcessor } from '#billing/processor.ts'

export type Promotion = {
  code: string
  /** The discount of the checkout session. */
  discount: { promotion_code: string } | { coupon: string }
}

/** @throws Problem 400 `unknown_promotion_code` */
export async function findPromotion(
  { processor }: { processor: Processor | null },
  code: string,
): Promise<Promotion> {
  const { promotionCodes } = requireProcessor(processor)
  const { data } = await mapProcessorErrors(promotionCodes.list({ code, active: true, limit: 1 }))
  if (!data[0]) throw billingProblem('unknown_promotion_code')
  return { code: data[0].code, discount: { promotion_code: data[0].id } }
}
