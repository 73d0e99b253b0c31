import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Clock } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { testApp } from '#testing/app.ts'
import { ON_POSTGRES } from '#testing/database.ts'
import { Jobs } from './jobs.ts'
import { LEASE_MS } from './leases.ts'

async function jobApp(t: TestContext) {
  const app = await testApp(t)
  return { app, ...app.platform }
}

test('a job of a transaction that fails never runs', async (t) => {
  const { app, db, jobs } = await jobApp(t)
  const ran: string[] = []
  jobs.handle<{ name: string }>('test.note', async ({ name }) => void ran.push(name))

  await assert.rejects(
    transaction(db, async (tx) => {
      await jobs.enqueue(tx, 'test.note', { name: 'lost' })
      throw new Error('the business failed')
    }),
  )
  await transaction(db, (tx) => jobs.enqueue(tx, 'test.note', { name: 'kept' }))
  await app.settle()

  assert.deepEqual(ran, ['kept'])
})

test('a failing job is retried after a delay, and is stored as dead after its last attempt', async (t) => {
  const { app, db, jobs, clock } = await jobApp(t)
  let tries = 0
  jobs.handle(
    'test.fail',
    async () => {
      tries++
      throw new Error('the vendor is away')
    },
    { delaysMs: [1_000] },
  )
  await jobs.enqueue(db, 'test.fail', {})
  await app.settle()
  assert.equal(tries, 1)
  await app.settle()
  assert.equal(tries, 1, 'it waits')

  app.clock.advance(2_000)
  await app.settle()
  assert.equal(tries, 2)
  const [dead] = await jobs.dead()
  assert.equal(dead?.last_error, 'the vendor is away')

  const retry = async (tx: Db) => assert.equal(await jobs.retry(tx, dead?.id ?? ''), true)
  const rolledBack = transaction(db, async (tx) => {
    await retry(tx)
    throw new Error('the audit entry failed')
  })
  await assert.rejects(rolledBack, /audit entry/)
  await app.settle()
  assert.equal(tries, 2, 'a retry that is rolled back does not happen')
  await transaction(db, retry)
  await app.settle()
  assert.equal(tries, 3)
  assert.ok(clock.ms() > 0)
})

test('jobs with one key are one job', async (t) => {
  const { app, db, jobs } = await jobApp(t)
  let runs = 0
  jobs.handle('test.once', async () => void runs++)
  for (let copy = 0; copy < 3; copy++) await jobs.enqueue(db, 'test.once', {}, { key: 'the-one' })
  await app.settle()
  assert.equal(runs, 1)
})

test('enqueueing a dead job again restarts it', async (t) => {
  const { app, db, jobs } = await jobApp(t)
  const ran: number[] = []
  let failing = true
  jobs.handle<{ n: number }>(
    'test.hourly',
    async ({ n }) => {
      if (failing) throw new Error('away')
      ran.push(n)
    },
    { delaysMs: [] },
  )
  const ask = (n: number) => jobs.enqueue(db, 'test.hourly', { n }, { key: 'hourly' })
  await ask(1)
  await app.settle()
  assert.equal((await jobs.dead()).length, 1)

  failing = false
  await ask(2)
  await ask(3)
  await app.settle()
  assert.deepEqual(ran, [2])
  assert.deepEqual(await jobs.dead(), [])
})

test('a long job is not started twice while its process lives', async (t) => {
  const { app, db, jobs } = await jobApp(t)
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { promise, resolve } = Promise.withResolvers<void>()
  let runs = 0
  jobs.handle('test.long', async () => {
    runs++
    await promise
  })
  await jobs.enqueue(db, 'test.long', {})
  const first = jobs.drain()
  while (runs === 0) await new Promise(setImmediate)

  const leaseOf = () => db.selectFrom('jobs').select('leased_until').executeTakeFirstOrThrow()
  const { leased_until: before } = await leaseOf()
  app.clock.advance(LEASE_MS * 0.8)
  t.mock.timers.tick(LEASE_MS / 2)
  while ((await leaseOf()).leased_until === before) await new Promise(setImmediate)
  app.clock.advance(LEASE_MS * 0.8)
  await jobs.drain()
  resolve()
  await first
  // Before the service ends: it could not stop its own intervals, which are real.
  t.mock.timers.reset()
  assert.equal(runs, 1)
  assert.deepEqual(await jobs.counts(), { queued: 0, dead: 0 })
})

