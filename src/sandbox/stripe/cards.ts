/**
 * Test cards with the numbers of the processor's own test cards, and the outcome of a payment with
 * each.
 */
import type { Stripe } from 'stripe'
import { type ProcessorDeps, seconds } from './deps.ts'
import { newId, put } from './objects.ts'

export type Outcome =
  | { at: 'once' }
  | { at: 'later'; succeeds: boolean }
  | { at: 'never'; code: string; declineCode?: string; message: string }

export type TestCard = {
  number: string
  kind: 'card' | 'us_bank_account'
  name: string
  /** The hint shown with the card. */
  outcome: string
  first: Outcome
  /** Outcome of charges without the customer: renewals, retries. */
  renewal: Outcome
  /** The bank requires confirmation (3-D Secure) when the customer is present, or always. */
  asks?: 'first' | 'always'
  disputes?: true
  /** In four years otherwise. */
  expires?: 'next month'
}

const PAID: Outcome = { at: 'once' }
const DECLINED: Outcome = {
  at: 'never',
  code: 'card_declined',
  declineCode: 'generic_decline',
  message: 'Your card was declined.',
}
const NO_FUNDS: Outcome = {
  at: 'never',
  code: 'card_declined',
  declineCode: 'insufficient_funds',
  message: 'Your card has insufficient funds.',
}

export const TEST_CARDS: readonly TestCard[] = [
  {
    number: '4242424242424242',
    kind: 'card',
    name: 'Visa',
    outcome: 'succeeds',
    first: PAID,
    renewal: PAID,
  },
  {
    number: '5555555555554444',
    kind: 'card',
    name: 'Mastercard',
    outcome: 'succeeds, and expires next month',
    first: PAID,
    renewal: PAID,
    expires: 'next month',
  },
  {
    number: '5200828282828210',
    kind: 'card',
    name: 'Mastercard',
    outcome: 'succeeds',
    first: PAID,
    renewal: PAID,
  },
  {
    number: '4000000000000002',
    kind: 'card',
    name: 'Visa',
    outcome: 'is declined',
    first: DECLINED,
    renewal: DECLINED,
  },
  {
    number: '4000000000009995',
    kind: 'card',
    name: 'Visa',
    outcome: 'has no funds',
    first: NO_FUNDS,
    renewal: NO_FUNDS,
  },
  {
    number: '4000000000000341',
    kind: 'card',
    name: 'Visa',
    outcome: 'succeeds now, renewals fail',
    first: PAID,
    renewal: DECLINED,
  },
  {
    number: '4000002500003155',
    kind: 'card',
    name: 'Visa',
    outcome: 'needs confirmation by the bank now, not for renewals',
    first: PAID,
    renewal: PAID,
    asks: 'first',
  },
  {
    number: '4000000000003220',
    kind: 'card',
    name: 'Visa',
    outcome: 'needs confirmation by the bank each time, including renewals',
    first: PAID,
    renewal: PAID,
    asks: 'always',
  },
  {
    number: '4000000000000259',
    kind: 'card',
    name: 'Visa',
    outcome: 'succeeds, then the owner disputes it',
    first: PAID,
    renewal: PAID,
    disputes: true,
  },
  {
    number: '000123456789',
    kind: 'us_bank_account',
    name: 'Bank debit',
    outcome: 'is paid some seconds later',
    first: { at: 'later', succeeds: true },
    renewal: PAID,
  },
  {
    number: '000111111116',
    kind: 'us_bank_account',
    name: 'Bank debit',
    outcome: 'fails some seconds later',
    first: { at: 'later', succeeds: false },
    renewal: DECLINED,
  },
]

export function cardByNumber(number: string): TestCard | undefined {
  const digits = number.replace(/[\s-]/g, '')
  return TEST_CARDS.find((card) => card.number === digits)
}

/** Returns the card of a stored payment method; its number is stored separately. */
export function findCard(method: Stripe.PaymentMethod): TestCard {
  const number = method.metadata?.sandbox_number ?? ''
  const card = cardByNumber(number)
  if (!card) throw new Error(`payment method ${method.id} names no test card`)
  return card
}

export function keepMethod(
  deps: ProcessorDeps,
  card: TestCard,
  customer: string | null,
  holder: { name: string | null; email: string | null },
) {
  const last4 = card.number.slice(-4)
  const now = new Date(deps.clock.ms())
  const expiry = new Date(
    Date.UTC(
      now.getUTCFullYear() + (card.expires ? 0 : 4),
      card.expires ? now.getUTCMonth() + 1 : 11,
    ),
  )
  const method = {
    id: newId('pm'),
    object: 'payment_method',
    allow_redisplay: 'limited',
    billing_details: {
      address: null,
      email: holder.email,
      name: holder.name,
      phone: null,
      tax_id: null,
    },
    ...(card.kind === 'card'
      ? {
          card: {
            brand: card.name.toLowerCase(),
            checks: {
              address_line1_check: null,
              address_postal_code_check: null,
              cvc_check: 'pass',
            },
            country: 'US',
            display_brand: card.name.toLowerCase(),
            exp_month: expiry.getUTCMonth() + 1,
            exp_year: expiry.getUTCFullYear(),
            funding: 'credit',
            generated_from: null,
            last4,
            networks: { available: [card.name.toLowerCase()], preferred: null },
            regulated_status: 'unregulated',
            three_d_secure_usage: { supported: true },
            wallet: null,
            fingerprint: `sandbox${last4}`,
          },
        }
      : {
          us_bank_account: {
            bank_name: 'SANDBOX BANK',
            last4,
            account_type: 'checking',
            fingerprint: `sandbox${last4}`,
            account_holder_type: 'individual',
          },
        }),
    created: seconds(deps),
    customer,
    customer_account: null,
    livemode: false,
    metadata: { sandbox_number: card.number },
    type: card.kind,
  } as unknown as Stripe.PaymentMethod
  return put(deps, method, { owner: customer ?? '' })
}

/** `Visa •••• 4242` */
export function describeMethod(method: Stripe.PaymentMethod | undefined): string {
  if (!method) return 'none'
  return method.card
    ? `${findCard(method).name} •••• ${method.card.last4}`
    : `Bank account •••• ${method.us_bank_account?.last4}`
}

export const groupDigits = (number: string) => number.replace(/(\d{4})(?=\d)/g, '$1 ')
