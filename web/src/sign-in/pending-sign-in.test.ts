import assert from 'node:assert/strict'
import test from 'node:test'
import { clearPending, readPending, savePending } from './pending-sign-in.ts'

const MINUTE = 60_000

test('a sign-in is pending until it completes or expires', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
  assert.equal(readPending(), null)

  savePending({ as: 'ada', returnTo: '/account?tab=data' })
  assert.deepEqual(readPending(), { as: 'ada', returnTo: '/account?tab=data' })
  clearPending()
  assert.equal(readPending(), null)

  savePending({ as: null, returnTo: undefined })
  t.mock.timers.tick(19 * MINUTE)
  assert.deepEqual(readPending(), { as: null })
  t.mock.timers.tick(MINUTE)
  assert.equal(readPending(), null)
})
