import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plus } from '#platform/clock.ts'
import { testApp } from '#testing/app.ts'
import { scansOf } from '#testing/plans.ts'
import { forgetOldEvents } from './retention.ts'

const DAY_MS = 86_400_000

test('events and jobs of long ago go, in slices and by an index; those of yesterday stay', async (t) => {
  const app = await testApp(t, { env: { RETENTION_EVENTS_DAYS: '30' } })
  const { db, clock, config } = app.platform
  const event = (event_id: string, ageDays: number) => ({
    source: 'test',
    event_id,
    payload_json: {},
    received_at: plus(clock.now(), -ageDays * DAY_MS),
    handled_at: plus(clock.now(), -ageDays * DAY_MS),
  })
  const job = (id: string, status: 'queued' | 'dead', ageDays: number, leasedMs: number | null = null) => ({
    id,
    kind: 'test.gone',
    payload_json: {},
    dedupe_key: null,
    status,
    run_at: plus(clock.now(), -ageDays * DAY_MS),
    leased_until: leasedMs === null ? null : plus(clock.now(), leasedMs),
    lease_token: null,
    attempts: 0,
    last_error: null,
    created_at: plus(clock.now(), -ageDays * DAY_MS),
  })
  for (let slice = 0; slice < 7; slice++) {
    await db
      .insertInto('inbox')
      .values(Array.from({ length: 100 }, (_, index) => event(`old-${slice}-${index}`, 31)))
      .execute()
  }
  await db.insertInto('inbox').values(event('new', 29)).execute()
  await db
    .insertInto('jobs')
    .values([
      job('dead old', 'dead', 31),
      job('dead new', 'dead', 29),
      job('nobody runs it', 'queued', 31),
      job('runs just now', 'queued', 31, 10_000),
      job('of tomorrow', 'queued', -1),
    ])
    .execute()

  const scans = await scansOf(app, (scanned) => forgetOldEvents({ db: scanned, clock, config }))

  assert.deepEqual(scans, [])
  const events = await db.selectFrom('inbox').select('event_id').where('source', '=', 'test').execute()
  assert.deepEqual(events, [{ event_id: 'new' }])
  const jobs = await db.selectFrom('jobs').select('id').where('kind', '=', 'test.gone').orderBy('id').execute()
  assert.deepEqual(
    jobs.map(({ id }) => id),
    ['dead new', 'of tomorrow', 'runs just now'],
  )
})
