import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { OF_AN_UNUSED_SERVICE } from './copied.ts'

test('every test that wants a service without a past is there, once', () => {
  const folder = join(import.meta.dirname, '..')
  const texts = globSync('**/*.{http,wire}.test.ts', { cwd: folder }).map((path) =>
    readFileSync(join(folder, path), 'utf8'),
  )
  for (const name of Object.values(OF_AN_UNUSED_SERVICE).flat()) {
    const named = new RegExp(`^(?:test|describe|suite)\\(\\s*'${RegExp.escape(name)}`, 'gm')
    assert.equal(texts.flatMap((text) => [...text.matchAll(named)]).length, 1, name)
  }
})
