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
const CODE = { at: 'never', code: 'card_declined' } as const
const DECLINED: Outcome = {
  ...CODE,
  declineCode: 'generic_decline',
  message: 'Your card was declined.',
}
const NO_FUNDS: Outcome = {
  ...CODE,
  declineCode: 'insufficient_funds',
  message: 'Your card has insufficient funds.',
}

/** A card that succeeds, apart from `more`. */
function card(
  number: string,
  name: string,
  outcome: string,
  more: Partial<TestCard> = {},
): TestCard {
  return { number, kind: 'card', name, outcome, first: PAID, renewal: PAID, ...more }
}

export const TEST_CARDS: readonly TestCard[] = [
  card('4242424242424242', 'Visa', 'succeeds'),
  card('5555555555554444', 'Mastercard', 'succeeds, and expires next month', {
    expires: 'next month',
  }),
  card('5200828282828210', 'Mastercard', 'succeeds'),
  card('4000000000000002', 'Visa', 'is declined', { first: DECLINED, renewal: DECLINED }),
  card('4000000000009995', 'Visa', 'has no funds', { first: NO_FUNDS, renewal: NO_FUNDS }),
  card('4000000000000341', 'Visa', 'succeeds now, renewals fail', { renewal: DECLINED }),
  card('4000002500003155', 'Visa', 'needs confirmation by the bank now, not for renewals', {
    asks: 'first',
  }),
  card('4000000000003220', 'Visa', 'needs confirmation by the bank each time, including renewals', {
    asks: 'always',
  }),
  card('4000000000000259', 'Visa', 'succeeds, then the owner disputes it', { disputes: true }),
  card('000123456789', 'Bank debit', 'is paid some seconds later', {
    kind: 'us_bank_account',
    first: { at: 'later', succeeds: true },
  }),
  card('000111111116', 'Bank debit', 'fails some seconds later', {
    kind: 'us_bank_account',
    first: { at: 'later', succeeds: false },
    renewal: DECLINED,
  }),
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
            checks: null,
            country: 'US',
            display_brand: card.name.toLowerCase(),
            exp_month: expiry.getUTCMonth() + 1,
            exp_year: expiry.getUTCFullYear(),
            funding: 'credit',
            generated_from: null,
            last4,
            networks: null,
            regulated_status: 'unregulated',
            three_d_secure_usage: null,
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
