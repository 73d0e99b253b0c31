/** Coupons, the codes that people type for them, and the discounts that come of both on a checkout, a subscription or an invoice. */
import type { Stripe } from 'stripe'
import type { Form } from '../form.ts'
import { blank } from './blank-fields.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { emit } from './events.ts'
import { badParameter } from './fault.ts'
import { findOne, get, must, mustParam, newId, put } from './objects.ts'
import {
  flag,
  group,
  groups,
  integer,
  mergeMetadata,
  optionalText,
  played,
  text,
} from './parameters.ts'
import { addInterval } from './periods.ts'

/** A coupon, and the code that the customer entered. */
export type Offer = { coupon: Stripe.Coupon; promotion: Stripe.PromotionCode | null }

const COUPON = [
  'id',
  'name',
  'percent_off',
  'amount_off',
  'currency',
  'duration',
  'duration_in_months',
  'max_redemptions',
  'redeem_by',
  'metadata',
]
const DURATIONS = ['once', 'repeating', 'forever']

export function createCoupon(deps: ProcessorDeps, form: Form): Stripe.Coupon {
  played(form, COUPON)
  const id = optionalText(form, 'id') ?? newId('co').slice(3, 11)
  if (get(deps.db, id))
    throw badParameter('id', `Coupon already exists: ${id}`, 'resource_already_exists')
  const percent = optionalText(form, 'percent_off')
  const amount = integer(form, 'amount_off')
  if ((percent === null) === (amount === undefined))
    throw badParameter('percent_off', 'You must pass exactly one of amount_off and percent_off.')
  if (percent !== null && !(Number(percent) > 0 && Number(percent) <= 100))
    throw badParameter(
      'percent_off',
      'Invalid percent_off: must be greater than 0 and at most 100.',
    )
  if (amount !== undefined && amount < 1)
    throw badParameter('amount_off', 'Invalid positive integer')
  const duration = optionalText(form, 'duration') ?? 'once'
  if (!DURATIONS.includes(duration))
    throw badParameter('duration', `Invalid duration: must be one of ${DURATIONS}`)
  const months = integer(form, 'duration_in_months')
  if ((duration === 'repeating') !== (months !== undefined))
    throw badParameter(
      'duration_in_months',
      'duration_in_months goes with a duration of repeating, and no other.',
    )

  const coupon = newCoupon(deps, {
    id,
    name: optionalText(form, 'name'),
    percent_off: percent === null ? null : Number(percent),
    amount_off: amount ?? null,
    currency: amount === undefined ? null : text(form, 'currency').toLowerCase(),
    duration: duration as Stripe.Coupon['duration'],
    duration_in_months: months ?? null,
    max_redemptions: integer(form, 'max_redemptions') ?? null,
    redeem_by: integer(form, 'redeem_by') ?? null,
    metadata: mergeMetadata({}, form.metadata),
  })
  emit(deps, 'coupon.created', coupon)
  return coupon
}

function newCoupon(
  deps: ProcessorDeps,
  wanted: Partial<Stripe.Coupon> & { id: string },
): Stripe.Coupon {
  const coupon: Stripe.Coupon = {
    ...blank('coupon'),
    created: seconds(deps),
    duration: 'once',
    metadata: {},
    times_redeemed: 0,
    valid: true,
    ...wanted,
  }
  return put(deps.db, coupon)
}

export function updateCoupon(deps: ProcessorDeps, id: string, form: Form): Stripe.Coupon {
  played(form, ['name', 'metadata'])
  const before = must<Stripe.Coupon>(deps.db, 'coupon', id)
  const name = optionalText(form, 'name', before.name)
  const after = put(deps.db, {
    ...before,
    name,
    metadata: mergeMetadata(before.metadata, form.metadata),
  })
  emit(deps, 'coupon.updated', after, { name: before.name })
  return after
}

/** It can no longer be used; customers who have it keep it. */
export function deleteCoupon(
  deps: ProcessorDeps,
  id: string,
): { id: string; object: 'coupon'; deleted: true } {
  const coupon = must<Stripe.Coupon>(deps.db, 'coupon', id)
  put(deps.db, { ...coupon, valid: false })
  emit(deps, 'coupon.deleted', coupon)
  return { id, object: 'coupon', deleted: true }
}

