import assert from 'node:assert/strict'
import { test } from 'node:test'
import { markSignedIn, readShopMethod } from './shop-entry.ts'

test('the shop names a known method, and only its own page has one', () => {
  assert.equal(readShopMethod('/storefront?state=s&with=github'), 'github')
  for (const other of [
    undefined,
    '/storefront?state=s',
    '/storefront?state=s&with=facebook',
    '/home?with=github',
    '//storefront?with=github',
  ])
    assert.equal(readShopMethod(other), undefined)
})

test('a sign-in on the way to the shop continues at once, and others keep their target', () => {
  assert.equal(
    markSignedIn('/storefront?state=a%2Bb&with=github'),
    '/storefront?state=a%2Bb&continue=true',
  )
  assert.equal(markSignedIn('/usage?days=7'), '/usage?days=7')
  assert.equal(markSignedIn(undefined), undefined)
})
