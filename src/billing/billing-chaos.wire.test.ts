import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { differences } from '#testing/billing-chaos/truth.ts'
import { chaosCatalogue, playChaos, reconcileAll } from '#testing/billing-chaos/world.ts'

const HISTORIES = 50

test('matches the processor after random histories of subscriptions and purchases', async (t) => {
  const seed = Number(process.env.CHAOS_SEED ?? Math.floor(Math.random() * 1e6))
  t.diagnostic(`CHAOS_SEED=${seed}`)
  const app = await testApp(t, { env: chaosCatalogue(t) })
  await playChaos(app, { seed, histories: HISTORIES, steps: 4 })
  await app.settle()
  await app.restart()
  await reconcileAll(app)
  assert.deepEqual(await differences(app, `chaos-${seed}`), [], `CHAOS_SEED=${seed}`)
})
