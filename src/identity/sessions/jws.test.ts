import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { compactVerify } from 'jose'
import { buildHeader, openJws, signJws, splitJws } from './jws.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const header = buildHeader('k1')

test('what was signed is opened, by us and by a standard library', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ maxLength: 200 }), fc.integer(), async (sub, exp) => {
      const token = signJws(header, privateKey, { sub, exp })
      assert.deepEqual(openJws(token, publicKey), { sub, exp })
      const { payload, protectedHeader } = await compactVerify(token, publicKey)
      assert.deepEqual(JSON.parse(new TextDecoder().decode(payload)), { sub, exp })
      assert.deepEqual({ ...protectedHeader }, { alg: 'EdDSA', typ: 'JWT', kid: 'k1' })
    }),
    { numRuns: 50 },
  )
})

test('the same claims give the same token', () => {
  assert.equal(signJws(header, privateKey, { a: 1 }), signJws(header, privateKey, { a: 1 }))
})

test('a token changed anywhere is not opened', () => {
  const token = signJws(header, privateKey, { sub: 'ada', exp: 1 })
  fc.assert(
    fc.property(fc.nat(token.length - 1), fc.constantFrom(...'ABab01-_.= '), (at, character) => {
      fc.pre(token.charAt(at) !== character)
      assert.equal(openJws(token.slice(0, at) + character + token.slice(at + 1), publicKey), null)
    }),
    { numRuns: 500 },
  )
})

test('any other text is no token', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.base64String(),
        fc.array(fc.base64String()).map((p) => p.join('.')),
      ),
      (text) => {
        assert.equal(openJws(text, publicKey), null)
      },
    ),
  )
  assert.equal(splitJws(`${'a'.repeat(20)}.${'b'.repeat(20)}.${'c'.repeat(85)}`), null)
})

test('only one spelling of a signature counts', () => {
  const token = signJws(header, privateKey, { sub: 'ada' })
  const last = token.at(-1)!
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const bytes = Buffer.from(token.split('.')[2]!, 'base64url')
  let spellings = 0
  for (const letter of alphabet) {
    const spelling = token.slice(0, -1) + letter
    if (!Buffer.from(spelling.split('.')[2]!, 'base64url').equals(bytes)) continue
    spellings++
    assert.equal(openJws(spelling, publicKey) !== null, letter === last)
  }
  assert.equal(spellings, 16)
})
