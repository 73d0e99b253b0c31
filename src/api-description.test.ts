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

test('a schema’s types are names of types', async () => {
  const { api, storefront } = await descriptions()
  const look = (value: unknown, place: string): void => {
    if (typeof value !== 'object' || value === null) return
    const { type } = value as { type?: unknown }
    if (Array.isArray(type)) for (const one of type) assert.equal(typeof one, 'string', place)
    for (const [name, inner] of Object.entries(value)) look(inner, `${place}/${name}`)
  }
  look(api, 'api')
  look(storefront, 'storefront')
})
