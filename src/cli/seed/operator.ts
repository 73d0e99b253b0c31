/** The superuser of the seeded year, who uses the API of the operator's pages. */
import type { Config } from '#config/config.ts'
import { call } from '../tour/client.ts'
import { BROWSERS } from './pages.ts'

type Row = { id: string; email: string; is_closed?: boolean }

export class Operator {
  readonly #api: string
  readonly #credentials: { email: string; password: string }

  constructor({ http }: Pick<Config, 'http'>, credentials: { email: string; password: string }) {
    this.#api = `http://127.0.0.1:${http.port}`
    this.#credentials = credentials
  }

  /** Moves the clock; due events such as renewals happen on the way. */
  async moveClock(to: string): Promise<void> {
    await call('POST', `${this.#api}/sandbox/processor/clock`, { json: { to } })
  }

  async invite(email: string): Promise<void> {
    const { post } = await this.#signIn()
    await post('/api/admin/invitations', { email })
  }

  /** Answers the newest message of this address, and closes it. */
  async reply(to: string, message: string): Promise<void> {
    const { get, post } = await this.#signIn()
    const { messages } = await get('/api/admin/contact-messages?open=true&limit=100')
    const inbox = `/api/admin/contact-messages/${findRow(messages, to).id}`
    await post(`${inbox}/reply`, { message })
    await post(`${inbox}/close`, { closed: true })
  }

  async refundPurchase(email: string): Promise<void> {
    const { get, post } = await this.#signIn()
    const { purchases } = await get(`/api/admin/purchases?q=${encodeURIComponent(email)}`)
    const order = (purchases as Row[])[0]
    if (!order) throw new Error(`${email} has no purchase to refund`)
    await post(`/api/admin/purchases/${order.id}/refund`, { reason: 'Bought by mistake' })
  }

  /** Refunds the last payment of the plan, which ends it. */
  async refundPlan(email: string): Promise<void> {
    const { get, post } = await this.#signIn()
    const { users } = await get(`/api/admin/users?find=${encodeURIComponent(email)}`)
    const { payments } = await get(`/api/admin/users/${findRow(users, email).id}`)
    const payment = (payments as Row[])[0]
    if (!payment) throw new Error(`${email} has no payment to refund`)
    await post(`/api/admin/payments/${payment.id}/refund`, { reason: 'Could not use the plan' })
  }

  /** Signs in each time: days lie between two acts, and refunds need a fresh sign-in. */
  async #signIn() {
    const { body } = await call('POST', `${this.#api}/api/auth/login`, {
      json: this.#credentials,
      headers: BROWSERS.laptop,
    })
    const as = { bearer: String(body.access_token), headers: BROWSERS.laptop }
    return {
      get: async (path: string) => (await call('GET', `${this.#api}${path}`, as)).body,
      post: (path: string, json: object) => call('POST', `${this.#api}${path}`, { ...as, json }),
    }
  }
}

function findRow(rows: unknown, email: string): Row {
  const row = (rows as Row[]).find((one) => one.email === email)
  if (!row) throw new Error(`the operator finds nothing of ${email}`)
  return row
}
