import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#platform/clock.ts'
import { testApp } from '#testing/app.ts'
import { Heartbeat } from './heartbeat.ts'
import { listPartOutages } from './part-outages.ts'

test('a killed process leaves an outage from its last beat to the next process', async (t) => {
  const app = await testApp(t)
  const { platform, clock } = app
  const { db } = platform
  // The service of the test has no worker, so only these lines write about it.
  const dieNow = async () => {
    await db.deleteFrom('service_parts').where('part', '=', 'worker').execute()
    const row = { part: 'worker', seen_at: clock.now(), is_ended: false }
    await db.insertInto('service_parts').values(row).execute()
  }
  const runAndStop = async () => {
    const config = { ...platform.config, serve: new Set(['worker'] as const) }
    const heartbeat = new Heartbeat({ ...platform, config })
    await heartbeat.start()
    await heartbeat.stop()
  }
  const list = async (days = 1) =>
    (await listPartOutages(platform, { days })).map(({ parts, from, until }) => [
      parts.join(' '),
      until === null ? 'lasts' : Math.round((Date.parse(until) - Date.parse(from)) / MINUTE_MS),
    ])

  await dieNow()
  assert.deepEqual(await list(), [], 'it runs')
  clock.advance(MINUTE_MS)
  await runAndStop()
  assert.deepEqual(await list(), [], 'a restart within two minutes is no outage')
  clock.advance(HOUR_MS)
  assert.deepEqual(await list(), [], 'the operator stopped it')
  await runAndStop()
  assert.deepEqual(await list(), [], 'the operator stopped it, and started it again')

  await dieNow()
  clock.advance(3 * MINUTE_MS)
  assert.deepEqual(await list(), [['worker', 'lasts']])
  clock.advance(HOUR_MS)
  await runAndStop()
  assert.deepEqual(await list(), [['worker', 63]])

  const times = { began_at: clock.now(), ended_at: new Date(clock.ms() + HOUR_MS).toISOString() }
  const parts = ['storefront', 'api'].map((part) => ({ part, ...times }))
  await db.insertInto('service_outages').values(parts).execute()
  assert.deepEqual(
    await list(),
    [
      ['api storefront', 60],
      ['worker', 63],
    ],
    'parts that are away together are one outage',
  )

  await dieNow()
  clock.advance(8 * DAY_MS)
  assert.deepEqual(await list(), [], 'a part that is away for a week was removed')
  assert.equal((await list(30)).length, 2)
})
