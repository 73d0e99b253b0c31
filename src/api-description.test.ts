// Holds the checked-in description of the API, and the user app's types, to the routes.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  descriptions,
  descriptionText,
  OPENAPI_FILE,
  STOREFRONT_FILE,
  TYPES_FILE,
  typesText,
} from './api-description.ts'

test('the descriptions and the user app’s types are current (npm run docs writes them)', async () => {
  const { api, storefront } = await descriptions()
  const isCurrent = (file: string, text: string) => assert.ok(readFileSync(file, 'utf8') === text, `${file} is stale`)
  isCurrent(OPENAPI_FILE, descriptionText(api))
  isCurrent(STOREFRONT_FILE, descriptionText(storefront))
  isCurrent(TYPES_FILE, typesText(api))
})
