import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { KNOCK_MS, NeighbourAway } from './neighbours.ts'

test('a job whose neighbour is unreachable waits its usual delays and does not become dead', async (t) => {
  const app = await testApp(t)
  const { db, jobs } = app.platform
  let tries = 0
  let knocks = 0
  const needs = { name: 'test', answers: async () => ++knocks > 0 }
  jobs.handle(
    'test.letter',
    async () => {
      tries++
      throw new NeighbourAway('away')
    },
    { needs },
  )
  await jobs.enqueue(db, 'test.letter', {})
  for (let round = 0; round < 25; round++) {
    await app.settle()
    app.clock.advance(KNOCK_MS * 1.1)
  }
  assert.equal(tries, 4, 'the fifth is due after two minutes')
  assert.equal(knocks, 4)
  assert.deepEqual(await jobs.counts(), { queued: 1, dead: 0 })
})
