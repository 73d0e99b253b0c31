import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { buildPage, CONFORMANCE_FILE, playMatrix } from '#testing/conformance/page.ts'

test('every wire case is right at every door and on every vendor’s model, or rejected clearly', async (t) => {
  const outcomes = await playMatrix(t)
  assert.deepEqual(
    outcomes.flatMap(({ verdict, door, vendor, name, why }) =>
      verdict === 'wrong' ? [`${door}, ${vendor}: ${name}: ${why}`] : [],
    ),
    [],
  )
  assert.equal(
    readFileSync(CONFORMANCE_FILE, 'utf8'),
    buildPage(outcomes),
    'docs/conformance.md is old: npm run docs',
  )
})
