import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { run as listJobs } from '#cli/jobs.ts'
import { transaction } from '#platform/db/db.ts'
import { testApp } from '#testing/app.ts'
import { Jobs } from './jobs.ts'
import { LEASE_MS } from './leases.ts'

const SLOTS = { urgent: 2, events: 1, bulk: 2, long: 3 }

/** Jobs that run in the background, as a process does, beside a service that runs none. */
async function lanesApp(t: TestContext) {
  const app = await testApp(t)
  const { db, clock, log } = app.platform
  const jobs = new Jobs({ db, clock, log, slots: SLOTS })
  t.after(() => jobs.stop())
  return { app, db, jobs }
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 5))

async function until(what: () => boolean): Promise<void> {
  while (!what()) await turn()
}

test('floods of bulk and long jobs delay no urgent email, and leave places to the other kinds of their lanes', async (t) => {
  const { db, jobs } = await lanesApp(t)
  const flood = Promise.withResolvers<void>()
  const running = { bulk: 0, long: 0 }
  const ran: string[] = []
  for (const lane of ['bulk', 'long'] as const) {
    jobs.handle(
      `test.${lane}-flood`,
      async () => {
        running[lane]++
        await flood.promise
      },
      { lane },
    )
    jobs.handle(`test.other-${lane}`, async () => void ran.push(`other ${lane}`), { lane })
  }
  jobs.handle('test.letter', async () => void ran.push('letter'), { lane: 'urgent' })
  await transaction(db, async (tx) => {
    for (let n = 0; n < 60; n++)
      await jobs.enqueue(tx, n % 2 ? 'test.bulk-flood' : 'test.long-flood', {})
  })
  jobs.start()
  await until(() => running.bulk > 0 && running.long > 1)

  await jobs.enqueue(db, 'test.letter', {})
  await jobs.enqueue(db, 'test.other-bulk', {})
  await jobs.enqueue(db, 'test.other-long', {})
  await until(() => ran.length === 3)
  assert.deepEqual(running, { bulk: 1, long: 2 }, 'each flood has all places of its lane but one')

  const { bulk, long, urgent } = await jobs.lanes()
  assert.deepEqual([bulk.waiting, long.waiting, urgent.waiting], [29, 28, 0])
  flood.resolve()
})

test('a kind never exceeds its concurrent runs, and a lane without slots is left to others', async (t) => {
  const { app, db, jobs } = await lanesApp(t)
  let most = 0
  let now = 0
  let done = 0
  jobs.handle(
    'test.narrow',
    async () => {
      most = Math.max(most, ++now)
      await turn()
      now--
      done++
    },
    { lane: 'long', atOnce: 1 },
  )
  await transaction(db, async (tx) => {
    for (let n = 0; n < 6; n++) await jobs.enqueue(tx, 'test.narrow', {})
  })
  const { clock, log } = app.platform
  const without = new Jobs({ db, clock, log, slots: { ...SLOTS, long: 0 } })
  t.after(() => without.stop())
  const taken: string[] = []
  without.handle('test.narrow', async () => void taken.push('narrow'), { lane: 'long' })
  without.handle('test.brief', async () => void taken.push('brief'), { lane: 'urgent' })
  await without.enqueue(db, 'test.brief', {})
  without.start()
  await until(() => taken.length > 0)
  assert.deepEqual(taken, ['brief'])

  jobs.start()
  await until(() => done === 6)
  assert.equal(most, 1)
})

test('a job that crashes its process each time becomes dead, and delays no other job', async (t) => {
  const { app, db, jobs } = await lanesApp(t)
  let starts = 0
  let letters = 0
  const told: string[] = []
  jobs.onDead(async (_tx, { kind }, error) => void told.push(`${kind}: ${error}`))
  // As after a kill: the lease stands and nobody renews it.
  jobs.handle(
    'test.poison',
    async () => {
      starts++
      await db
        .updateTable('jobs')
        .set({ lease_token: 'of a dead process' })
        .where('kind', '=', 'test.poison')
        .execute()
    },
    { lane: 'urgent', delaysMs: [1_000, 1_000, 1_000] },
  )
  jobs.handle('test.letter', async () => void letters++, { lane: 'urgent' })
  await jobs.enqueue(db, 'test.poison', {})

  for (let life = 1; life <= 12; life++) {
    await jobs.enqueue(db, 'test.letter', {})
    await jobs.drain()
    assert.equal(letters, life)
    app.clock.advance(LEASE_MS + 60_000)
  }
  assert.equal(starts, 6, 'the first loss is free, the others wait')
  assert.equal(told.length, 1)
  assert.match(told[0] ?? '', /test\.poison: the process that ran it ended, at the try 6/)
  assert.deepEqual(await jobs.counts(), { queued: 0, dead: 1 })
})

test('waiting jobs are reported by lane, in the metrics too, and to a command, which handles nothing', async (t) => {
  const app = await testApp(t, { env: { METRICS_TOKEN: 'a metrics token of the test' } })
  const { db, jobs } = app.platform
  jobs.handle('test.slow', async () => {}, { lane: 'long' })
  await jobs.enqueue(db, 'test.slow', {})
  await jobs.enqueue(db, 'test.slow', {}, { runAt: '2999-01-01T00:00:00.000Z' })
  app.clock.advance(90_000)
  const { long } = await jobs.lanes()
  assert.equal(long.waiting, 1, 'one is not due')
  assert.ok(long.ageSeconds >= 90 && long.ageSeconds < 600, String(long.ageSeconds))
  const { clock, log } = app.platform
  const command = new Jobs({ db, clock, log })
  const seen = await command.lanes()
  assert.deepEqual([seen.long.waiting, seen.events.waiting], [1, 0])
  const lines: string[] = []
  const context = {
    config: app.config,
    platform: async () => ({ ...app.platform, jobs: command }),
    print: (line = '') => void lines.push(line),
  }
  assert.equal(await listJobs([], context), 0)
  assert.match(lines.join('\n'), /^long: 1 due, the oldest for 9\d s$/m)
  const metrics = await app.get('/metrics', {
    headers: { authorization: 'Bearer a metrics token of the test' },
  })
  assert.match(metrics.text, /latchkey_jobs_due\{lane="long"\} 1/)
  assert.match(metrics.text, /latchkey_job_age_seconds\{lane="long"\} 9\d/)
  assert.match(metrics.text, /latchkey_job_age_seconds\{lane="urgent"\} 0/)
})
