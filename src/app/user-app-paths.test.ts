import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasUserAppPage } from './user-app-paths.ts'

test('the app has a page at its addresses only', () => {
  for (const path of ['/', '/pricing', '/pricing/', '/Login', '/documents/0123456789ab'])
    assert.equal(hasUserAppPage(path), true, path)
  for (const path of [
    '/terms',
    '/pricing/x',
    '/documents/a/b',
    '/documents//',
    '//',
    '/wp-login.php',
  ])
    assert.equal(hasUserAppPage(path), false, path)
})
