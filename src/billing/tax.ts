/**
 * Tax parameters of a checkout: none (TAX=off), Stripe Tax with the operator's registrations
 * (`stripe`), or Stripe as the merchant of record (`managed`), which sets all parameters itself and
 * rejects ours.
 */
import type { Stripe } from 'stripe'
import type { Config } from '#config/config.ts'

type Terms = Pick<
  Stripe.Checkout.SessionCreateParams,
  | 'automatic_tax'
  | 'consent_collection'
  | 'custom_text'
  | 'customer_update'
  | 'invoice_creation'
  | 'managed_payments'
  | 'tax_id_collection'
>

/**
 * EU directive 2011/83, article 16: a consumer who requests immediate delivery, and acknowledges
 * it, loses the right of withdrawal.
 */
const CONSENT = {
  payment:
    'I agree to the terms of service. I request immediate delivery and acknowledge that I lose my right of withdrawal once it begins.',
  subscription:
    'I agree to the terms of service. I request that the service starts immediately and acknowledge that I must pay for what I have used if I withdraw.',
} as const

/** `hasCustomer`: saves the address, name and tax id typed at checkout with the customer. */
export function buildTaxParameters(
  { tax }: Config['processor'],
  {
    mode,
    hasCustomer,
    metadata,
  }: { mode: keyof typeof CONSENT; hasCustomer: boolean; metadata: Record<string, string> },
): Terms {
  if (tax.by === 'off') return {}
  if (tax.by === 'managed') return { managed_payments: { enabled: true } }
  return {
    automatic_tax: { enabled: true },
    tax_id_collection: { enabled: true },
    ...(hasCustomer ? { customer_update: { address: 'auto', name: 'auto' } } : {}),
    // Subscriptions always have invoices.
    ...(mode === 'payment'
      ? { invoice_creation: { enabled: true, invoice_data: { metadata } } }
      : {}),
    consent_collection: { terms_of_service: 'required' },
    custom_text: { terms_of_service_acceptance: { message: CONSENT[mode] } },
  }
}

/** Returns true when an open checkout has the present tax settings. */
export function isTaxCurrent(
  { tax }: Config['processor'],
  session: Stripe.Checkout.Session,
): boolean {
  const by = session.managed_payments?.enabled
    ? 'managed'
    : session.automatic_tax?.enabled
      ? 'stripe'
      : 'off'
  return by === tax.by
}
