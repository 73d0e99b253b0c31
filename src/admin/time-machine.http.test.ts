// The time machine of a sandboxed service: a superuser moves the clock, and sees what it brought.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#platform/clock.ts'
import { type Client, type TestApp, testApp } from '#testing/app.ts'
import { createShop, FAILS_AT_RENEWAL } from '#testing/shop.ts'

const PATH = '/api/admin/time-machine'

/** Signs in again for each request, because a day is longer than a session. */
async function move(app: TestApp, byMs: number) {
  const { body } = await app.post('/api/auth/login', {
    email: 'root@example.com',
    password: 'correct horse battery',
  })
  const headers = { authorization: `Bearer ${body.access_token}` }
  const to = new Date(app.clock.ms() + byMs).toISOString()
  return app.post(PATH, { to }, { headers })
}

test('a month on, day by day, shows payments, failures and emails with their customers', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  await app.as('root', { superuser: true })
  const ada = await app.as('ada')
  const tony = await app.as('tony')
  await shop.subscribe(ada)
  await shop.subscribe(tony, { card: FAILS_AT_RENEWAL })
  await app.settle()

  const before = (await app.as('root', { superuser: true }).get(PATH)).body
  assert.deepEqual(
    before.ahead.map(({ what, user_id }: Due) => [what, user_id]).sort(),
    [
      ['a renewal is ahead', ada.userId],
      ['a renewal is ahead', tony.userId],
      ['the period ends', ada.userId],
      ['the period ends', tony.userId],
    ].sort(),
  )

  const events: Passed[] = []
  const emails: Sent[] = []
  for (let day = 0; day < 32; day++) {
    const { status, body, text } = await move(app, DAY_MS)
    assert.equal(status, 200, text)
    events.push(...body.events)
    emails.push(...body.emails)
  }
  const listTypes = ({ userId }: Client) =>
    events.filter(({ user_id }) => user_id === userId).map(({ type }) => type)
  assert.deepEqual(listTypes(ada), ['invoice.upcoming', 'invoice.paid'])
  assert.deepEqual(listTypes(tony).slice(0, 2), ['invoice.upcoming', 'invoice.payment_failed'])
  const paid = events.find(({ type }) => type === 'invoice.paid')
  assert.equal(paid?.email, 'ada@example.com')
  assert.ok((paid?.amount_cents ?? 0) > 0)
  assert.equal(paid?.currency, 'usd')
  assert.ok(emails.some(({ user_id, to }) => user_id === tony.userId && to === 'tony@example.com'))
  assert.ok(emails.every(({ at }, index) => index === 0 || (emails[index - 1]?.at ?? '') <= at))
  const page = await app.get(`/sandbox/mail/${emails[0]?.id}`)
  assert.equal(page.status, 200)
  assert.ok(page.text.includes(emails[0]?.to ?? '-'))
})

test('the clock moves forward by a day at most, one move at a time', async (t) => {
  const app = await testApp(t)
  await app.as('root', { superuser: true })
  for (const byMs of [-HOUR_MS, 2 * DAY_MS]) {
    const { status, body } = await move(app, byMs)
    assert.deepEqual([status, body.code], [422, 'clock_step_refused'])
  }
  const { body } = await app.post('/api/auth/login', {
    email: 'root@example.com',
    password: 'correct horse battery',
  })
  const headers = { authorization: `Bearer ${body.access_token}` }
  const to = new Date(app.clock.ms() + MINUTE_MS).toISOString()
  const replies = await Promise.all([1, 2, 3].map(() => app.post(PATH, { to }, { headers })))
  const codes = replies.map((reply) => (reply.status === 200 ? 'moved' : reply.body.code))
  assert.equal(codes.filter((code) => code === 'moved').length, 1, codes.join())
  for (const code of codes)
    assert.ok(['moved', 'clock_moving', 'clock_step_refused'].includes(code), code)
})

test('only superusers read and move the clock, and only while the sandbox plays the processor', async (t) => {
  const app = await testApp(t)
  const to = new Date(app.clock.ms() + HOUR_MS).toISOString()
  assert.equal((await app.as('eve').get(PATH)).status, 403)
  assert.equal((await app.as('eve').post(PATH, { to })).status, 403)
  assert.equal((await app.get(PATH)).status, 401)

  const real = await testApp(t, {
    env: { STRIPE_SECRET_KEY: 'sk_test_of_mine', STRIPE_WEBHOOK_SECRET: 'whsec_of_mine' },
  })
  const root = real.as('root', { superuser: true })
  for (const reply of [await root.get(PATH), await root.post(PATH, { to })])
    assert.deepEqual([reply.status, reply.body.code], [409, 'clock_fixed'])
})

type Due = { what: string; user_id: string | null }
type Passed = {
  type: string
  email: string | null
  user_id: string | null
  amount_cents: number | null
  currency: string | null
}
type Sent = { id: number; at: string; to: string; user_id: string | null }
