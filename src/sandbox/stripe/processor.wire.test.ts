import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Fastify from 'fastify'
import { pino } from 'pino'
import { Stripe } from 'stripe'
import { openProcessor } from '#billing/processor.ts'
import { readConfig } from '#config/config.ts'
import { movableClock } from '#platform/clock.ts'
import { inMemory } from '#platform/content.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { createTemporaryFiles } from '#platform/temporary-files.ts'
import { createParser } from '#rag/ingest/parsers/parser.ts'
import { call } from '#testing/app.ts'
import { createSandbox } from '../sandbox.ts'

const PRO = 'price_sandbox_pro_monthly'
const ENTERPRISE = 'price_sandbox_enterprise_yearly'
const { plans, products } = readConfig({
  PRICE_PRO_MONTHLY: PRO,
  PRICE_ENTERPRISE_YEARLY: ENTERPRISE,
}).catalogue
const SECRET = 'whsec_test'
const BACK = 'http://localhost:1/done?session={CHECKOUT_SESSION_ID}'

/** Starts the sandbox with a fake product that records events and replies as configured. */
async function deps(t: Pick<TestContext, 'after'>) {
  const dataDir = mkdtempSync(join(tmpdir(), 'sandbox-'))
  const events: Stripe.Event[] = []
  const answers = { status: 200 }
  const clock = movableClock()
  const catching = { busy: Promise.resolve() }
  const product = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request)).toString()
    const event = Stripe.webhooks.constructEvent(
      body,
      String(request.headers['stripe-signature']),
      SECRET,
      300,
      undefined,
      clock.ms(),
    )
    events.push(event)
    response.writeHead(answers.status).end('{}')
  })
  const productPort = await new Promise<number>((resolve) =>
    product.listen(0, '127.0.0.1', () => resolve((product.address() as { port: number }).port)),
  )
  const endpoints = [
    { name: 'product', url: `http://127.0.0.1:${productPort}/hook`, secret: SECRET },
  ]

  const open = async () => {
    const sandbox = createSandbox({
      dataDir,
      clock,
      hands: { advance: (ms) => clock.advance(ms), catchUp: () => catching.busy },
      log: pino({ level: 'silent' }),
      open: false,
      baseUrl: () => 'http://localhost:1',
      catalogue: { plans, products },
      embed: async () => [],
      endpoints: () => endpoints,
    })
    const app = Fastify()
    await app.register(sandbox.routes, { prefix: '/sandbox' })
    // A catch-all route, as in the product.
    app.get('/*', (_request, reply) => reply.code(404).send({ detail: 'Not Found' }))
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    sandbox.start()
    const close = async () => {
      app.server.closeAllConnections()
      await app.close()
      await sandbox.close()
    }
    return { url, close }
  }
  let running = await open()
  const client = () => {
    const made = openProcessor({
      secretKey: 'sk_sandbox_latchkey',
      webhookSecret: SECRET,
      storefrontWebhookSecret: SECRET,
      apiBase: `${running.url}/sandbox/stripe`,
      sandboxed: true,
      tax: { by: 'off', behavior: 'exclusive' },
      prices: new Map(),
      retentionCoupon: null,
    })
    assert.ok(made)
    return made
  }
  t.after(async () => {
    await running.close()
    product.closeAllConnections()
    await new Promise((resolve) => product.close(resolve))
    rmSync(dataDir, { recursive: true, force: true })
  })

  const it = {
    get stripe() {
      return client()
    },
    events,
    answers,
    catching,
    clock,
    /** Moves the sandbox's clock and returns the events. */
    async move(by: object): Promise<string[]> {
      const reply = await call(running.url, 'POST', '/sandbox/processor/clock', { body: by })
      assert.equal(reply.status, 200, reply.text)
      return reply.body.happened
    },
    types: () => events.map((event) => event.type),
    /** Waits up to 5 s for an event of the type, because deliveries are parallel. */
    async heard(type: string, count = 1) {
      for (let i = 0; i < 500 && events.filter((event) => event.type === type).length < count; i++)
        await new Promise((resolve) => setTimeout(resolve, 10))
      const found = events.filter((event) => event.type === type)
      assert.ok(found.length >= count, `${type} did not come; came: ${it.types().join(', ')}`)
      return found.at(-1) as Stripe.Event & { data: { object: Record<string, unknown> } }
    },
    async restart() {
      await running.close()
      running = await open()
    },
    get url() {
      return running.url
    },
    get: (path: string) => call(running.url, 'GET', path),
    press: (path: string, form: Record<string, string> = {}) =>
      call(running.url, 'POST', path, { body: new URLSearchParams(form) }),
    /** Pays a hosted checkout through its form. */
    pay: (session: Stripe.Checkout.Session, card: string, email = 'ada@example.com') =>
      it.press(new URL(session.url ?? '').pathname, { card, email, name: 'Ada' }),
    async subscribed(card = '4242424242424242', price = PRO) {
      const customer = await it.stripe.customers.create({ name: 'Ada', email: 'ada@example.com' })
      const session = await it.stripe.checkout.sessions.create({
        mode: 'subscription',
        customer: customer.id,
        line_items: [{ price, quantity: 1 }],
        success_url: BACK,
        subscription_data: { metadata: { user_id: 'u1' } },
      })
      const reply = await it.pay(session, card)
      assert.equal(reply.status, 303, reply.text)
      const done = await it.stripe.checkout.sessions.retrieve(session.id, {
        expand: ['subscription'],
      })
      return { customer, session: done, subscription: done.subscription as Stripe.Subscription }
    },
    async portal(customer: string) {
      const portal = await it.stripe.billingPortal.sessions.create({
        customer,
        return_url: 'http://localhost:1/dashboard',
      })
      return new URL(portal.url).pathname
    },
    async bought(card = '4242424242424242') {
      const session = await it.stripe.checkout.sessions.create({
        mode: 'payment',
        line_items: [
          {
            price_data: { currency: 'usd', unit_amount: 19_900, product_data: { name: 'Kit' } },
            quantity: 1,
          },
        ],
        payment_intent_data: { metadata: { tier: 'basic' } },
        metadata: { tier: 'basic' },
        allow_promotion_codes: true,
        success_url: BACK,
        cancel_url: 'http://localhost:1/pricing',
      })
      return { session, reply: await it.pay(session, card) }
    },
  }
  return it
}

