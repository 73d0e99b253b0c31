/**
 * Coupons, their promotion codes, and the resulting discounts on checkouts, subscriptions and
 * invoices.
 */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import { blank } from './blank-fields.ts'
import { type Db, type ProcessorDeps, seconds } from './deps.ts'
import { badParameter } from './fault.ts'
import { all, get, getExisting, getNamed, newId, put } from './objects.ts'
import {
  allowSupported,
  group,
  groups,
  integer,
  mergeMetadata,
  optionalText,
  text,
} from './parameters.ts'
import { addInterval } from './periods.ts'

/** A coupon, and the code that the customer entered. */
export type Offer = { coupon: Stripe.Coupon; promotion: Stripe.PromotionCode | null }

const COUPON = ['id', 'name', 'percent_off', 'amount_off', 'currency', 'duration', 'metadata']

/** The product sends valid coupons; most of Stripe's checks are left out. */
export function createCoupon(deps: ProcessorDeps, form: Form): Stripe.Coupon {
  allowSupported(form, [...COUPON, 'duration_in_months', 'max_redemptions', 'redeem_by'])
  const percent = optionalText(form, 'percent_off')
  const amount = integer(form, 'amount_off')
  if ((percent === null) === (amount === undefined))
    throw badParameter('percent_off', 'You must pass exactly one of amount_off and percent_off.')
  return newCoupon(deps, {
    id: optionalText(form, 'id') ?? newId('co').slice(3, 11),
    name: optionalText(form, 'name'),
    percent_off: percent === null ? null : Number(percent),
    amount_off: amount ?? null,
    currency: amount === undefined ? null : text(form, 'currency').toLowerCase(),
    duration: (optionalText(form, 'duration') ?? 'once') as Stripe.Coupon['duration'],
    duration_in_months: integer(form, 'duration_in_months') ?? null,
    max_redemptions: integer(form, 'max_redemptions') ?? null,
    redeem_by: integer(form, 'redeem_by') ?? null,
    metadata: mergeMetadata({}, form.metadata),
  })
}

function newCoupon(
  deps: ProcessorDeps,
  wanted: Partial<Stripe.Coupon> & { id: string },
): Stripe.Coupon {
  return put<Stripe.Coupon>(deps, {
    ...blank('coupon'),
    created: seconds(deps),
    duration: 'once',
    metadata: {},
    times_redeemed: 0,
    valid: true,
    ...wanted,
  })
}

/** The coupon can no longer be used; customers who have it keep their discount. */
export function deleteCoupon(deps: ProcessorDeps, id: string) {
  put(deps, { ...getExisting(deps, 'coupon', id), valid: false })
  return { id, object: 'coupon', deleted: true }
}

export function createPromotionCode(deps: ProcessorDeps, form: Form): Stripe.PromotionCode {
  allowSupported(form, ['promotion', 'code', 'metadata'])
  const promotion = group(form, 'promotion')
  allowSupported(promotion, ['type', 'coupon'], 'promotion')
  const couponId = text(promotion, 'coupon')
  const coupon = getNamed(deps, 'coupon', couponId, 'promotion[coupon]')
  const code = text(form, 'code')
  if (findPromotion(deps, code))
    throw badParameter(
      'code',
      'An active promotion code with that code already exists.',
      'resource_already_exists',
    )
  return newPromotionCode(deps, newId('promo'), code, coupon.id)
}

function newPromotionCode(
  deps: ProcessorDeps,
  id: string,
  code: string,
  coupon: string,
): Stripe.PromotionCode {
  return put<Stripe.PromotionCode>(deps, {
    id,
    ...blank('promotion_code'),
    active: true,
    code,
    created: seconds(deps),
    metadata: {},
    promotion: { coupon, type: 'coupon' },
    restrictions: {
      first_time_transaction: false,
      minimum_amount: null,
      minimum_amount_currency: null,
    },
    times_redeemed: 0,
  })
}

/** Creates it if missing. Ids are stable, so that a restart changes nothing. */
export function stockPromotion(
  deps: ProcessorDeps,
  code: string,
  coupon: Partial<Stripe.Coupon>,
): void {
  if (get(deps, `promo_sandbox_${code}`)) return
  const { id } = newCoupon(deps, { id: `coupon_sandbox_${code}`, ...coupon })
  newPromotionCode(deps, `promo_sandbox_${code}`, code, id)
}

export function findPromotion(deps: Db, code: string): Stripe.PromotionCode | undefined {
  return all(deps, 'promotion_code').find(
    (one) => one.active && one.code.toLowerCase() === code.trim().toLowerCase(),
  )
}

