import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MINUTE_MS } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import { Jobs } from '#platform/jobs/jobs.ts'
import { LEASE_MS } from '#platform/jobs/leases.ts'
import { KNOCK_MS } from '#platform/jobs/neighbours.ts'
import { testApp } from '#testing/app.ts'
import { type Manners, startMailServer } from '#testing/mail-server.ts'
import { createMail, sendMail } from './mail.ts'

/** The jitter of the delays is a tenth. */
const NEXT_KNOCK_MS = KNOCK_MS * 1.1

async function mailApp(t: TestContext, { manners }: { manners?: Manners } = {}) {
  const server = await startMailServer(manners ? { manners } : {})
  t.after(() => server.stop())
  const app = await testApp(t, { env: { SMTP_URL: server.url } })
  await app.settle()
  const write = (...to: string[]) =>
    transaction(app.platform.db, async (tx) => {
      for (const name of to)
        await sendMail(app.platform, tx, {
          to: `${name}@example.com`,
          subject: 'News',
          text: 'News',
          html: 'News',
        })
    })
  const names = () => server.to.map((address) => address.split('@')[0]).sort()
  /** Number of connections made. */
  const connecting = async (what: () => Promise<unknown>) => {
    const before = server.connections
    await what()
    return server.connections - before
  }
  return { app, server, write, names, connecting }
}

test('probes an unreachable mail server every two seconds and sends waiting emails once it answers', async (t) => {
  const { app, server, write, names, connecting } = await mailApp(t)
  server.mute()
  await write('ada', 'bob', 'eve')
  assert.equal(
    await connecting(app.settle),
    2,
    'one email fails, and a second connection confirms the outage',
  )
  await write('zoe')
  assert.equal(await connecting(app.settle), 0)
  for (let round = 0; round < 60; round++) {
    app.clock.advance(NEXT_KNOCK_MS)
    assert.equal(await connecting(app.settle), 1)
    assert.equal(await connecting(app.settle), 0, 'not before two more seconds have passed')
  }

  server.speak()
  app.clock.advance(NEXT_KNOCK_MS)
  await app.settle()
  assert.deepEqual(names(), ['ada', 'bob', 'eve', 'zoe'])
  assert.deepEqual(await app.platform.jobs.counts(), { queued: 0, dead: 0 })
})

test('a new process sends the waiting emails once the server is up again', async (t) => {
  const { app, server, write, names } = await mailApp(t)
  await server.stop()
  await write('ada', 'bob')
  await app.settle()
  await app.restart()
  for (let minute = 0; minute < 3; minute++) {
    app.clock.advance(MINUTE_MS)
    await app.settle()
  }
  assert.deepEqual(names(), [])

  await server.start()
  app.clock.advance(NEXT_KNOCK_MS)
  await app.settle()
  assert.deepEqual(names(), ['ada', 'bob'])
})

test('a rejected email does not delay other emails, even after an outage', async (t) => {
  let isGrey = true
  const manners: Manners = (to) =>
    isGrey && to.startsWith('grey') ? 'not now' : to.startsWith('odd') ? 'hang up' : 'yes'
  const { app, server, write, names, connecting } = await mailApp(t, { manners })
  await write('grey', 'odd', 'ada')
  await app.settle()
  assert.deepEqual(names(), ['ada'])
  // The second and third attempts come after 1 and 5 s; the next are due after 30 s.
  for (const waitMs of [1_100, 5_500]) {
    app.clock.advance(waitMs)
    await app.settle()
  }

  server.mute()
  await write('bob')
  await app.settle()
  server.speak()
  isGrey = false
  app.clock.advance(NEXT_KNOCK_MS)
  await app.settle()
  assert.deepEqual(names(), ['ada', 'bob'], 'the outage does not shorten its retry delay')
  assert.equal(await connecting(app.settle), 0)
  app.clock.advance(31_000)
  await app.settle()
  assert.deepEqual(names(), ['ada', 'bob', 'grey'])
  const { attempts } = await app.platform.db
    .selectFrom('jobs')
    .select('attempts')
    .executeTakeFirstOrThrow()
  assert.equal(attempts, 4, 'the email that breaks the connection is retried like any failure')
})

test('one of several nodes probes the server, and another takes over when it dies', async (t) => {
  const { app, server, write, names, connecting } = await mailApp(t)
  const { config, db, clock, log } = app.platform
  const jobs = new Jobs({ db, clock, log })
  const mail = createMail({ config, db, clock, jobs, log })
  t.after(() => mail.close())
  const both = () => Promise.all([app.settle(), jobs.drain()])

  server.mute()
  await write('ada', 'bob')
  await both()
  app.clock.advance(NEXT_KNOCK_MS)
  assert.equal(await connecting(both), 1)

  // As after a kill -9 during a probe: its lease remains and is not renewed.
  await db
    .updateTable('jobs')
    .set({
      leased_until: new Date(clock.ms() + LEASE_MS).toISOString(),
      lease_token: 'gone',
      attempts: 1,
    })
    .where('dedupe_key', '=', 'knock.mail')
    .execute()
  server.speak()
  app.clock.advance(LEASE_MS + 1_000)
  await both()
  assert.deepEqual(names(), ['ada', 'bob'])
})
