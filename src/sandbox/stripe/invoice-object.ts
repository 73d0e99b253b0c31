/** Fields that are equal on all invoices of the sandbox, as in the real API. */
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
  collection_method: 'charge_automatically',
  customer_tax_exempt: 'none',
  default_tax_rates: [],
  issuer: { type: 'self' },
  payment_settings: {
    default_mandate: null,
    payment_method_options: null,
    payment_method_types: null,
  },
  post_payment_credit_notes_amount: 0,
  pre_payment_credit_notes_amount: 0,
  total_pretax_credit_amounts: [],
}