test('an idempotency key creates one object and rejects a different request', async (t) => {
  const { stripe } = await deps(t)
  const key = { idempotencyKey: 'once' }
  const [first, second] = await Promise.all([
    stripe.customers.create({ email: 'a@example.com' }, key),
    stripe.customers.create({ email: 'a@example.com' }, key),
  ])
  assert.equal(first.id, second.id)
  await assert.rejects(stripe.customers.create({ email: 'b@example.com' }, key), {
    type: 'StripeIdempotencyError',
  })
  assert.equal((await stripe.customers.list()).data.length, 1)
})

test('an idempotency key stores successes and failures, but not calls rejected before they began', async (t) => {
  const it = await deps(t)
  const { stripe } = it
  await it.bought('000123456789')
  const charge = (await stripe.charges.list()).data[0]?.id ?? ''
  const refund = (idempotencyKey: string) => stripe.refunds.create({ charge }, { idempotencyKey })
  await assert.rejects(refund('early'), /has not succeeded/)
  await it.press(`/sandbox/processor/charges/${charge}/settle`)
  await assert.rejects(refund('early'), /has not succeeded/)
  assert.equal((await refund('late')).charge, charge)

  const line_items = [{ price: 'price_sandbox_store_pro', quantity: 1 }]
  const create = (params: object) =>
    stripe.checkout.sessions.create(
      { mode: 'payment', line_items, ...params },
      { idempotencyKey: 'slip' },
    )
  await assert.rejects(create({}), { code: 'parameter_missing' })
  assert.equal((await create({ success_url: BACK })).status, 'open')
})

