import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { DAY_MS, HOUR_MS, plus } from '#platform/clock.ts'
import { PASSWORD, testApp } from '#testing/app.ts'
import { startMailServer } from '#testing/mail-server.ts'

const NOBODY = '0190a6a8-0000-7000-8000-000000000000'

type Named = { id: string; kind: string }

test('a failed job is listed, retried, and deleted with an entry in the audit log', async (t) => {
  const app = await testApp(t)
  const { db, jobs } = app.platform
  const root = await app.as('root', { superuser: true })
  let tries = 0
  jobs.handle('test.hopeless', async () => Promise.reject(new Error(`try ${++tries}`)), {
    delaysMs: [],
  })
  await jobs.enqueue(db, 'test.hopeless', {})
  await app.settle()
  const findDead = async () =>
    (await root.get('/api/admin/jobs')).body.dead.find(
      ({ kind }: Named) => kind === 'test.hopeless',
    )
  const { id, last_error, email, is_running } = await findDead()
  assert.deepEqual([last_error, email, is_running], ['try 1', null, false])

  assert.equal((await root.post(`/api/admin/jobs/${id}/retry`)).status, 200)
  assert.equal((await root.delete(`/api/admin/jobs/${id}`)).status, 404, 'it is queued again')
  await app.settle()
  assert.equal(tries, 2)
  assert.equal((await root.delete(`/api/admin/jobs/${id}`)).status, 200)
  assert.equal(await findDead(), undefined)
  const [entry] = (await root.get('/api/admin/audit?action=job.deleted')).body.entries
  assert.deepEqual(
    [entry.subject, entry.data, entry.actor_id],
    [`job:${id}`, { kind: 'test.hopeless' }, root.userId],
  )
  assert.equal((await root.post(`/api/admin/jobs/${NOBODY}/retry`)).status, 404)
  assert.equal((await root.delete(`/api/admin/jobs/${NOBODY}`)).status, 404)
})

test('a job that waits for its next attempt is retried now, a job planned for later is not', async (t) => {
  const app = await testApp(t)
  const { db, jobs, clock } = app.platform
  const root = await app.as('root', { superuser: true })
  let tries = 0
  jobs.handle('test.twice', async () => Promise.reject(new Error(`try ${++tries}`)), {
    delaysMs: [HOUR_MS],
  })
  await jobs.enqueue(db, 'test.twice', {})
  await app.settle()
  await jobs.enqueue(db, 'test.twice', {}, { runAt: plus(clock.now(), DAY_MS) })
  const { waiting } = (await root.get('/api/admin/jobs')).body
  const [failed, planned] = waiting.filter(({ kind }: Named) => kind === 'test.twice')
  assert.deepEqual([failed.last_error, failed.attempts], ['try 1', 1])
  assert.deepEqual([planned.last_error, planned.attempts], [null, 0])

  assert.equal((await root.post(`/api/admin/jobs/${planned.id}/retry`)).status, 404)
  assert.equal((await root.delete(`/api/admin/jobs/${failed.id}`)).status, 404)
  assert.equal((await root.post(`/api/admin/jobs/${failed.id}/retry`)).status, 200)
  await app.settle()
  assert.equal(tries, 2)
})

test('emails that failed show their address and subject, and no link', async (t) => {
  const app = await testApp(t)
  const { db, clock } = app.platform
  const root = await app.as('root', { superuser: true })
  const row = {
    lane: null,
    dedupe_key: null,
    status: 'dead' as const,
    run_at: clock.now(),
    leased_until: null,
    lease_token: null,
    attempts: 13,
    last_error: '550 no such mailbox',
    trace_parent: null,
    created_at: clock.now(),
  }
  const payload_json = { to: 'ada@example.com', subject: 'Hello', text: 'https://x/?token=secret' }
  await db
    .insertInto('jobs')
    .values([
      { ...row, id: NOBODY.replace('0190', '0191'), kind: 'mail.send', payload_json },
      { ...row, id: NOBODY.replace('0190', '0192'), kind: 'other', payload_json },
    ])
    .execute()

  const emails = await root.get('/api/admin/jobs?about=emails')
  assert.deepEqual(
    emails.body.dead.map(({ kind, email }: Named & { email: object }) => [kind, email]),
    [['mail.send', { to: 'ada@example.com', subject: 'Hello' }]],
  )
  const others = await root.get('/api/admin/jobs?about=others')
  assert.deepEqual(
    others.body.dead.map(({ kind, email }: Named & { email: null }) => [kind, email]),
    [['other', null]],
  )
  assert.doesNotMatch(emails.text + others.text, /secret/)
})

