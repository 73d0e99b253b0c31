import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { playThieves, THIEVES_A_BLOCK } from '#testing/billing-chaos/thief.ts'
import { chaosCatalogue } from '#testing/billing-chaos/world.ts'

test('no customer spends more than their payments bought over a year of trials, changes, refunds, disputes, pauses and grace', async (t) => {
  const seed = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 1e4))
  t.diagnostic(`CHAOS_SEED=${seed}`)
  const app = await testApp(t, { env: chaosCatalogue(t) })
  const seeds = Array.from({ length: 6 }, (_, index) => seed * THIEVES_A_BLOCK + index)
  const { wrong, bought, spent, calls } = await playThieves(app, { seeds, rounds: 10 })
  t.diagnostic(`${calls} calls for $${spent.toFixed(0)} of $${bought.toFixed(0)} bought`)
  assert.deepEqual(wrong, [], `CHAOS_SEED=${seed}`)
  assert.ok(calls > 20, 'the customers spend something')
})
