import assert from 'node:assert/strict'
import test from 'node:test'
import { freshSignIn } from './fresh-sign-in.ts'

test('concurrent requests share one dialog', async () => {
  let drawn = 0
  const leave = freshSignIn.subscribe(() => drawn++)
  const answers = Promise.all([freshSignIn.ask(), freshSignIn.ask(), freshSignIn.ask()])
  assert.equal(freshSignIn.isAsked(), true)
  assert.equal(drawn, 1)
  freshSignIn.settle(true)
  assert.deepEqual(await answers, [true, true, true])
  assert.equal(freshSignIn.isAsked(), false)

  const again = freshSignIn.ask()
  freshSignIn.settle(false)
  assert.equal(await again, false)
  leave()
})

test('resolves to false without a dialog, or when it unmounts', async () => {
  assert.equal(await freshSignIn.ask(), false)
  const leave = freshSignIn.subscribe(() => undefined)
  const waiting = freshSignIn.ask()
  leave()
  assert.equal(await waiting, false)
})
