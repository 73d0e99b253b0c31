import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openShop } from '#testing/buyer.ts'
import { listContactMessages } from './inbox.ts'

const HELLO = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  subject: 'sales',
  message: 'How much is it?\nFor ten.',
}
const MINUTE_MS = 60_000

test('a message reaches support, who can reply, and the visitor is thanked', async (t) => {
  const shop = await openShop(t, { SUPPORT_EMAIL: 'team@shop.example' })
  const reply = await shop.store('POST', '/api/contact', { body: HELLO })
  assert.deepEqual([reply.status, reply.body], [200, { success: true }])

  const [notification, ...more] = await shop.mail('team@shop.example')
  assert.equal(more.length, 0)
  assert.equal(notification?.subject, '[Latchkey] Sales Inquiry: Ada Lovelace')
  assert.match(notification?.text ?? '', /How much is it\?/)
  assert.match(notification?.text ?? '', /ada@example\.com/)

  const [confirmation] = await shop.mail('ada@example.com')
  assert.match(confirmation?.subject ?? '', /received/)
  // The address may be anyone's: nothing that a stranger wrote goes there.
  assert.doesNotMatch(confirmation?.text ?? '', /How much|Lovelace/)
})

test('missing and empty fields are 400, wrong ones 422', async (t) => {
  const shop = await openShop(t)
  const status = async (change: object) => {
    const reply = await shop.store('POST', '/api/contact', { body: { ...HELLO, ...change } })
    if (reply.status !== 200) assert.equal(typeof reply.body.error, 'string')
    return reply.status
  }
  for (const field of ['name', 'email', 'subject', 'message']) {
    assert.equal(await status({ [field]: undefined }), 400, `${field} missing`)
    assert.equal(await status({ [field]: '' }), 400, `${field} empty`)
    assert.equal(await status({ [field]: 7 }), 422, `${field} a number`)
  }
  assert.equal(await status({ name: '   ' }), 400)
  assert.equal(await status({ message: ' \n ' }), 400)
  assert.equal(await status({ subject: 'gossip' }), 422)
  assert.equal(await status({ email: 'not an address' }), 422)
  assert.equal(await status({ name: 'x'.repeat(201) }), 422)
  assert.equal(await status({ message: 'x'.repeat(10_001) }), 422)
  assert.equal(await status({ name: 'x'.repeat(200), message: 'x'.repeat(10_000) }), 200)
})

test('headers cannot be injected', async (t) => {
  const shop = await openShop(t, { SUPPORT_EMAIL: 'team@shop.example' })
  const hostile = [
    { name: 'Eve\r\nBcc: victim@example.com' },
    { name: 'Eve\nX: y' },
    { email: 'eve@example.com\r\nBcc: victim@example.com' },
    { email: 'eve@example.com, victim@example.com' },
    { email: 'eve@example.com\nvictim@example.com' },
    { subject: 'sales\r\nBcc: victim@example.com' },
  ]
  for (const change of hostile) {
    const reply = await shop.store('POST', '/api/contact', { body: { ...HELLO, ...change } })
    assert.equal(reply.status, 422, JSON.stringify(change))
  }
  assert.deepEqual(await shop.mail('team@shop.example'), [])
  assert.deepEqual(await shop.mail('victim@example.com'), [])
})

test('markup in a message stays text', async (t) => {
  const shop = await openShop(t, { SUPPORT_EMAIL: 'team@shop.example' })
  await shop.store('POST', '/api/contact', {
    body: { ...HELLO, name: '<b>Eve</b>', message: '<script>alert(1)</script>' },
  })
  const [notification] = await shop.mail('team@shop.example')
  assert.doesNotMatch(notification?.html ?? '', /<script>|<b>Eve/)
})

test('when the mail server is unreachable, the visitor sees an error, and the stored message is sent again later', async (t) => {
  // Nothing listens on this port.
  const shop = await openShop(t, {
    SMTP_URL: 'smtp://127.0.0.1:9',
    SUPPORT_EMAIL: 'team@shop.example',
  })
  const reply = await shop.store('POST', '/api/contact', { body: HELLO })
  assert.equal(reply.status, 500)
  assert.match(reply.body.error, /saved/)

  const { db, jobs } = shop.platform
  const stored = await listContactMessages(db, { page: 1, limit: 20 })
  assert.equal(stored.total, 1)
  assert.equal(stored.messages[0]?.message, HELLO.message)
  assert.equal(stored.messages[0]?.notified_at, null)

  const dueInMinutes = async () => {
    const job = await db
      .selectFrom('jobs')
      .selectAll()
      .where('kind', '=', 'storefront.contact-notification')
      .executeTakeFirst()
    return (
      job && { status: job.status, minutes: (Date.parse(job.run_at) - shop.clock.ms()) / MINUTE_MS }
    )
  }
  const waits: number[] = []
  for (;;) {
    const job = await dueInMinutes()
    if (job?.status !== 'queued') break
    waits.push(job.minutes)
    shop.clock.advance(job.minutes * MINUTE_MS + 1000)
    await jobs.drain()
  }
  const expected = [1, 5, 30, ...Array<number>(24).fill(60)]
  assert.equal(waits.length, expected.length)
  for (const [index, wait] of waits.entries()) {
    const planned = expected[index] ?? 0
    assert.ok(wait > planned * 0.9 && wait < planned * 1.15, `try ${index}: ${wait} minutes`)
  }
  // Given up, and still there to be seen and tried by hand.
  assert.equal((await dueInMinutes())?.status, 'dead')
})

test('messages are listed by page, newest first', async (t) => {
  const shop = await openShop(t)
  for (const message of ['one', 'two', 'three']) {
    await shop.store('POST', '/api/contact', { body: { ...HELLO, message } })
    shop.clock.advance(1000)
  }
  const first = await listContactMessages(shop.platform.db, { page: 1, limit: 2 })
  assert.deepEqual([first.total, first.page, first.limit, first.pages], [3, 1, 2, 2])
  assert.deepEqual(
    first.messages.map(({ message }) => message),
    ['three', 'two'],
  )
  assert.deepEqual(Object.keys(first.messages[0] ?? {}).sort(), [
    'assigned_to',
    'closed_at',
    'created_at',
    'email',
    'id',
    'message',
    'name',
    'notified_at',
    'replies',
    'subject',
  ])
  const second = await listContactMessages(shop.platform.db, { page: 2, limit: 2 })
  assert.deepEqual(
    second.messages.map(({ message }) => message),
    ['one'],
  )
})

test('one address sends at most twenty messages an hour', async (t) => {
  const shop = await openShop(t, { RATE_LIMIT_GENERAL: '1000/60' })
  const send = async () => (await shop.store('POST', '/api/contact', { body: HELLO })).status
  for (let i = 0; i < 20; i++) assert.equal(await send(), 200)
  const refused = await shop.store('POST', '/api/contact', { body: HELLO })
  assert.deepEqual(
    [refused.status, refused.body],
    [429, { error: 'Rate limit exceeded', code: 'rate_limited' }],
  )
})
