// The short half of `npm run bench -- faults`: on machines that have Debian's PostgreSQL, in the run that wants a server.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseFaults, redisFaults, runFaults } from '../bench/faults/cases.ts'
import { hasPostgres, hasRedis, startPostgres, startRedis } from '../bench/faults/servers.ts'

const AWAY_MS = 1_500

test('a PostgreSQL and a Redis that fail under load lose nothing, double nothing, and leave nobody without an answer', {
  skip: !process.env.TEST_DATABASE_URL || !hasPostgres() || !hasRedis(),
}, async () => {
  const postgres = await startPostgres()
  const redis = await startRedis()
  try {
    const faults = [...databaseFaults(postgres, AWAY_MS), ...redisFaults(redis, AWAY_MS)]
    const outcomes = await runFaults(postgres, faults, { REDIS_URL: redis.url })
    assert.equal(outcomes.length, faults.length)
    for (const { name, wrong, answers } of outcomes)
      assert.deepEqual(wrong, [], `${name}: ${answers}`)
    assert.ok(
      outcomes.some(({ answers }) => answers.includes('503')),
      'some of it was noticed',
    )
  } finally {
    await redis.end()
    await postgres.end()
  }
})
