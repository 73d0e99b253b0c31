// Holds the checked-in description of the API, and the user app's types, to the routes.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { apiDescription, descriptionText, OPENAPI_FILE, TYPES_FILE, typesText } from './api-description.ts'

test('docs/openapi.json and web/src/api/schema.d.ts are current (npm run docs writes them)', async () => {
  const description = await apiDescription()
  assert.ok(readFileSync(OPENAPI_FILE, 'utf8') === descriptionText(description), 'docs/openapi.json is stale')
  assert.ok(readFileSync(TYPES_FILE, 'utf8') === typesText(description), 'web/src/api/schema.d.ts is stale')
})
