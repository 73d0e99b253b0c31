// Objects of the processor without their details: the state of subscriptions, payments and refunds
// is still read.
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { type TestApp, testApp } from '#testing/app.ts'
import { createShop, intercept, loseEvents, PRICES } from '#testing/shop.ts'

const DISPUTED_CARD = '4000000000000259'

const PARENT = ['parent', 'parent.subscription_details', 'parent.subscription_details.subscription']

/** Fields that an object cannot do without. */
const ESSENTIAL: Record<string, readonly string[]> = {
  list: ['data', 'has_more'],
  subscription: ['status', 'customer', 'items', 'created'],
  subscription_item: ['price', 'current_period_end'],
  price: [],
  invoice: ['status', 'customer', 'amount_paid', 'payments', ...PARENT],
  invoice_payment: ['payment', 'payment.payment_intent', 'status'],
  charge: ['status', 'amount', 'customer', 'payment_intent'],
  refund: ['status', 'amount', 'payment_intent'],
  dispute: ['status', 'amount', 'payment_intent'],
  payment_intent: [],
  payment_method: [],
  customer: [],
  'checkout.session': ['url'],
}

type Json = { [name: string]: unknown }
type Change = { paths: string[]; isRemoved: boolean }

/** Each round reads everything again, so a few fields of an object are missing at once. */
const FIELDS_A_ROUND = 4

test('a missing or empty detail of an object never prevents reading its state', async (t) => {
  const app = await testApp(t)
  loseEvents(app)
  const shop = createShop(app)
  const fields = new Map<string, Set<string>>()
  let changes = new Map<string, Change>()
  rewriteReplies(app, (reply) => {
    for (const object of objectsIn(reply)) {
      const kind = String(object.object)
      const known = fields.get(kind) ?? new Set()
      fields.set(kind, known)
      for (const path of pathsOf(object)) known.add(path)
      const change = changes.get(kind)
      if (change) thin(object, change)
    }
  })
  const [ada, bob] = [await app.as('ada'), await app.as('bob')]
  await shop.subscribe(ada)
  await shop.subscribe(bob, { price: PRICES.enterprise, card: DISPUTED_CARD })
  const { processor_customer_id: customer } = await shop.subscription(ada)
  const [charge] = (await shop.processor.charges.list({ customer: customer ?? '' })).data
  await shop.processor.refunds.create({ charge: charge?.id ?? '', amount: 500 })
  const look = async () => {
    const { failed } = (await app.service.billing.sync()) ?? {}
    await app.settle()
    return { failed, state: await stateOf(app) }
  }
  await look()
  const whole = await look()
  assert.equal(whole.state.users.length, 2)
  assert.equal(whole.state.refunds.length, 1)
  assert.equal(whole.state.disputes.length, 1)

  const details = new Map(
    Object.entries(ESSENTIAL).map(([kind, essential]) => [
      kind,
      [...(fields.get(kind) ?? [])].filter(
        (path) => !['id', 'object', ...essential].includes(path),
      ),
    ]),
  )
  const most = Math.max(...[...details.values()].map(({ length }) => length))
  assert.ok(most > 30, `${most} fields`)
  const rounds = Math.ceil(most / FIELDS_A_ROUND)
  for (let round = 0; round < rounds; round++) {
    for (const isRemoved of [true, false]) {
      changes = new Map()
      for (const [kind, all] of details) {
        const paths = all.filter((_, index) => index % rounds === round)
        changes.set(kind, { paths, isRemoved })
      }
      await forget(app)
      const what = [...changes].map(([kind, { paths }]) => `${kind}: ${paths}`).join('; ')
      assert.deepEqual(await look(), whole, `${isRemoved ? 'without' : 'null'}: ${what}`)
    }
  }
})

test('an unreadable subscription affects no other and closes nothing', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  const ended = await shop.readSubscription(ada)
  await shop.processor.subscriptions.cancel(ended.id)
  shop.later()
  await shop.subscribe(ada, { price: PRICES.enterprise })
  await app.service.billing.sync()
  const live = (await shop.readSubscription(ada)).id
  assert.notEqual(live, ended.id)
  let unreadable = live
  rewriteReplies(app, (reply) => {
    for (const object of objectsIn(reply)) if (object.id === unreadable) delete object.status
  })
  await app.service.billing.sync()
  assert.equal((await shop.subscription(ada)).tier, 'enterprise', 'the paid plan stays open')

  unreadable = ended.id
  await app.service.billing.sync()
  assert.equal((await shop.subscription(ada)).tier, 'enterprise')
  unreadable = ''
  await shop.processor.subscriptions.cancel(live)
  await app.service.billing.sync()
  assert.equal((await shop.subscription(ada)).tier, 'free')
})