test('rejects wrong keys, unknown parameters and unknown prices like the real API', async (t) => {
  const { stripe, get } = await deps(t)
  const create = (params: object) =>
    stripe.checkout.sessions.create(params as Stripe.Checkout.SessionCreateParams)
  const line = [{ price: PRO, quantity: 1 }]
  await assert.rejects(
    create({ mode: 'subscription', line_items: line, success_url: BACK, colour: 'red' }),
    {
      message: 'Received unknown parameter: colour (not supported by the sandbox)',
      statusCode: 400,
    },
  )
  await assert.rejects(
    create({
      mode: 'subscription',
      line_items: [{ price: 'price_x', quantity: 1 }],
      success_url: BACK,
    }),
    { message: "No such price: 'price_x'", param: 'line_items[0][price]' },
  )
  await assert.rejects(
    create({ mode: 'payment', line_items: line, success_url: BACK }),
    /recurring price/,
  )
  const keyless = await get('/sandbox/stripe/v1/customers')
  assert.deepEqual([keyless.status, keyless.body.error.type], [401, 'invalid_request_error'])
  assert.equal((await get('/sandbox/stripe/v1/nothing')).status, 404)
})

test('an unknown address returns 404 in the API’s form for every method', async (t) => {
  const { stripe } = await deps(t)
  for (const method of ['GET', 'POST', 'DELETE'] as const) {
    await assert.rejects(stripe.rawRequest(method, '/v1/nothing'), {
      type: 'StripeInvalidRequestError',
      statusCode: 404,
      message: `Unrecognized request URL (${method}: /v1/nothing).`,
    })
  }
})

test('an unsupported parameter is rejected, never ignored', async (t) => {
  const { stripe } = await deps(t)
  const create = (more: object) =>
    stripe.checkout.sessions.create({
      mode: 'subscription',
      line_items: [{ price: PRO, quantity: 1 }],
      success_url: BACK,
      ...more,
    } as Stripe.Checkout.SessionCreateParams)
  for (const [param, more] of Object.entries({
    shipping_address_collection: { shipping_address_collection: { allowed_countries: ['DE'] } },
    'automatic_tax[liability]': { automatic_tax: { enabled: true, liability: { type: 'self' } } },
    'consent_collection[promotions]': { consent_collection: { promotions: 'auto' } },
    'custom_text[shipping_address]': { custom_text: { shipping_address: { message: 'Ship' } } },
    'subscription_data[transfer_data]': {
      subscription_data: { transfer_data: { destination: 'acct_1' } },
    },
    'payment_intent_data[capture_method]': { payment_intent_data: { capture_method: 'manual' } },
    'line_items[0][tax_rates]': { line_items: [{ price: PRO, quantity: 1, tax_rates: ['txr_1'] }] },
  })) {
    await assert.rejects(create(more), (error: Stripe.errors.StripeInvalidRequestError) => {
      assert.deepEqual(
        [error.statusCode, error.code, error.param],
        [400, 'parameter_unknown', param],
      )
      assert.match(
        error.message,
        /^Received unknown parameter: .* \(not supported by the sandbox\)$/,
      )
      return true
    })
  }
  const off = {
    automatic_tax: { enabled: false },
    phone_number_collection: { enabled: false },
    invoice_creation: { enabled: false },
  }
  assert.equal((await create(off)).status, 'open', 'what is switched off need not be played')
})

