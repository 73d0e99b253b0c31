// Every state of a subscription, the steps that lead to it, and the service's view of it: for the
// tests of the API and the browser.
import type { Client } from './app.ts'
import { ASKS_ALWAYS, type createShop, PRICES, SLOW_DEBIT } from './shop.ts'

type ShopHands = ReturnType<typeof createShop>

export type SubscriptionState = {
  name: string
  /** From a new account; leaves the state as its end. */
  bring: (shop: ShopHands, client: Client) => Promise<unknown>
  /**
   * `status`, `tier`, `processor_status` and `payment_status` of `GET /api/billing/subscription`.
   */
  says: [status: string, tier: string, processorStatus: string | null, paymentStatus: string | null]
  /** The answer of access control at a route of paid plans. */
  gate: 200 | 403
  /** The badge of the billing page, and words of it. */
  badge: string
  words: RegExp
  /** The button to press. */
  button: string | null
}

const FAILING_DEBIT = '000111111116'

const checkout = async (client: Client, price: string = PRICES.pro) =>
  (await client.post(`/api/billing/create-checkout-session?price_id=${price}`)).body.url as string
const startConfirmation = async (shop: ShopHands, client: Client) => {
  const reply = await shop.pay(await checkout(client), ASKS_ALWAYS)
  return new URL(reply.headers.get('location') ?? '').pathname
}
const confirmed = async (shop: ShopHands, client: Client) =>
  shop.press(await startConfirmation(shop, client), { answer: 'complete' })
const invoicePage = async (client: Client) =>
  new URL((await client.post('/api/billing/create-payment-session')).body.url).pathname