test('emails are logged with the words of the mail server, until their account is deleted', async (t) => {
  let isFull = true
  const server = await startMailServer({ manners: () => (isFull ? 'not now' : 'yes') })
  t.after(() => server.stop())
  const app = await testApp(t, { env: { SMTP_URL: server.url } })
  const root = await app.as('root', { superuser: true })
  const ada = await app.as('ada')
  const list = async (query: string) => {
    const { status, text, body } = await root.get(`/api/admin/emails?${query}`)
    assert.equal(status, 200, text)
    return body
  }
  const ofAda = async () => (await list(`user_id=${ada.userId}`)).emails
  const [waiting] = await ofAda()
  assert.match(waiting.subject, /verify your email address/)
  assert.deepEqual(
    [waiting.state, waiting.user_id, waiting.address, waiting.error, waiting.sent_at],
    ['waiting', ada.userId, ada.email, null, null],
  )
  await app.settle()
  const [failed] = (await list('state=failed')).emails
  assert.equal(failed.state, 'failed')
  assert.match(failed.error, /450 try again later/)

  isFull = false
  app.clock.advance(2_000)
  await app.settle()
  const [sent] = await ofAda()
  assert.deepEqual([sent.id, sent.state, sent.error], [waiting.id, 'sent', null])
  assert.ok(sent.sent_at > sent.created_at)
  assert.deepEqual((await list('state=failed')).emails, [])

  await ada.post('/api/auth/forgot-password', { email: ada.email })
  await app.store('POST', '/api/contact', { body: { ...MESSAGE, email: 'guest@example.com' } })
  await app.settle()
  const pages = [await list('limit=2')]
  for (let page = pages[0]; page.next_cursor !== null; page = pages.at(-1))
    pages.push(await list(`limit=2&cursor=${page.next_cursor}`))
  const all = pages.flatMap(({ emails }) => emails)
  assert.deepEqual(
    all.map(({ address }: { address: string }) => address).sort(),
    [app.config.mail.supportEmail, 'guest@example.com', ada.email, ada.email, root.email].sort(),
  )
  assert.doesNotMatch(JSON.stringify(all), /token=/)
  const guest = all.find(({ address }: { address: string }) => address === 'guest@example.com')
  assert.equal(guest.user_id, null)

  const events = (await root.get(`/api/admin/users/${ada.userId}/events?about=account`)).body.events
  assert.deepEqual(
    events
      .filter(({ kind }: Named) => kind === 'email')
      .map(({ email, status }: { email: object; status: string }) => [email, status]),
    [
      [{ address: ada.email, subject: 'Reset your password' }, 'sent'],
      [{ address: ada.email, subject: sent.subject }, 'sent'],
    ],
  )

  assert.equal((await ada.delete('/api/users/me', { password: PASSWORD })).status, 200)
  await app.settle()
  assert.ok(server.to.includes(ada.email))
  assert.deepEqual(await ofAda(), [])
  assert.doesNotMatch(JSON.stringify(await list('limit=100')), /ada@/)
  assert.equal((await (await app.as('eve')).get('/api/admin/emails')).status, 403)
})

const MESSAGE = {
  name: 'Guest',
  subject: 'support',
  message: 'Where do I find my invoices, please?',
}

test('an account with the operator’s address is deleted without the emails to the operator', async (t) => {
  const app = await testApp(t, { env: { SUPPORT_EMAIL: 'Help@example.com' } })
  const root = await app.as('root', { superuser: true })
  const help = await app.as('help')
  await app.store('POST', '/api/contact', { body: { ...MESSAGE, email: 'guest@example.com' } })
  assert.equal((await help.delete('/api/users/me', { password: PASSWORD })).status, 200)
  await app.settle()
  const { emails } = (await root.get('/api/admin/emails')).body
  assert.deepEqual(
    emails
      .filter(({ address }: { address: string }) => /^help@/i.test(address))
      .map(({ user_id, subject }: Record<string, unknown>) => [user_id, subject]),
    [[null, '[Latchkey] Technical Support: Guest']],
  )
})

test('all failed jobs of one kind are retried at once, with one entry in the audit log', async (t) => {
  const app = await testApp(t)
  const { db, jobs } = app.platform
  const root = await app.as('root', { superuser: true })
  let isBroken = true
  jobs.handle(
    'test.broken',
    async () => {
      if (isBroken) throw new Error('broken')
    },
    { delaysMs: [] },
  )
  for (let job = 0; job < 3; job++) await jobs.enqueue(db, 'test.broken', {})
  await app.settle()
  const retry = async (about: string) =>
    (await root.post('/api/admin/jobs/retry', { about })).body.retried
  assert.equal(await retry('emails'), 0)
  assert.equal((await jobs.counts()).dead, 3)

  isBroken = false
  assert.equal(await retry('others'), 3)
  await app.settle()
  assert.equal((await jobs.counts()).dead, 0)
  const { entries } = (await root.get('/api/admin/audit?action=jobs.retried')).body
  assert.deepEqual(
    entries.map(({ data, actor_id }: { data: object; actor_id: string }) => [data, actor_id]),
    [[{ jobs: 3 }, root.userId]],
  )
})

test('received events are listed in pages, those that are not handled with their job', async (t) => {
  const app = await testApp(t)
  const { inbox, jobs } = app.platform
  const root = await app.as('root', { superuser: true })
  inbox.handle<{ ok: boolean }>('test', async ({ ok }) => {
    if (!ok) throw new Error('the processor is away')
  })
  for (const [id, ok] of [
    ['evt_1', true],
    ['evt_2', false],
    ['evt_3', true],
  ] as const) {
    app.clock.advance(1_000)
    await inbox.receive('test', id, { ok }, { patienceMs: Number.POSITIVE_INFINITY })
  }
  // An event is marked a moment after `receive` returns.
  const unmarked = app.platform.db
    .selectFrom('inbox')
    .select('event_id')
    .where('handled_at', 'is', null)
  while ((await unmarked.execute()).length > 1) await wait(10)

  const first = (await root.get('/api/admin/events?limit=2')).body
  const next = (await root.get(`/api/admin/events?limit=2&cursor=${first.next_cursor}`)).body
  const all = [...first.events, ...next.events]
  assert.deepEqual(
    all.map(({ id }: { id: string }) => id),
    ['evt_3', 'evt_2', 'evt_1'],
  )
  assert.equal(next.next_cursor, null)
  assert.notEqual(all[0].handled_at, null)
  const open = (await root.get('/api/admin/events?open=true')).body.events
  assert.deepEqual(open, [all[1]])
  const [{ handled_at, job }] = open
  assert.deepEqual([handled_at, job.attempts, job.is_failed], [null, 0, false])

  const row = (await jobs.waiting()).find(({ kind }) => kind === 'inbox.handle')
  assert.equal(row?.id, job.id)
  assert.equal((await root.get('/api/admin/events?cursor=nonsense')).status, 422)
})