test('a coupon applies to one invoice, for some months, or forever', async (t) => {
  const it = await deps(t)
  const coupon = await it.stripe.coupons.create({
    percent_off: 50,
    duration: 'repeating',
    duration_in_months: 2,
  })
  const promotion = await it.stripe.promotionCodes.create({
    promotion: { type: 'coupon', coupon: coupon.id },
    code: 'HALF',
  })
  const customer = await it.stripe.customers.create({ email: 'ada@example.com' })
  const open = (discounts: Stripe.Checkout.SessionCreateParams.Discount[]) =>
    it.stripe.checkout.sessions.create({
      mode: 'subscription',
      customer: customer.id,
      line_items: [{ price: PRO, quantity: 1 }],
      success_url: BACK,
      discounts,
    })
  const session = await open([{ promotion_code: promotion.id }])
  assert.equal(session.amount_total, 1_450)
  assert.equal((await it.pay(session, '4242424242424242')).status, 303)
  const { subscription: id } = await it.stripe.checkout.sessions.retrieve(session.id)
  const paid = async () => {
    const one = await it.stripe.subscriptions.retrieve(String(id), {
      expand: ['latest_invoice', 'discounts'],
    })
    const { total, total_discount_amounts: off } = one.latest_invoice as Stripe.Invoice
    return {
      total,
      off: off?.map(({ amount }) => amount),
      discount: one.discounts[0] as Stripe.Discount,
    }
  }
  const first = await paid()
  assert.deepEqual([first.total, first.off], [1_450, [1_450]])
  assert.equal(first.discount.promotion_code, promotion.id)
  assert.ok((first.discount.end ?? 0) - first.discount.start >= 58 * 86_400)
  await assert.rejects(open([{ coupon: 'nope' }]), /No such coupon: 'nope'/)

  // A coupon with the duration `once` replaces the other and ends after the next invoice.
  await it.stripe.subscriptions.update(String(id), {
    discounts: [{ coupon: 'coupon_sandbox_MINUS20' }],
  })
  const portal = await it.portal(customer.id)
  for (const total of [900, 2_900]) {
    await it.press(`${portal}/renew-well`, { subscription: String(id) })
    assert.equal((await paid()).total, total)
  }
})

test('an end at the period’s end follows the period when the interval changes', async (t) => {
  const it = await deps(t)
  const yearly = await it.stripe.prices.create({
    product: 'prod_sandbox_pro',
    currency: 'usd',
    unit_amount: 29_000,
    recurring: { interval: 'year' },
  })
  for (const [from, to] of [
    [PRO, yearly.id],
    [yearly.id, PRO],
  ]) {
    const { subscription } = await it.subscribed(undefined, from)
    const item = subscription.items.data[0]?.id ?? ''
    await it.stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true })
    const changed = await it.stripe.subscriptions.update(subscription.id, {
      items: [{ id: item, price: to }],
      proration_behavior: 'always_invoice',
    })
    const end = changed.items.data[0]?.current_period_end ?? 0
    assert.equal(changed.cancel_at, end)
    await it.move({ advance_days: 366 })
    const ended = await it.stripe.subscriptions.retrieve(subscription.id)
    assert.deepEqual([ended.status, ended.ended_at], ['canceled', end])
  }
})

