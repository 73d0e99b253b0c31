/**
 * What a checkout asks for so that taxes are right: nothing (TAX=off), Stripe Tax on the operator's own registrations (`stripe`), or Stripe as
 * the merchant of record (`managed`), which then sets all of it itself and refuses to be told.
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

/** EU directive 2011/83, article 16: who asks for delivery at once, and knows it, cannot withdraw afterwards. */
const CONSENT = {
  payment:
    'I agree to the terms of service. I ask for delivery at once, and know that I cannot withdraw from the purchase after it.',
  subscription:
    'I agree to the terms of service. I ask that the service begins at once, and know that I pay for what I have used should I withdraw.',
} as const

/** `hasCustomer`: what they type at the checkout (address, name, tax id) is then kept with them. */
export function taxParameters(
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
    // A subscription has invoices anyway.
    ...(mode === 'payment'
      ? { invoice_creation: { enabled: true, invoice_data: { metadata } } }
      : {}),
    consent_collection: { terms_of_service: 'required' },
    custom_text: { terms_of_service_acceptance: { message: CONSENT[mode] } },
  }
}

/** True when a checkout that is open asks for what one of today would. */
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
