import assert from 'node:assert/strict'
import test from 'node:test'
import { forgetSignIn, pendingSignIn, rememberSignIn } from './pending-sign-in.ts'

const MINUTE = 60_000

test('a sign-in is pending once somebody has set out, until they are back or it is too late', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
  assert.equal(pendingSignIn(), null)

  rememberSignIn({ as: 'ada', returnTo: '/account?tab=data' })
  assert.deepEqual(pendingSignIn(), { as: 'ada', returnTo: '/account?tab=data' })
  forgetSignIn()
  assert.equal(pendingSignIn(), null)

  rememberSignIn({ as: null, returnTo: undefined })
  t.mock.timers.tick(19 * MINUTE)
  assert.deepEqual(pendingSignIn(), { as: null })
  t.mock.timers.tick(MINUTE)
  assert.equal(pendingSignIn(), null)
})