test('an invoice has a payment page and a readable PDF', async (t) => {
  const it = await deps(t)
  const { subscription, customer } = await it.subscribed('4000000000000341')
  await it.press(`${await it.portal(customer.id)}/renew-well`, { subscription: subscription.id })
  const [open, paid] = (await it.stripe.invoices.list({ customer: customer.id })).data
  assert.deepEqual([open?.status, paid?.status], ['open', 'paid'])
  assert.deepEqual(
    (await it.stripe.invoices.list({ customer: customer.id, status: 'open' })).data.length,
    1,
  )

  const pdf = await fetch(`${it.url}${new URL(paid?.invoice_pdf ?? '').pathname}`)
  assert.equal(pdf.headers.get('content-type'), 'application/pdf')
  const files = createTemporaryFiles(join(tmpdir(), `invoice-${randomUUID()}`), {
    memoryBytes: 1_000,
  })
  const parser = createParser({ temporaryFiles: files, log: createLog('silent') })
  t.after(() => parser.close().then(files.close))
  const { text } = await parser.read(
    'invoice.pdf',
    inMemory(new Uint8Array(await pdf.arrayBuffer())),
    t.signal,
  )
  const said = String(text)
  for (const words of [`Invoice ${paid?.number}`, 'Ada', 'Pro plan', '$29.00'])
    assert.ok(said.includes(words), said)

  const page = new URL(open?.hosted_invoice_url ?? '').pathname
  assert.match((await it.get(page)).text, /Pay with Visa •••• 0341/)
  assert.equal((await it.press(page, { card: '4000000000000002' })).status, 402)
  assert.equal((await it.press(page, { card: '4242424242424242' })).status, 303)
  assert.equal((await it.stripe.subscriptions.retrieve(subscription.id)).status, 'active')
  assert.equal((await it.press(page, { card: '4242424242424242' })).status, 400, 'once is enough')
})

test('deep links of the portal run one action and redirect back', async (t) => {
  const it = await deps(t)
  const { subscription, customer } = await it.subscribed()
  const eve = await it.stripe.customers.create({ email: 'eve@example.com' })
  const link = async (
    flow: Stripe.BillingPortal.SessionCreateParams.FlowData,
    of = customer.id,
  ) => {
    const after = { type: 'redirect' as const, redirect: { return_url: 'http://localhost:1/kept' } }
    const made = { customer: of, flow_data: { ...flow, after_completion: after } }
    return new URL((await it.stripe.billingPortal.sessions.create(made)).url).pathname
  }
  const cancel = { subscription: subscription.id }
  await assert.rejects(
    link({ type: 'subscription_cancel', subscription_cancel: cancel }, eve.id),
    /No such subscription/,
  )
  await assert.rejects(link({ type: 'customer_update' }), { param: 'flow_data[type]' })

  const card = await it.press(await link({ type: 'payment_method_update' }), {
    card: '5555555555554444',
  })
  assert.deepEqual([card.status, card.headers.get('location')], [303, 'http://localhost:1/kept'])
  const now = () => it.stripe.subscriptions.retrieve(subscription.id)

  const offer = { type: 'coupon_offer' as const, coupon_offer: { coupon: 'coupon_sandbox_HALF3' } }
  const leave = await link({
    type: 'subscription_cancel',
    subscription_cancel: { ...cancel, retention: offer },
  })
  assert.match((await it.get(leave)).text, /50 % off for three months/)
  await it.press(leave, { choice: 'stay' })
  assert.deepEqual([(await now()).cancel_at_period_end, (await now()).discounts.length], [false, 1])
  await it.press(leave, { choice: 'cancel', feedback: 'unused', comment: 'bye' })
  const ending = await now()
  assert.deepEqual(
    [ending.cancel_at_period_end, ending.cancellation_details?.feedback],
    [true, 'unused'],
  )
})

test('in a year the trial ends, and each renewal is announced and paid on time', async (t) => {
  const it = await deps(t)
  const session = await it.stripe.checkout.sessions.create({
    mode: 'subscription',
    line_items: [{ price: PRO, quantity: 1 }],
    subscription_data: { trial_period_days: 14 },
    success_url: BACK,
  })
  await it.pay(session, '4242424242424242')
  const { subscription: id, created } = await it.stripe.checkout.sessions.retrieve(session.id)
  const at = (event: Stripe.Event) => Math.round((event.created - created) / 86_400)

  assert.deepEqual(await it.move({ advance_days: 12 }), ['the trial is about to end'])
  const announced = await it.heard('customer.subscription.trial_will_end')
  assert.equal(at(announced), 11)
  assert.deepEqual(await it.move({ to: 'next' }), ['the trial ends'])
  assert.equal((await it.stripe.subscriptions.retrieve(String(id))).status, 'active')

  const happened = await it.move({ advance_months: 12 })
  assert.equal(happened.filter((what) => what === 'the period ends').length, 12)
  const upcoming = (await it.heard('invoice.upcoming', 12)).data.object as unknown as Stripe.Invoice
  assert.deepEqual([upcoming.billing_reason, upcoming.amount_due], ['upcoming', 2_900])
  const invoices = await it.stripe.invoices.list({ subscription: String(id), limit: 100 })
  assert.deepEqual(
    [invoices.data.length, new Set(invoices.data.map(({ status }) => status)).size],
    [14, 1],
  )
  const gaps = invoices.data
    .slice(0, 12)
    .map((one, index) => one.created - (invoices.data[index + 1]?.created ?? 0))
  assert.ok(
    gaps.every((gap) => gap >= 27 * 86_400 && gap <= 32 * 86_400),
    'they are a month apart',
  )
  await it.restart()
  assert.ok(it.events.every((event) => event.created <= it.clock.ms() / 1_000))
})

