/**
 * The customers of the seeded year, who use the service over HTTP and pay on the sandbox's pages.
 */
import { openProcessor } from '#billing/processor.ts'
import { FREE } from '#catalogue/catalogue.ts'
import type { Config } from '#config/config.ts'
import { call } from '../tour/client.ts'
import type { Card } from './script.ts'
import type { Message, SeedFile } from './texts.ts'

/** Test cards of the sandbox's processor. */
const CARDS: Record<Card, string> = {
  good: '4242424242424242',
  'fails at renewal': '4000000000000341',
  disputed: '4000000000000259',
}

const BROWSER = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0',
}

export function createCustomers({ http, processor }: Config, password: string) {
  const api = `http://127.0.0.1:${http.port}`
  const store = `http://127.0.0.1:${http.storefrontPort}`
  const bearers = new Map<string, string>()
  const keys = new Map<string, string>()
  const tiers = new Map<string, string>()
  const asCustomer = (email: string) => ({ bearer: bearers.get(email) ?? '', headers: BROWSER })

  return {
    /** The id of a customer's API key, or null. */
    keyOf: (email: string) => keys.get(email) ?? null,
    /** The tier of a customer's latest plan. */
    tierOf: (email: string) => tiers.get(email) ?? FREE,

    /** Moves the clock; due events such as renewals happen on the way. */
    async moveClock(to: string) {
      await call('POST', `${api}/sandbox/processor/clock`, { json: { to } })
    },

    /** Signs in for half an hour, the life of an access token. */
    async signIn(email: string) {
      const { body } = await call('POST', `${api}/api/auth/login`, {
        json: { email, password },
        headers: BROWSER,
      })
      bearers.set(email, String(body.access_token))
    },

    async subscribe(email: string, tier: string, card: Card) {
      const { body } = await call('GET', `${api}/api/billing/plans`)
      const plan = (body.plans as OfferedPlan[]).find((one) => one.tier === tier)
      const price = encodeURIComponent(plan?.price_monthly ?? plan?.price_yearly ?? '')
      const checkout = `${api}/api/billing/create-checkout-session?price_id=${price}`
      const { body: opened } = await call('POST', checkout, asCustomer(email))
      await pay(String(opened.url), email, card)
      tiers.set(email, tier)
    },

    /** Cancels the plan at the end of its paid period. */
    async cancel(email: string) {
      const portal = `${api}/api/billing/create-portal-session?flow=cancel`
      const { body } = await call('POST', portal, asCustomer(email))
      await press(String(body.url), { choice: 'cancel', feedback: 'too_expensive', comment: '' })
    },

    async issueKey(email: string) {
      const key = { ...asCustomer(email), json: { name: 'laptop' } }
      const { body } = await call('POST', `${api}/api/api-keys`, key, [201])
      keys.set(email, String(body.id))
    },

    /** Buys a product at the storefront, which has a separate session. */
    async buy(email: string, tier: string, card: Card) {
      const signedIn = await call('POST', `${store}/api/session`, {
        json: { email, password },
        headers: BROWSER,
      })
      const cookie = signedIn.headers
        .getSetCookie()
        .map((one) => one.split(';')[0])
        .join('; ')
      const checkout = `${store}/api/checkout?tier=${encodeURIComponent(tier)}`
      const { headers } = await call('GET', checkout, { cookie, headers: BROWSER }, [302, 303])
      await pay(headers.get('location') ?? '', email, card)
    },

    /** Refunds a customer's last payment at the processor, as the operator would. */
    async refund(email: string) {
      const stripe = openProcessor(processor)
      const { data = [] } = (await stripe?.charges.list({ limit: 100 })) ?? {}
      const paid = data.find(
        (charge) => charge.billing_details.email === email && charge.status === 'succeeded',
      )
      if (!stripe || !paid) throw new Error(`${email} has no payment to refund`)
      await stripe.refunds.create({ charge: paid.id, reason: 'requested_by_customer' })
    },

    async upload(email: string, { name, type, content }: SeedFile) {
      const form = new FormData()
      form.set('file', new Blob([content], { type }), name)
      await call('POST', `${api}/api/rag/ingest/file`, { ...asCustomer(email), form })
    },

    async write(message: Message) {
      await call('POST', `${store}/api/contact`, { json: message, headers: BROWSER })
    },
  }

  /** Pays a hosted checkout. */
  async function pay(url: string, email: string, card: Card) {
    await press(url, { card: CARDS[card], email })
  }

  /** Sends a form of a hosted page, whose link has the configured address. */
  async function press(url: string, fields: Record<string, string>) {
    await call(
      'POST',
      `${api}${new URL(url).pathname}`,
      { form: new URLSearchParams(fields) },
      [302, 303],
    )
  }
}

type OfferedPlan = { tier: string; price_monthly?: string; price_yearly?: string }
