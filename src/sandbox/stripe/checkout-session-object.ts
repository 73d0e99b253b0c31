/** Fields of a checkout session that the sandbox never fills, as the real API shows them empty. */
import { blank } from './blank-fields.ts'
export const EMPTY_SESSION = {
  ...blank('checkout.session'),
  custom_fields: [],
  payment_method_options: {},
  payment_method_types: ['card', 'us_bank_account'],
  payment_status: 'unpaid',
  phone_number_collection: { enabled: false },
  shipping_options: [],
  status: 'open',
  ui_mode: 'hosted_page',
}