test('retries a declined renewal on days 3, 8 and 15, then ends the subscription', async (t) => {
  const it = await deps(t)
  const [quits, owes] = [
    await it.subscribed('4000000000000341'),
    await it.subscribed('4000000000000341'),
  ]
  const status = async (one: { subscription: Stripe.Subscription }) =>
    (await it.stripe.subscriptions.retrieve(one.subscription.id)).status
  const retries = async (by: object) =>
    (await it.move(by)).filter((what) => what === 'an open payment is tried again').length
  assert.equal(await retries({ advance_months: 1 }), 0)
  assert.equal(await retries({ advance_days: 9 }), 4)
  assert.deepEqual([await status(quits), await status(owes)], ['past_due', 'past_due'])
  await it.press(`${await it.portal(owes.customer.id)}/card`, { card: '4242424242424242' })
  assert.equal(await retries({ advance_days: 7 }), 2)
  assert.deepEqual([await status(quits), await status(owes)], ['canceled', 'active'])
  const gone = await it.stripe.subscriptions.retrieve(quits.subscription.id)
  assert.equal(gone.cancellation_details?.reason, 'payment_failed')
  assert.equal(it.types().filter((type) => type === 'invoice.payment_failed').length, 7)
})

test('rejects moving the clock back, too far, concurrently, or to an invalid time', async (t) => {
  const it = await deps(t)
  const move = (body: object) => call(it.url, 'POST', '/sandbox/processor/clock', { body })
  const wrong = [
    { to: '2020-01-01' },
    { advance_days: -1 },
    { advance_days: 401 },
    {},
    { to: 'soon' },
    { advance_days: 'x' },
  ]
  for (const body of wrong) assert.equal((await move(body)).status, 400, JSON.stringify(body))
  const { promise, resolve } = Promise.withResolvers<void>()
  it.catching.busy = promise
  const first = move({ advance_days: 3 })
  await until(async () => (await move({ advance_days: 3 })).status === 409)
  resolve()
  assert.equal((await first).status, 200)
  assert.equal(Math.round(it.clock.movedMs() / 86_400_000), 3)
  assert.match((await it.get('/sandbox/processor')).text, /3 days ahead of real time/)
})

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('a sale with tax has it on the invoice and requests consent and tax ids', async (t) => {
  const it = await deps(t)
  const open = (more: object = {}, behavior: 'exclusive' | 'inclusive' = 'exclusive') =>
    it.stripe.checkout.sessions.create({
      mode: 'payment',
      line_items: [
        {
          price_data: {
            currency: 'usd',
            unit_amount: 10_000,
            product_data: { name: 'Kit', tax_code: 'txcd_10202000' },
            tax_behavior: behavior,
          },
          quantity: 1,
        },
      ],
      automatic_tax: { enabled: true },
      tax_id_collection: { enabled: true },
      invoice_creation: { enabled: true, invoice_data: { metadata: { tier: 'basic' } } },
      consent_collection: { terms_of_service: 'required' },
      custom_text: { terms_of_service_acceptance: { message: 'I know what I do.' } },
      success_url: BACK,
      ...more,
    })
  const form = { card: '4242424242424242', email: 'ada@example.com', name: 'Ada' }
  const pay = async (
    session: Stripe.Checkout.Session,
    more: Record<string, string> = { terms: 'on' },
  ) => {
    const reply = await it.press(new URL(session.url ?? '').pathname, { ...form, ...more })
    const done = await it.stripe.checkout.sessions.retrieve(session.id, { expand: ['invoice'] })
    return { reply, done, invoice: done.invoice as Stripe.Invoice }
  }
  const dear = await open({ discounts: [{ coupon: 'coupon_sandbox_WELCOME10' }] })
  assert.deepEqual(
    [dear.amount_subtotal, dear.amount_total, dear.total_details?.amount_tax],
    [10_000, 10_800, 1_800],
  )
  assert.match((await it.get(new URL(dear.url ?? '').pathname)).text, /I know what I do\..*/s)
  assert.equal((await pay(dear, {})).reply.status, 402, 'who does not agree does not buy')
  const { done, invoice } = await pay(dear)
  assert.equal(done.consent?.terms_of_service, 'accepted')
  assert.deepEqual(
    [
      invoice.status,
      invoice.total,
      invoice.total_excluding_tax,
      invoice.amount_paid,
      invoice.metadata?.tier,
    ],
    ['paid', 10_800, 9_000, 10_800, 'basic'],
  )
  assert.deepEqual(
    invoice.total_taxes?.map(({ amount, tax_behavior }) => [amount, tax_behavior]),
    [[1_800, 'exclusive']],
  )

  const within = (await pay(await open({}, 'inclusive'))).invoice
  assert.deepEqual([within.total, within.total_excluding_tax], [10_000, 8_333])
  const business = (await pay(await open(), { terms: 'on', tax_id: 'DE123456789' })).invoice
  assert.deepEqual(
    [business.total, business.total_taxes?.[0]?.taxability_reason],
    [10_000, 'reverse_charge'],
  )
  assert.equal(business.customer_tax_ids?.[0]?.value, 'DE123456789')
})

