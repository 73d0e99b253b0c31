// Uses everything that the product sells and records the product's calls to the payment processor
// with the sandbox's replies.

import { PASSWORD } from '#testing/app.ts'
import { openShop } from '#testing/buyer.ts'
import { ASKS_ONCE, createShop, FAILS_AT_RENEWAL, intercept, PRICES } from '#testing/shop.ts'
import { SUBSCRIPTION_STATES } from '#testing/subscription-states.ts'

export type Call = {
  method: string
  path: string
  body: string
  version: string
  status: number
  reply: string
}

const AT = '/sandbox/stripe'

export async function recordedCalls(): Promise<Call[]> {
  const ends: (() => unknown)[] = []
  try {
    const store = await openShop({
      after: (end: unknown) => void ends.push(end as () => unknown),
    } as never)
    store.holdDebits()
    const calls: Call[] = []
    record(store.app, calls)
    await walk(store)
    return calls
  } finally {
    for (const end of ends) await end()
  }
}

/** Records the raw bytes, because a stream can be read only once. */
function record(app: Parameters<typeof intercept>[0], calls: Call[]): void {
  intercept(app, (request, response) => {
    const { method = '', url = '', headers } = request
    if (!url.startsWith(`${AT}/`)) return false
    const sent: Buffer[] = []
    const emit = request.emit.bind(request)
    request.emit = ((name: string, ...values: unknown[]) => {
      if (name === 'data') sent.push(Buffer.from(values[0] as Buffer))
      return emit(name, ...values)
    }) as typeof request.emit
    const end = response.end.bind(response) as (...values: unknown[]) => typeof response
    response.end = ((...values: unknown[]) => {
      const version = String(headers['stripe-version'] ?? '')
      const reply =
        typeof values[0] === 'string' || Buffer.isBuffer(values[0]) ? String(values[0]) : ''
      const body = Buffer.concat(sent).toString()
      calls.push({
        method,
        path: url.slice(AT.length),
        body,
        version,
        status: response.statusCode,
        reply,
      })
      return end(...values)
    }) as typeof response.end
    return false
  })
}

async function walk(store: Awaited<ReturnType<typeof openShop>>): Promise<void> {
  const shop = createShop(store.app)
  const { billing } = store.app.service
  for (const [index, { bring }] of SUBSCRIPTION_STATES.entries()) {
    const client = await store.as(`walk-${index}`)
    await bring(shop, client)
    await client.get('/api/billing/invoices')
  }
  await store.settle()

  const ada = await store.as('ada')
  await ada.get('/api/billing/plans')
  await shop.processor.promotionCodes.list({ code: 'WELCOME10' })
  const opened = await ada.post(
    `/api/billing/create-checkout-session?price_id=${PRICES.pro}&promotion_code=WELCOME10`,
  )
  await shop.pay(opened.body.url)
  for (const price_id of [PRICES.enterprise, PRICES.pro, PRICES.enterprise]) {
    const { body } = await ada.post('/api/billing/change/preview', { price_id })
    await ada.post('/api/billing/change', { price_id, proration_at: body.proration_at })
  }
  for (const flow of ['?flow=card', '?flow=cancel', ''])
    await ada.post(`/api/billing/create-portal-session${flow}`)
  await shop.portal(ada, 'cancel-at-end')
  await ada.post('/api/billing/resume')
  const user = await store.platform.db
    .selectFrom('users')
    .selectAll()
    .where('id', '=', ada.userId)
    .executeTakeFirstOrThrow()
  await billing.makeDeal(user, { tier: 'pro', interval: 'month', amount: 19.5 })
  await billing.movePrice(PRICES.pro, 'price_sandbox_pro_monthly').catch(() => {})

  const buyer = await store.buyer('buyer')
  for (const [tier, card] of [
    ['basic', undefined],
    ['pro', ASKS_ONCE],
  ] as const) {
    const url = (await buyer.get(`/api/checkout?tier=${tier}`)).headers.get('location') ?? ''
    const reply = await shop.pay(url, card)
    const next = new URL(reply.headers.get('location') ?? '', store.url)
    if (next.pathname.startsWith('/sandbox/confirm/'))
      await shop.press(next.pathname, { answer: 'complete' })
    else await buyer.get(next.pathname + next.search)
  }
  const charges = (await shop.processor.charges.list({ limit: 100 })).data.filter(
    ({ status }) => status === 'succeeded',
  )
  const press = (index: number, action: string) =>
    shop.press(`/sandbox/processor/charges/${charges[index]?.id}/${action}`)
  await press(0, 'refund')
  await press(1, 'dispute')
  await press(2, 'refund')
  await press(2, 'fail-refund')
  await store.settle()
  await billing.sync()
  await billing.reportDisagreements()
  await shop.processor.webhookEndpoints.list({ limit: 100 })
  await shop.processor.events.list({ limit: 100 })
  // A pause that a declined card does not end leaves a void invoice. A changed address is reported
  // to the processor. Open checkouts are closed with the account.
  const eve = await store.as('eve')
  await shop.subscribe(eve, { card: FAILS_AT_RENEWAL })
  await shop.pause(eve)
  await eve.post('/api/billing/resume')
  await store.platform.db
    .updateTable('users')
    .set({ email: 'ada@example.org' })
    .where('id', '=', ada.userId)
    .execute()
  await ada.post('/api/billing/create-portal-session')
  await ada.post(`/api/billing/create-checkout-session?price_id=${PRICES.enterprise}`)
  await ada.delete('/api/users/me', { password: PASSWORD })
  await store.settle()
}