test('a job cut off by the end of its process is begun again, and the end does not wait for it', async (t) => {
  const { app, db, jobs } = await jobApp(t)
  const attempts: number[] = []
  const handle = (on: typeof jobs, work: (signal: AbortSignal) => Promise<void>) =>
    on.handle('test.endless', async (_, { attempt, signal }) => {
      attempts.push(attempt)
      await work(signal)
    })
  handle(
    jobs,
    (signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  )
  await jobs.enqueue(db, 'test.endless', {})
  const cut = jobs.drain()
  while (attempts.length === 0) await new Promise(setImmediate)
  await jobs.stop()
  await cut

  await app.restart()
  handle(app.platform.jobs, async () => {})
  await app.settle()
  assert.deepEqual(attempts, [1, 1])
})

test('two sweepers at once run every job once', async (t) => {
  const { db, jobs } = await jobApp(t)
  const ran: number[] = []
  jobs.handle<{ n: number }>('test.count', async ({ n }) => void ran.push(n))
  for (let n = 0; n < 40; n++) await jobs.enqueue(db, 'test.count', { n })
  await Promise.all([jobs.drain(), jobs.drain(), jobs.drain()])
  assert.equal(ran.length, 40)
  assert.equal(new Set(ran).size, 40)
})

test('a job whose process died is run by the next one once its lease is over', async (t) => {
  const { app, db, jobs } = await jobApp(t)
  await jobs.enqueue(db, 'test.orphan', {})
  // The rows of a process that was killed in the middle of a handler.
  await db
    .updateTable('jobs')
    .set({ leased_until: '2999-01-01T00:00:00.000Z', lease_token: 'gone', attempts: 1 })
    .execute()
  let runs = 0
  jobs.handle('test.orphan', async () => void runs++)
  await app.settle()
  assert.equal(runs, 0)
  await db.updateTable('jobs').set({ leased_until: '2000-01-01T00:00:00.000Z' }).execute()
  await app.settle()
  assert.equal(runs, 1)
})

test('an event is handled once however often it arrives, and again when handling failed', async (t) => {
  const { app, inbox } = await jobApp(t)
  const seen: string[] = []
  let failing = true
  inbox.handle<{ n: number }>('test', async ({ n }, { id }) => {
    if (n === 2 && failing) throw new Error('not yet')
    seen.push(id)
  })
  assert.equal(await inbox.receive('test', 'evt_1', { n: 1 }), 'handled')
  assert.equal(await inbox.receive('test', 'evt_1', { n: 1 }), 'duplicate')
  assert.equal(await inbox.receive('test', 'evt_2', { n: 2 }), 'queued')
  assert.equal(await inbox.receive('test', 'evt_2', { n: 2 }), 'duplicate')

  failing = false
  app.clock.advance(60_000)
  await app.settle()
  assert.deepEqual(seen, ['evt_1', 'evt_2'])
})

test('events that arrive together each get their own result and leave nothing behind', async (t) => {
  const { db, inbox } = await jobApp(t)
  const seen: string[] = []
  inbox.handle<object>('test', async (_payload, { id }) => void seen.push(id))
  const ids = ['evt_1', 'evt_2', 'evt_1', 'evt_broken', 'evt_3']
  // No database takes a BigInt for JSON.
  const payloadOf = (id: string) => (id === 'evt_broken' ? { n: 1n } : { id })

  const fates = await Promise.allSettled(ids.map((id) => inbox.receive('test', id, payloadOf(id))))

  assert.deepEqual(
    fates.map((fate) => (fate.status === 'fulfilled' ? fate.value : 'refused')),
    ['handled', 'handled', 'duplicate', 'refused', 'handled'],
  )
  assert.deepEqual(seen.sort(), ['evt_1', 'evt_2', 'evt_3'])
  const open = () =>
    db.selectFrom('inbox').select('event_id').where('handled_at', 'is', null).execute()
  while ((await open()).length > 0) await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(
    await db.selectFrom('jobs').select('id').where('kind', '=', 'inbox.handle').execute(),
    [],
  )
})

test('an event is settled with what its handler writes, or not at all', async (t) => {
  const { app, db, inbox } = await jobApp(t)
  let cut = true
  inbox.handle<object>('test', async (_payload, { settle }) =>
    transaction(db, async (tx) => {
      await settle(tx)
      if (cut) throw new Error('the process ends here')
    }),
  )
  const retries = async () =>
    (await db.selectFrom('jobs').selectAll().where('dedupe_key', '=', 'inbox:test:evt_1').execute())
      .length
  assert.equal(await inbox.receive('test', 'evt_1', {}), 'queued')
  assert.equal(await retries(), 1)

  cut = false
  app.clock.advance(60_000)
  await app.settle()
  const row = await db.selectFrom('inbox').select('handled_at').executeTakeFirstOrThrow()
  assert.notEqual(row.handled_at, null)
  assert.equal(await retries(), 0)
  assert.equal(await inbox.receive('test', 'evt_2', {}), 'handled')
  assert.equal(
    (await db.selectFrom('jobs').selectAll().execute()).length,
    0,
    'no job is left to find it done',
  )
})

for (const skewMs of [100_000, -100_000]) {
  test(`a node whose clock is ${skewMs / 1_000} s off takes no job from another and keeps none from it`, {
    skip: !ON_POSTGRES && 'an embedded database has one node',
  }, async (t) => {
    const { app, db, jobs, clock, log } = await jobApp(t)
    const wrong: Clock = {
      ms: () => clock.ms() + skewMs,
      now: () => new Date(clock.ms() + skewMs).toISOString(),
      movedMs: () => app.clock.movedMs?.() ?? 0,
    }
    const others = new Jobs({ db, clock: wrong, log })
    t.after(() => others.stop())
    const ran: string[] = []
    const { promise: sent, resolve: send } = Promise.withResolvers<void>()
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    jobs.handle<{ name: string }>('test.email', async ({ name }) => {
      ran.push(`${name} here`)
      begin()
      await sent
    })
    others.handle<{ name: string }>(
      'test.email',
      async ({ name }) => void ran.push(`${name} there`),
    )

    await jobs.enqueue(db, 'test.email', { name: 'a slow one' })
    const running = jobs.drain()
    await begun
    await others.drain()
    assert.deepEqual(ran, ['a slow one here'], 'its lease stands on every clock')
    send()
    await running

    await jobs.enqueue(
      db,
      'test.email',
      { name: 'of later' },
      { runAt: new Date(clock.ms() + 30_000).toISOString() },
    )
    await others.drain()
    assert.deepEqual(ran, ['a slow one here'], 'it is not due yet')
    await others.enqueue(db, 'test.email', { name: 'of now' })
    await others.enqueue(
      db,
      'test.email',
      { name: 'of then' },
      { runAt: new Date(wrong.ms() + 30_000).toISOString() },
    )
    await jobs.drain()
    assert.deepEqual(ran, ['a slow one here', 'of now here'], 'due here when it is due there')
    app.clock.advance(31_000)
    await jobs.drain()
    assert.deepEqual(ran, ['a slow one here', 'of now here', 'of later here', 'of then here'])
  })
}