test('managed payments set taxes and reject tax parameters', async (t) => {
  const it = await deps(t)
  const open = (more: object, product: object = { tax_code: 'txcd_10202000' }) =>
    it.stripe.checkout.sessions.create({
      mode: 'payment',
      line_items: [
        {
          price_data: {
            currency: 'usd',
            unit_amount: 10_000,
            product_data: { name: 'Kit', ...product },
          },
          quantity: 1,
        },
      ],
      managed_payments: { enabled: true },
      success_url: BACK,
      ...more,
    })
  const session = await open({})
  assert.deepEqual([session.managed_payments?.enabled, session.amount_total], [true, 12_000])
  await assert.rejects(open({ automatic_tax: { enabled: true } }), { param: 'automatic_tax' })
  await assert.rejects(open({}, {}), /eligible tax code/)
})

test('lists page by limit and starting_after', async (t) => {
  const { stripe } = await deps(t)
  for (const name of ['a', 'b', 'c', 'd', 'e']) await stripe.customers.create({ name })
  const names: string[] = []
  for await (const customer of stripe.customers.list({ limit: 2 })) names.push(customer.name ?? '')
  assert.deepEqual(names, ['e', 'd', 'c', 'b', 'a'])
})

test('a subscription checkout creates a customer, subscription, invoice and payment, with signed events', async (t) => {
  const it = await deps(t)
  const { customer, session, subscription } = await it.subscribed()

  assert.deepEqual(
    [session.status, session.payment_status, session.amount_total],
    ['complete', 'paid', 2_900],
  )
  assert.deepEqual([subscription.status, subscription.customer], ['active', customer.id])
  assert.deepEqual(subscription.metadata, { user_id: 'u1' })
  const item = subscription.items.data[0]
  assert.equal(item?.price.id, PRO)
  assert.ok((item?.current_period_end ?? 0) - (item?.current_period_start ?? 0) >= 28 * 86_400)

  const lines = await it.stripe.checkout.sessions.listLineItems(session.id)
  assert.equal(lines.data[0]?.price?.id, PRO)
  const invoice = await it.stripe.invoices.retrieve(String(session.invoice), {
    expand: ['payments.data.payment.payment_intent'],
  })
  assert.equal(invoice.parent?.subscription_details?.subscription, subscription.id)
  assert.equal(invoice.status, 'paid')
  const intent = invoice.payments?.data[0]?.payment.payment_intent as Stripe.PaymentIntent
  assert.deepEqual([intent.status, intent.amount_received], ['succeeded', 2_900])

  const completed = await it.heard('checkout.session.completed')
  assert.equal(completed.data.object.id, session.id)
  assert.equal(completed.api_version, '2026-09-30.endive')
  await it.heard('invoice.paid')
  await it.heard('customer.subscription.created')
})

