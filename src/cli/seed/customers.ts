/**
 * The customers of the seeded year, who use the service over HTTP and pay on the sandbox's pages.
 */
import { FREE } from '#catalogue/catalogue.ts'
import type { Config } from '#config/config.ts'
import { call } from '../tour/client.ts'
import type { Card } from './cast.ts'
import { BROWSERS, sendForm } from './pages.ts'
import type { Device } from './script.ts'
import type { Message, SeedFile } from './texts.ts'

/** Test cards of the sandbox's processor. */
const CARDS: Record<Card, string> = {
  good: '4242424242424242',
  other: '5200828282828210',
  'expires soon': '5555555555554444',
  'fails at renewal': '4000000000000341',
  disputed: '4000000000000259',
}

export type Plan = { tier: string; isYearly: boolean }
type OfferedPlan = { tier: string; price_monthly?: string; price_yearly?: string }

export class Customers {
  readonly #api: string
  readonly #store: string
  readonly #password: string
  readonly #bearers = new Map<string, string>()
  readonly #cookies = new Map<string, string>()
  readonly #keys = new Map<string, { id: string; secret: string }>()
  readonly #tiers = new Map<string, string>()

  constructor({ http }: Pick<Config, 'http'>, password: string) {
    this.#api = `http://127.0.0.1:${http.port}`
    this.#store = `http://127.0.0.1:${http.storefrontPort}`
    this.#password = password
  }

  /** Returns the id of a customer's API key, or null. */
  findKey(email: string): string | null {
    return this.#keys.get(email)?.id ?? null
  }

  /** Returns the tier of a customer's latest plan. */
  findTier(email: string): string {
    return this.#tiers.get(email) ?? FREE
  }

  /** Signs in for half an hour, the life of an access token. */
  async signIn(email: string, device: Device): Promise<void> {
    const { body } = await call('POST', `${this.#api}/api/auth/login`, {
      json: { email, password: this.#password },
      headers: BROWSERS[device],
    })
    this.#bearers.set(email, String(body.access_token))
  }

  async mistypePassword(email: string): Promise<void> {
    const json = { email, password: this.#password.slice(1) }
    await call('POST', `${this.#api}/api/auth/login`, { json, headers: BROWSERS.phone }, [401])
  }

  async subscribe(email: string, plan: Plan, card: Card): Promise<void> {
    const price = encodeURIComponent(await this.#findPrice(plan))
    const checkout = `/api/billing/create-checkout-session?price_id=${price}`
    await this.#pay(String((await this.#post(email, checkout)).url), email, card)
    this.#tiers.set(email, plan.tier)
  }

  async changePlan(email: string, plan: Plan): Promise<void> {
    const price_id = await this.#findPrice(plan)
    const { proration_at } = await this.#post(email, '/api/billing/change/preview', { price_id })
    await this.#post(email, '/api/billing/change', { price_id, proration_at })
    this.#tiers.set(email, plan.tier)
  }

  /** Cancels the plan at the end of its paid period. */
  async cancel(email: string): Promise<void> {
    const { url } = await this.#post(email, '/api/billing/create-portal-session?flow=cancel')
    const choice = { choice: 'cancel', feedback: 'too_expensive', comment: '' }
    await sendForm(this.#api, String(url), choice)
  }

  async pause(email: string): Promise<void> {
    await this.#post(email, '/api/billing/pause')
  }

  async resume(email: string): Promise<void> {
    await this.#post(email, '/api/billing/resume')
  }

  async issueKey(email: string): Promise<void> {
    const { id, key } = await this.#post(email, '/api/api-keys', { name: 'laptop' }, [201])
    this.#keys.set(email, { id: String(id), secret: String(key) })
  }

  async useKey(email: string): Promise<void> {
    await call('POST', `${this.#api}/api/ai/completions`, {
      bearer: this.#keys.get(email)?.secret ?? '',
      json: { prompt: 'Write a friendly reminder for an unpaid invoice.' },
    })
  }

  /** Buys a product at the storefront, which has a separate session. */
  async buy(email: string, tier: string, card: Card): Promise<void> {
    const signedIn = await call('POST', `${this.#store}/api/session`, {
      json: { email, password: this.#password },
      headers: BROWSERS.laptop,
    })
    const cookie = signedIn.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ')
    this.#cookies.set(email, cookie)
    const checkout = `${this.#store}/api/checkout?tier=${encodeURIComponent(tier)}`
    const { headers } = await call(
      'GET',
      checkout,
      { cookie, headers: BROWSERS.laptop },
      [302, 303],
    )
    await this.#pay(headers.get('location') ?? '', email, card)
  }

  /** Downloads the latest purchase, and activates its license on a machine. */
  async download(email: string): Promise<void> {
    const { headers } = await call('GET', `${this.#store}/api/download`, {
      cookie: this.#cookies.get(email) ?? '',
      headers: BROWSERS.laptop,
    })
    const license_key = headers.get('x-license-key')
    const machine = { fingerprint: `machine of ${email}`, name: 'Laptop', platform: 'linux-x64' }
    await call(
      'POST',
      `${this.#store}/api/license/activate`,
      { json: { license_key, ...machine } },
      [201],
    )
  }

  async upload(email: string, { name, type, content }: SeedFile): Promise<void> {
    const form = new FormData()
    form.set('file', new Blob([content], { type }), name)
    await call('POST', `${this.#api}/api/rag/ingest/file`, { ...this.#asCustomer(email), form })
  }

  /** Asks the questions in one conversation, each after the answer to the one before. */
  async ask(email: string, questions: readonly string[]): Promise<void> {
    const { id } = await this.#post(email, '/api/conversations', {}, [201])
    let parent_id: string | null = null
    for (const text of questions) {
      const { text: events } = await call('POST', `${this.#api}/api/conversations/${id}/messages`, {
        ...this.#asCustomer(email),
        json: { parent_id, parts: [{ type: 'text', text }] },
      })
      if (!events.includes('data: [DONE]'))
        throw new Error(`an answer to ${email} is incomplete: ${events.slice(-300)}`)
      parent_id = /^event: message\ndata: \{"id":"([^"]+)"/m.exec(events)?.[1] ?? null
    }
  }

  async write(message: Message): Promise<void> {
    await call('POST', `${this.#store}/api/contact`, { json: message, headers: BROWSERS.laptop })
  }

  async #findPrice({ tier, isYearly }: Plan): Promise<string> {
    const { body } = await call('GET', `${this.#api}/api/billing/plans`)
    const plan = (body.plans as OfferedPlan[]).find((one) => one.tier === tier)
    const [first, second] = [plan?.price_monthly, plan?.price_yearly]
    return (isYearly ? (second ?? first) : (first ?? second)) ?? ''
  }

  async #pay(url: string, email: string, card: Card): Promise<void> {
    await sendForm(this.#api, url, { card: CARDS[card], email })
  }

  #asCustomer(email: string) {
    return { bearer: this.#bearers.get(email) ?? '', headers: BROWSERS.laptop }
  }

  async #post(email: string, path: string, json?: object, expected = [200]) {
    const request = { ...this.#asCustomer(email), ...(json ? { json } : {}) }
    return (await call('POST', `${this.#api}${path}`, request, expected)).body
  }
}
