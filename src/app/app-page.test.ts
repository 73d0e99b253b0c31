import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PAGE_TEXTS } from './app-page.ts'

test('web/index.html has every English text that the page replaces', () => {
  const page = readFileSync(join(import.meta.dirname, '../../web/index.html'), 'utf8')
  for (const [english] of Object.values(PAGE_TEXTS).flat())
    assert.ok(page.includes(english), english)
})