test("another customer's portal cannot change this subscription", async (t) => {
  const it = await deps(t)
  const { subscription } = await it.subscribed()
  const eve = await it.stripe.customers.create({ email: 'eve@example.com' })
  const reply = await it.press(`${await it.portal(eve.id)}/cancel-now`, {
    subscription: subscription.id,
  })
  assert.equal(reply.status, 404)
  assert.equal((await it.stripe.subscriptions.retrieve(subscription.id)).status, 'active')
})

test('a dispute is opened, lost and reinstated', async (t) => {
  const it = await deps(t)
  await it.bought()
  const charge = (await it.stripe.charges.list()).data[0]
  await it.press(`/sandbox/processor/charges/${charge?.id}/dispute`)
  await it.heard('charge.dispute.created')
  await it.press(`/sandbox/processor/charges/${charge?.id}/lose`)
  const closed = (await it.heard('charge.dispute.closed')).data.object as unknown as Stripe.Dispute
  assert.deepEqual([closed.status, closed.payment_intent], ['lost', charge?.payment_intent])

  await it.press(`/sandbox/processor/charges/${charge?.id}/reinstate`)
  const again = (await it.heard('charge.dispute.funds_reinstated')).data
    .object as unknown as Stripe.Dispute
  assert.equal(again.status, 'lost')
  assert.deepEqual(
    again.balance_transactions.map(({ amount }) => amount),
    [-closed.amount, closed.amount],
  )
  assert.equal((await it.press(`/sandbox/processor/charges/${charge?.id}/reinstate`)).status, 400)
})

test('shows a rejected event, keeps it after a restart, and delivers it again', async (t) => {
  const it = await deps(t)
  it.answers.status = 500
  await it.stripe.customers.create({ email: 'ada@example.com' })
  const { id } = await it.heard('customer.created')
  const shows = async (text: string) =>
    (await it.get(`/sandbox/processor/events/${id}`)).text.includes(text)
  await until(() => shows('answered 500'))

  it.answers.status = 200
  await it.restart()
  await it.heard('customer.created', 2)
  assert.equal(it.events[0]?.id, it.events[1]?.id)
  await until(() => shows('2 attempts'))
  assert.equal(await shows('delivered'), true)
})

test('an expired checkout cannot be paid', async (t) => {
  const it = await deps(t)
  const session = await it.stripe.checkout.sessions.create({
    mode: 'payment',
    line_items: [{ price: 'price_sandbox_store_pro', quantity: 1 }],
    success_url: BACK,
  })
  await it.stripe.checkout.sessions.expire(session.id)
  assert.equal((await it.pay(session, '4242424242424242')).status, 400)
  assert.equal((await it.get(new URL(session.url ?? '').pathname)).status, 410)
  await it.heard('checkout.session.expired')
})
