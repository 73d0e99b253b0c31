import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crashRounds } from '../bench/crash/rounds.ts'

test('kill -9 during the main path loses nothing acknowledged and sends no email twice', async () => {
  for (const round of await crashRounds(3)) {
    assert.deepEqual(
      round.wrong,
      [],
      `killed after ${round.killedAfterMs} ms, with ${round.acknowledged}`,
    )
  }
})