/** Needs a sandbox whose bank debits are held. */
export const SUBSCRIPTION_STATES: readonly SubscriptionState[] = [
  {
    name: 'never subscribed',
    bring: async () => {},
    says: ['free', 'free', null, null],
    gate: 403,
    badge: 'No subscription',
    words: /No billing account yet/,
    button: 'See plans',
  },
  {
    name: 'a first payment to be confirmed',
    bring: startConfirmation,
    says: ['free', 'free', 'incomplete', 'requires_action'],
    gate: 403,
    badge: 'Confirmation needed',
    words: /Confirm your payment with your bank/,
    button: 'Confirm payment',
  },
  {
    name: 'a first payment whose confirmation failed',
    bring: async (shop, client) =>
      shop.press(await startConfirmation(shop, client), { answer: 'fail' }),
    says: ['free', 'free', 'incomplete', 'requires_payment_method'],
    gate: 403,
    badge: 'No subscription',
    words: /Free plan/,
    button: 'See plans',
  },
  {
    name: 'a first debit under way',
    bring: async (shop, client) => shop.pay(await checkout(client), SLOW_DEBIT),
    says: ['free', 'free', 'incomplete', 'processing'],
    gate: 403,
    badge: 'Payment processing',
    words: /starts when the payment arrives/,
    button: null,
  },
  {
    name: 'a first debit that bounced',
    async bring(shop, client) {
      await shop.pay(await checkout(client), FAILING_DEBIT)
      const { customer } = await shop.readSubscription(client)
      const [charge] = (await shop.processor.charges.list({ customer: String(customer) })).data
      await shop.press(`/sandbox/processor/charges/${charge?.id}/bounce`)
    },
    says: ['cancelled', 'free', null, null],
    gate: 403,
    badge: 'Cancelled',
    words: /has ended/,
    button: 'See plans',
  },
  {
    name: 'active',
    bring: (shop, client) => shop.subscribe(client),
    says: ['active', 'pro', 'active', null],
    gate: 200,
    badge: 'Active',
    words: /Renews on .*\$29 per month/,
    button: 'Change plan',
  },
  {
    name: 'active, another checkout to be confirmed',
    async bring(shop, client) {
      await shop.subscribe(client)
      shop.later()
      await shop.pay(await checkout(client, PRICES.enterprise), ASKS_ALWAYS)
    },
    says: ['active', 'pro', 'active', null],
    gate: 200,
    badge: 'Active',
    words: /Enterprise replaces your plan/,
    button: 'Confirm payment',
  },
  {
    name: 'active, an earlier checkout left behind',
    async bring(shop, client) {
      await startConfirmation(shop, client)
      shop.later()
      await shop.subscribe(client, { price: PRICES.enterprise })
    },
    says: ['active', 'enterprise', 'active', null],
    gate: 200,
    badge: 'Active',
    words: /You don’t need to confirm it/,
    button: 'Change plan',
  },
  {
    name: 'active, a smaller plan to come',
    async bring(shop, client) {
      await shop.subscribe(client, { price: PRICES.enterprise })
      const { body } = await client.post('/api/billing/change/preview', { price_id: PRICES.pro })
      await client.post('/api/billing/change', {
        price_id: PRICES.pro,
        proration_at: body.proration_at,
      })
    },
    says: ['active', 'enterprise', 'active', null],
    gate: 200,
    badge: 'Active',
    words: /Becomes Pro on .* for \$29 per month/,
    button: 'Change plan',
  },
  {
    name: 'active, cancelled for its end',
    async bring(shop, client) {
      await shop.subscribe(client)
      await shop.portal(client, 'cancel-at-end')
    },
    says: ['active', 'pro', 'active', null],
    gate: 200,
    badge: 'Ends soon',
    words: /You keep full access until then/,
    button: 'Keep plan',
  },
  {
    name: 'past due',
    async bring(shop, client) {
      await shop.subscribe(client)
      await shop.portal(client, 'renew-badly')
    },
    says: ['past_due', 'pro', 'past_due', 'requires_payment_method'],
    gate: 200,
    badge: 'Payment due',
    words: /stays active until/,
    button: 'Pay now',
  },
  {
    name: 'past due, to be confirmed',
    async bring(shop, client) {
      await confirmed(shop, client)
      await shop.portal(client, 'renew-well')
    },
    says: ['past_due', 'pro', 'past_due', 'requires_action'],
    gate: 200,
    badge: 'Payment due',
    words: /Confirm the payment to keep it/,
    button: 'Confirm payment',
  },
  {
    name: 'past due, a debit under way',
    async bring(shop, client) {
      await shop.subscribe(client)
      await shop.portal(client, 'renew-badly')
      await shop.press(await invoicePage(client), { card: SLOW_DEBIT })
      // The processor announces no changed subscription: the next reading finds it.
      await shop.portal(client, 'resume')
    },
    says: ['past_due', 'pro', 'past_due', 'processing'],
    gate: 200,
    badge: 'Payment due',
    words: /can take some days/,
    button: 'Cancel plan',
  },
  {
    name: 'unpaid',
    async bring(shop, client) {
      await shop.subscribe(client)
      await shop.portal(client, 'give-up')
    },
    says: ['past_due', 'free', 'unpaid', 'requires_payment_method'],
    gate: 403,
    badge: 'Payment due',
    words: /^Pro plan.*costs \$29 per month.*suspended until the payment goes through/,
    button: 'Pay now',
  },
  {
    name: 'paused',
    async bring(shop, client) {
      await shop.subscribe(client)
      await shop.pause(client)
    },
    says: ['past_due', 'free', 'paused', null],
    gate: 403,
    badge: 'Paused',
    words: /^Pro plan.*while your plan is paused/,
    button: 'Resume',
  },
  {
    name: 'paused, its end to be confirmed',
    async bring(shop, client) {
      await confirmed(shop, client)
      await shop.pause(client)
      await client.post('/api/billing/resume')
    },
    says: ['past_due', 'free', 'paused', 'requires_action'],
    gate: 403,
    badge: 'Paused',
    words: /resumes when you confirm/,
    button: 'Confirm payment',
  },
  {
    name: 'ended',
    async bring(shop, client) {
      await shop.subscribe(client)
      await shop.portal(client, 'cancel-now')
    },
    says: ['cancelled', 'free', null, null],
    gate: 403,
    badge: 'Cancelled',
    words: /has ended/,
    button: 'See plans',
  },
  {
    name: 'subscribed again',
    async bring(shop, client) {
      await shop.subscribe(client)
      await shop.portal(client, 'cancel-now')
      await shop.subscribe(client)
    },
    says: ['active', 'pro', 'active', null],
    gate: 200,
    badge: 'Active',
    words: /Renews on/,
    button: 'Change plan',
  },
  {
    name: 'ended with its customer',
    async bring(shop, client) {
      await shop.subscribe(client)
      await shop.processor.customers.del(
        (await shop.subscription(client)).processor_customer_id ?? '',
      )
      await shop.reconcile()
    },
    says: ['cancelled', 'free', null, null],
    gate: 403,
    badge: 'Cancelled',
    words: /billing account was closed/,
    button: 'See plans',
  },
]