/** Resets the saved state, as if nothing had been read yet. */
async function forget({ platform: { db } }: TestApp): Promise<void> {
  for (const table of [
    'payments',
    'refunds',
    'disputes',
    'invoices',
    'billing_cursors',
    'billing_accounts',
  ] as const)
    await db.deleteFrom(table).execute()
  const users = await db
    .updateTable('users')
    .set({ subscription_status: 'free', processor_tier: 'free' })
    .returning('id')
    .execute()
  const customers = await db.selectFrom('billing_customers').select('user_id').execute()
  assert.ok(users.length > 0 && customers.length > 0)
  for (const { user_id } of customers) {
    await db
      .insertInto('billing_accounts')
      .values({
        user_id,
        customer_generation: 0,
        version: 0,
        is_cancel_at_period_end: false,
      } as never)
      .execute()
  }
}

async function stateOf({ platform: { db } }: TestApp) {
  const all = <R>(rows: R[]) => rows
  return {
    users: all(
      await db
        .selectFrom('users')
        .innerJoin('billing_accounts', 'billing_accounts.user_id', 'users.id')
        .select([
          'email',
          'subscription_status',
          'processor_tier',
          'processor_customer_id',
          'subscription_id',
          'period_end_at',
        ])
        .orderBy('email')
        .execute(),
    ),
    payments: await db
      .selectFrom('payments')
      .select(['id', 'user_id', 'amount_cents', 'refunded_cents', 'is_refunded', 'dispute'])
      .orderBy('id')
      .execute(),
    refunds: await db
      .selectFrom('refunds')
      .select(['id', 'payment_id', 'amount_cents', 'status'])
      .execute(),
    disputes: await db
      .selectFrom('disputes')
      .select(['id', 'payment_id', 'amount_cents', 'status'])
      .execute(),
    invoices: await db
      .selectFrom('invoices')
      .select(['id', 'user_id', 'subscription_id', 'payment_id', 'status', 'paid_cents'])
      .orderBy('id')
      .execute(),
  }
}

/** Lets the test modify each JSON reply of the processor's API. */
function rewriteReplies(app: TestApp, change: (reply: unknown) => void): void {
  intercept(app, (request, response) => {
    if (request.url?.startsWith('/sandbox/stripe/v1/')) rewriteReply(response, change)
    return false
  })
}

function rewriteReply(response: ServerResponse, change: (reply: unknown) => void): void {
  const { writeHead, end } = response
  let head: [number, Json] = [200, {}]
  response.writeHead = ((status: number, headers: Json = {}) => {
    head = [status, headers]
    return response
  }) as ServerResponse['writeHead']
  response.end = ((body: string | Buffer) => {
    const reply = JSON.parse(String(body))
    change(reply)
    const text = JSON.stringify(reply)
    writeHead.call(response, head[0], {
      ...head[1],
      'content-length': Buffer.byteLength(text),
    } as never)
    return end.call(response, text, 'utf8')
  }) as ServerResponse['end']
}

/** Returns every object of the processor in a reply, including nested ones. */
function objectsIn(value: unknown): Json[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(objectsIn)
  return 'object' in value && typeof value.object === 'string' ? [...inner, value as Json] : inner
}

/** Returns the paths of an object's fields; nested objects have their own paths. */
function pathsOf(object: Json, prefix = ''): string[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const path = `${prefix}${name}`
    const isPlain =
      typeof value === 'object' && value !== null && !Array.isArray(value) && !('object' in value)
    return isPlain && name !== 'metadata' ? [path, ...pathsOf(value as Json, `${path}.`)] : [path]
  })
}

function thin(object: Json, { paths, isRemoved }: Change): void {
  for (const path of paths) {
    const names = path.split('.')
    const last = names.pop() ?? ''
    let inner: unknown = object
    for (const name of names) inner = (inner as Json | null)?.[name]
    if (typeof inner !== 'object' || inner === null || !(last in inner)) continue
    if (isRemoved) delete (inner as Json)[last]
    else (inner as Json)[last] = null
  }
}