export function createPromotionCode(deps: ProcessorDeps, form: Form): Stripe.PromotionCode {
  played(form, [
    'promotion',
    'code',
    'active',
    'customer',
    'expires_at',
    'max_redemptions',
    'metadata',
    'restrictions',
  ])
  const promotion = group(form, 'promotion')
  played(promotion, ['type', 'coupon'], 'promotion')
  if (text(promotion, 'type') !== 'coupon')
    throw badParameter('promotion[type]', 'Invalid type: must be coupon')
  const coupon = mustParam<Stripe.Coupon>(
    deps.db,
    'coupon',
    text(promotion, 'coupon'),
    'promotion[coupon]',
  )
  const customerId = optionalText(form, 'customer')
  const restrictions = group(form, 'restrictions')
  played(restrictions, ['first_time_transaction'], 'restrictions')
  const code = optionalText(form, 'code') ?? newId('x').slice(2, 10).toUpperCase()
  if (promotionByCode(deps, code))
    throw badParameter(
      'code',
      'An active promotion code with that code already exists.',
      'resource_already_exists',
    )

  const made = newPromotionCode(deps, newId('promo'), code, coupon.id, {
    active: flag(form, 'active', true),
    customer:
      customerId && mustParam<Stripe.Customer>(deps.db, 'customer', customerId, 'customer').id,
    expires_at: integer(form, 'expires_at') ?? null,
    max_redemptions: integer(form, 'max_redemptions') ?? null,
    metadata: mergeMetadata({}, form.metadata),
    restrictions: {
      first_time_transaction: flag(restrictions, 'first_time_transaction'),
      minimum_amount: null,
      minimum_amount_currency: null,
    },
  })
  emit(deps, 'promotion_code.created', made)
  return made
}

function newPromotionCode(
  deps: ProcessorDeps,
  id: string,
  code: string,
  coupon: string,
  wanted: Partial<Stripe.PromotionCode> = {},
): Stripe.PromotionCode {
  const promotion: Stripe.PromotionCode = {
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
    ...wanted,
  }
  return put(deps.db, promotion)
}

export function updatePromotionCode(
  deps: ProcessorDeps,
  id: string,
  form: Form,
): Stripe.PromotionCode {
  played(form, ['active', 'metadata'])
  const before = must<Stripe.PromotionCode>(deps.db, 'promotion_code', id)
  const after = put(deps.db, {
    ...before,
    active: flag(form, 'active', before.active),
    metadata: mergeMetadata(before.metadata, form.metadata),
  })
  emit(deps, 'promotion_code.updated', after, { active: before.active })
  return after
}

/** Put in place where it is missing; ids are stable, so that a restart changes nothing. */
export function stockPromotion(
  deps: ProcessorDeps,
  code: string,
  coupon: Partial<Stripe.Coupon>,
): void {
  if (get(deps.db, `promo_sandbox_${code}`)) return
  const { id } = newCoupon(deps, { id: `coupon_sandbox_${code}`, ...coupon })
  newPromotionCode(deps, `promo_sandbox_${code}`, code, id)
}

export function promotionByCode(
  deps: Pick<ProcessorDeps, 'db'>,
  code: string,
): Stripe.PromotionCode | undefined {
  return findOne<Stripe.PromotionCode>(
    deps.db,
    'promotion_code',
    (one) => one.active && one.code.toLowerCase() === code.trim().toLowerCase(),
  )
}

/** `discounts[0][coupon]` or `discounts[0][promotion_code]`. @throws Fault 400 for what cannot be used. */
export function offersIn(
  deps: ProcessorDeps,
  form: Form,
  sold: { currency: string; customer: string | null },
): Offer[] {
  return groups(form, 'discounts').map((one, index) => {
    const at = `discounts[${index}]`
    played(one, ['coupon', 'promotion_code'], at)
    const promotionId = optionalText(one, 'promotion_code')
    const promotion = promotionId
      ? mustParam<Stripe.PromotionCode>(
          deps.db,
          'promotion_code',
          promotionId,
          `${at}[promotion_code]`,
        )
      : null
    const couponId = promotion ? String(promotion.promotion.coupon) : text(one, 'coupon')
    const offer = {
      coupon: mustParam<Stripe.Coupon>(deps.db, 'coupon', couponId, `${at}[coupon]`),
      promotion,
    }
    const why = whyUnusable(deps, offer, sold)
    if (why) throw badParameter(promotion ? `${at}[promotion_code]` : `${at}[coupon]`, why)
    return offer
  })
}

