import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { playThieves } from '#testing/billing-chaos/thief.ts'
import { chaosCatalogue } from '#testing/billing-chaos/world.ts'

test('over a year of trials, changes, refunds, disputes, pauses and grace nobody spends more than their payments bought', async (t) => {
  const seed = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 1e6))
  t.diagnostic(`CHAOS_SEED=${seed}`)
  const app = await testApp(t, { env: chaosCatalogue(t) })
  const { wrong, bought, spent, calls } = await playThieves(app, { seed, thieves: 6, rounds: 10 })
  t.diagnostic(`${calls} calls for $${spent.toFixed(0)} of $${bought.toFixed(0)} bought`)
  assert.deepEqual(wrong, [], `CHAOS_SEED=${seed}`)
  assert.ok(calls > 20, 'they spend something')
})
