/**
 * Fields of an invoice that are the same on every one of the sandbox's, as the real API shows them.
 */
import { blank } from './blank-fields.ts'
export const INVOICE_CONSTANTS = {
  ...blank('invoice'),
  account_country: 'US',
  account_name: 'Sandbox',
  amount_overpaid: 0,
  amount_paid: 0,
  amount_paid_off_stripe: 0,
  amount_shipping: 0,
  attempt_count: 0,
  attempted: false,
  auto_advance: true,
  automatic_tax: {
    disabled_reason: null,
    enabled: false,
    liability: null,
    provider: null,
    status: null,
  },
  collection_method: 'charge_automatically',
  customer_tax_exempt: 'none',
  customer_tax_ids: [],
  default_tax_rates: [],
  discounts: [],
  ending_balance: 0,
  issuer: { type: 'self' },
  metadata: {},
  payment_settings: {
    default_mandate: null,
    payment_method_options: null,
    payment_method_types: null,
  },
  post_payment_credit_notes_amount: 0,
  pre_payment_credit_notes_amount: 0,
  starting_balance: 0,
  total_pretax_credit_amounts: [],
  total_taxes: [],
}
