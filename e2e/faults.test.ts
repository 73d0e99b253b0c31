// The short part of `npm run bench -- faults`. Needs TEST_DATABASE_URL, and Debian's PostgreSQL and
// Redis.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseFaults, redisFaults, runFaults } from '../bench/faults/cases.ts'
import { hasPostgres, hasRedis, startPostgres, startRedis } from '../bench/faults/servers.ts'

const AWAY_MS = 1_500

test('failures of PostgreSQL and Redis under load lose nothing, duplicate nothing, and leave no request without a reply', {
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
      'some requests returned 503',
    )
  } finally {
    await redis.end()
    await postgres.end()
  }
})