/** The processor's words for an offer that does not hold here; null where it does. */
export function whyUnusable(
  deps: ProcessorDeps,
  { coupon, promotion }: Offer,
  sold: { currency: string | null; customer: string | null },
): string | null {
  const now = seconds(deps)
  const isUsedUp = (one: { max_redemptions: number | null; times_redeemed: number }) =>
    one.max_redemptions !== null && one.times_redeemed >= one.max_redemptions
  if (
    !coupon.valid ||
    isUsedUp(coupon) ||
    (coupon.redeem_by !== null && coupon.redeem_by !== undefined && coupon.redeem_by <= now)
  )
    return `Coupon expired: ${coupon.id}`
  // So much off in dollars is nothing off in yen.
  if (coupon.currency && sold.currency && coupon.currency !== sold.currency)
    return `The coupon's currency (${coupon.currency}) is not that of what is sold (${sold.currency}).`
  if (!promotion) return null
  if (
    !promotion.active ||
    isUsedUp(promotion) ||
    (promotion.expires_at ?? Number.POSITIVE_INFINITY) <= now
  )
    return 'This promotion code is not active.'
  if (promotion.customer && promotion.customer !== sold.customer)
    return 'This promotion code is for another customer.'
  if (
    promotion.restrictions.first_time_transaction &&
    sold.customer &&
    findOne<Stripe.Charge>(deps.db, 'charge', (one) => one.customer === sold.customer && one.paid)
  )
    return 'This promotion code cannot be redeemed because the associated customer has prior transactions.'
  return null
}

/** A discount that nobody has: for asking what it would take off. */
export function passingDiscount(
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

/** The discount that a customer has from now on, counted against the limits of its coupon and code. */
export function giveDiscount(
  deps: ProcessorDeps,
  offer: Offer,
  to: { customer: string | null; subscription: string | null; session: string | null },
): Stripe.Discount {
  const discount: Stripe.Discount = {
    ...passingDiscount(deps, offer, to.customer),
    checkout_session: to.session,
    subscription: to.subscription,
  }
  const { coupon, promotion } = offer
  put(deps.db, discount, { owner: to.customer ?? '' })
  put(deps.db, { ...coupon, times_redeemed: coupon.times_redeemed + 1 })
  if (promotion) put(deps.db, { ...promotion, times_redeemed: promotion.times_redeemed + 1 })
  emit(deps, 'customer.discount.created', discount)
  return discount
}

/** Those of a subscription that still hold at a moment. */
export function discountsAt(
  deps: Pick<ProcessorDeps, 'db'>,
  subscription: Stripe.Subscription,
  at: number,
) {
  return subscription.discounts
    .map((id) => get<Stripe.Discount>(deps.db, String(id)))
    .filter((one) => one !== undefined && (one.end === null || one.end > at)) as Stripe.Discount[]
}

export const couponOf = (
  deps: Pick<ProcessorDeps, 'db'>,
  discount: Stripe.Discount,
): Stripe.Coupon => must<Stripe.Coupon>(deps.db, 'coupon', String(discount.source.coupon))

/** A coupon that holds once is used up by the first invoice that it took something off. */
export function withoutUsedUp(
  deps: ProcessorDeps,
  subscription: Stripe.Subscription,
  used: readonly string[],
): Stripe.Subscription {
  const gone = used
    .map((id) => must<Stripe.Discount>(deps.db, 'discount', id))
    .filter((one) => couponOf(deps, one).duration === 'once')
  if (gone.length === 0) return subscription
  for (const one of gone) emit(deps, 'customer.discount.deleted', one)
  return {
    ...subscription,
    discounts: subscription.discounts.filter((id) => !gone.some((one) => one.id === id)),
  }
}

/** Cents taken off a sum, never more than the sum. */
export function discountOn(cents: number, coupon: Stripe.Coupon | undefined): number {
  if (!coupon) return 0
  const off =
    coupon.percent_off !== null
      ? Math.round((cents * coupon.percent_off) / 100)
      : (coupon.amount_off ?? 0)
  return Math.min(cents, off)
}
