/** The parameters of the hosted checkout of a sale. */
import type { Stripe } from 'stripe'
import { buildTaxParameters } from '#billing/tax.ts'
import type { Tier } from '#catalogue/catalogue.ts'
import type { Config } from '#config/config.ts'
import type { Locale } from '#platform/locale.ts'
import type { Promotion } from '../orders/promotions.ts'
import type { Quote } from '../orders/quotes.ts'
import { WAIVERS } from '../withdrawals/waiver.ts'
import { buildMembersMetadata } from './payment-events.ts'

/** A sale: what is charged, and the promotion that the buyer entered before the payment page. */
export type Sale = Quote & {
  promotion: Promotion | null
  /** The version of the waiver that the buyer agreed to before the payment page. */
  waiver: string | null
  /** The products of a bundle. */
  members: readonly Tier[]
}

/** The buyer in the metadata: a user, or a guest by the mark of this shop. */
export type Buyer = { user_id: string } | { guest: string }

/** `locale`: the language of the payment page; without it, the browser's. */
export type Payer = { customer?: string; customer_email?: string; locale?: Locale }

export function buildSession(
  config: Config,
  sale: Sale,
  buyer: Buyer,
  payer: Payer,
): Stripe.Checkout.SessionCreateParams {
  const { by, behavior } = config.processor.tax
  const metadata = buildMetadata(config, buyer, sale)
  return {
    mode: 'payment',
    line_items: [
      {
        quantity: 1,
        price_data: {
          currency: sale.product.currency,
          unit_amount: sale.cents,
          product_data: productData(config, sale),
          ...(by === 'stripe' ? { tax_behavior: behavior } : {}),
        },
      },
    ],
    ...(sale.promotion
      ? { discounts: [sale.promotion.discount] }
      : { allow_promotion_codes: true }),
    ...payer,
    ...buildTaxParameters(config.processor, {
      mode: 'payment',
      hasCustomer: payer.customer !== undefined,
      metadata,
    }),
    metadata,
    payment_intent_data: { metadata },
    cancel_url: `${config.urls.storefront}/pricing?canceled=true`,
  }
}

/** Returns the facts from which the purchase is recorded. The buyer cannot change them. */
function buildMetadata(
  { processor }: Config,
  buyer: Buyer,
  { product, kind, from, promotion, waiver, members }: Sale,
) {
  // With Stripe Tax nobody pays without the same consent on the payment page.
  const version = processor.tax.by === 'stripe' ? WAIVERS.en.version : waiver
  return {
    ...buyer,
    tier: product.tier,
    ...buildMembersMetadata(members),
    ...(from ? { from_id: from.id, sale: kind } : {}),
    ...(promotion ? { code: promotion.code } : {}),
    ...(version === null ? {} : { waiver: version }),
  }
}

/** Returns true when an open checkout is for this sale at this price. */
export function matchesSale(
  config: Config,
  session: Stripe.Checkout.Session,
  buyer: Buyer,
  sale: Sale,
): boolean {
  const metadata = buildMetadata(config, buyer, sale)
  const has = session.metadata ?? {}
  return (
    session.currency === sale.product.currency &&
    session.amount_subtotal === sale.cents &&
    Object.keys({ ...has, ...metadata }).every(
      (name) => has[name] === (metadata as Record<string, string>)[name],
    )
  )
}

/**
 * The product as shown on the payment page. The processor rejects empty texts and more than eight
 * images.
 */
function productData(config: Config, { product, kind }: Sale) {
  const { name, features, images, taxCode } = product
  const note = { new: '', upgrade: ' (upgrade)', renewal: ' (updates)' }[kind]
  return {
    name: `${config.brand.name} ${name}${note}`,
    ...(features.length > 0 ? { description: features.join(' · ') } : {}),
    ...(images.length > 0 ? { images: images.slice(0, 8) } : {}),
    ...(taxCode === null ? {} : { tax_code: taxCode }),
  }
}
