// Holds docs/examples.json to the service: each example is as it is answered today. That they fit
// is held beside the description.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { walkEverything } from '#testing/example-walk.ts'
import { readExamples } from './examples.ts'

const kept = readExamples()

test('docs/examples.json is what a walk through the product records (npm run docs writes it)', async (t) => {
  const walked = await walkEverything(t)
  for (const server of ['api', 'storefront'] as const) {
    for (const [operation, example] of Object.entries(walked[server]))
      assert.deepEqual(kept[server][operation], example, `${operation} is stale`)
    assert.deepEqual(Object.keys(kept[server]), Object.keys(walked[server]))
  }
})
