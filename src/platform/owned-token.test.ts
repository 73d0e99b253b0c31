import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { ownedToken, readOwner } from './owned-token.ts'

test('a token contains its owner’s id, and other texts are rejected', () => {
  for (let count = 0; count < 200; count++) {
    const owner = randomUUID()
    const token = ownedToken(owner)
    assert.equal(readOwner(token), owner)
    assert.notEqual(ownedToken(owner), token)
    assert.match(token, /^[\w-]{64}$/)
    for (const wrong of [
      token.slice(1),
      `${token}A`,
      `${token.slice(1)}.`,
      `${token.slice(1)}\n`,
      '',
    ]) {
      assert.equal(readOwner(wrong), null)
    }
  }
})
