import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseRedirect, safeRedirect } from './redirect.ts'

test('paths of this server are kept', () => {
  for (const path of [
    '/',
    '/dashboard',
    '/api/checkout?tier=pro',
    '/dashboard?success=true&session_id=cs_1#top',
  ]) {
    assert.equal(safeRedirect(path), path)
  }
})

test('a target outside the shop becomes the dashboard', () => {
  const hostile = [
    undefined,
    '',
    'dashboard',
    'https://evil.example',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    ' //evil.example',
    '/.//evil.example',
    '/a/..//evil.example',
    '/%09/evil.example\u0000',
    'javascript:alert(1)',
    '/login?redirect=/login',
    '/logout',
    `/${'a'.repeat(3000)}`,
  ]
  for (const target of hostile)
    assert.equal(safeRedirect(target), '/dashboard', JSON.stringify(target))
})

test('no target leaves the server, however it is written', () => {
  const sign = fc.constantFrom(
    '/',
    '\\',
    '.',
    '@',
    ':',
    '?',
    '#',
    '%2f',
    '\t',
    '\n',
    'evil.example',
    'https:',
    'a',
  )
  fc.assert(
    fc.property(fc.array(sign, { maxLength: 8 }), (signs) => {
      const reached = new URL(safeRedirect(signs.join('')), 'https://shop.example')
      assert.equal(reached.origin, 'https://shop.example')
    }),
    { numRuns: 2000 },
  )
})

test('the target is read from the address as it is written, encoded or not', () => {
  assert.equal(parseRedirect('/login?redirect=/api/checkout?tier=pro'), '/api/checkout?tier=pro')
  assert.equal(
    parseRedirect('/login?redirect=%2Fapi%2Fcheckout%3Ftier%3Dpro'),
    '/api/checkout?tier=pro',
  )
  assert.equal(
    parseRedirect('/login?redirect=%2Fdashboard%3Fa%3D1%26b%3D2&error=x'),
    '/dashboard?a=1&b=2',
  )
  assert.equal(
    parseRedirect('/login?redirect=/dashboard?success=true&session_id=cs_1'),
    '/dashboard?success=true&session_id=cs_1',
  )
  assert.equal(parseRedirect('/login'), undefined)
  assert.equal(parseRedirect('/login?redirect=%E0%A4%A'), undefined)
})