/**
 * Reads `discounts[0][coupon]` or `discounts[0][promotion_code]`. @throws Fault 400 for an unusable
 * one.
 */
export function readOffers(deps: ProcessorDeps, form: Form, sold: { currency: string }): Offer[] {
  return groups(form, 'discounts').map((one, index) => {
    const at = `discounts[${index}]`
    allowSupported(one, ['coupon', 'promotion_code'], at)
    const promotionId = optionalText(one, 'promotion_code')
    const promotion = promotionId
      ? getNamed(deps, 'promotion_code', promotionId, `${at}[promotion_code]`)
      : null
    const couponId = promotion ? String(promotion.promotion.coupon) : text(one, 'coupon')
    const offer = { coupon: getNamed(deps, 'coupon', couponId, `${at}[coupon]`), promotion }
    const why = explainUnusable(offer, sold)
    if (why) throw badParameter(promotion ? `${at}[promotion_code]` : `${at}[coupon]`, why)
    return offer
  })
}

/** Returns the reason why an offer is not valid for this sale, or null. */
export function explainUnusable(
  { coupon, promotion }: Offer,
  sold: { currency: string | null },
): string | null {
  if (!coupon.valid) return `Coupon expired: ${coupon.id}`
  if (coupon.max_redemptions !== null && coupon.times_redeemed >= coupon.max_redemptions)
    return `Coupon expired: ${coupon.id} was redeemed ${coupon.times_redeemed} times.`
  // An amount off in dollars does not apply to a price in yen.
  if (coupon.currency && sold.currency && coupon.currency !== sold.currency)
    return `The coupon's currency (${coupon.currency}) differs from the price's (${sold.currency}).`
  return promotion && !promotion.active ? 'This promotion code is not active.' : null
}

/** Builds a discount without a customer, to compute its amount. */
export function previewDiscount(
  deps: ProcessorDeps,
  { coupon, promotion }: Offer,
  customer: string | null,
) {
  const start = seconds(deps)
  const end =
    coupon.duration === 'repeating'
      ? addInterval(start, { interval: 'month', interval_count: coupon.duration_in_months ?? 1 })
      : null
  return {
    id: newId('di'),
    ...blank('discount'),
    customer,
    end,
    promotion_code: promotion?.id ?? null,
    source: { coupon: coupon.id, type: 'coupon' },
    start,
  } satisfies Stripe.Discount
}

/**
 * Gives a customer the discount from now on, and counts it against the limits of its coupon and
 * code.
 */
export function grantDiscount(
  deps: ProcessorDeps,
  offer: Offer,
  to: { customer: string | null; subscription: string | null; session: string | null },
): Stripe.Discount {
  const discount: Stripe.Discount = {
    ...previewDiscount(deps, offer, to.customer),
    checkout_session: to.session,
    subscription: to.subscription,
  }
  const { coupon, promotion } = offer
  put(deps, discount, { owner: to.customer ?? '' })
  put(deps, { ...coupon, times_redeemed: coupon.times_redeemed + 1 })
  if (promotion) put(deps, { ...promotion, times_redeemed: promotion.times_redeemed + 1 })
  return discount
}

/** Returns the discounts of a subscription that are valid at a time. */
export function findDiscounts(deps: Db, subscription: Stripe.Subscription, at: number) {
  return subscription.discounts
    .map((id) => get<Stripe.Discount>(deps, String(id)))
    .filter((one) => one !== undefined && (one.end === null || one.end > at)) as Stripe.Discount[]
}

export const findCoupon = (deps: Db, discount: Stripe.Discount): Stripe.Coupon =>
  getExisting(deps, 'coupon', String(discount.source.coupon))

/** The first discounted invoice uses up a coupon with the duration `once`. */
export function removeUsedDiscounts(
  deps: ProcessorDeps,
  subscription: Stripe.Subscription,
  ids: readonly string[],
): Stripe.Subscription {
  const used = ids
    .map((id) => getExisting(deps, 'discount', id))
    .filter((one) => findCoupon(deps, one).duration === 'once')
  if (used.length === 0) return subscription
  return {
    ...subscription,
    discounts: subscription.discounts.filter((id) => !used.some((one) => one.id === id)),
  }
}

/** Returns the discount in cents, at most the whole sum. */
export function computeDiscount(cents: number, coupon: Stripe.Coupon | undefined): number {
  if (!coupon) return 0
  const off =
    coupon.percent_off !== null
      ? Math.round((cents * coupon.percent_off) / 100)
      : (coupon.amount_off ?? 0)
  return Math.min(cents, off)
}
