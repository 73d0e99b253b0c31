// Holds the checked-in description of the API, the user app's types, and the examples' shapes to
// the routes.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Compile } from 'typebox/compile'
import type { Example, Operation } from '#platform/http/openapi.ts'
import {
  descriptions,
  descriptionText,
  OPENAPI_FILE,
  STOREFRONT_FILE,
  TYPES_FILE,
  typesText,
} from './api-description.ts'
import { listOperations } from './api-reference.ts'
import { type Examples, readExamples } from './examples.ts'

const making = descriptions()

test('the descriptions and the user app’s types are current (npm run docs writes them)', async () => {
  const { api, storefront } = await making
  const isCurrent = (file: string, text: string) =>
    assert.ok(readFileSync(file, 'utf8') === text, `${file} is stale`)
  isCurrent(OPENAPI_FILE, descriptionText(api))
  isCurrent(STOREFRONT_FILE, descriptionText(storefront))
  isCurrent(TYPES_FILE, typesText(api))
})

test('the reference has every operation for API keys, and no plan’s name', async () => {
  const operations = listOperations((await making).api)
  const chat = operations.find(({ id }) => id === 'createChatCompletion')
  const required = chat?.body.filter((field) => field.required && !/[.[]/.test(field.name))
  assert.deepEqual(
    required?.map(({ name }) => name),
    ['model', 'messages'],
  )
  assert.ok(chat?.body.some(({ name }) => name === 'messages[].role'))
  for (const { path, about } of operations) {
    assert.ok(!path.startsWith('/api/admin'), path)
    assert.doesNotMatch(about, /Pro|Enterprise/, path)
  }
})

test('every operation has an example that fits what the description says of it', async () => {
  const kept = readExamples()
  for (const [server, { paths, components }] of Object.entries(await making)) {
    const examples = kept[server as keyof Examples]
    const operations = Object.values(paths).flatMap((one) => Object.values(one))
    for (const operation of operations) {
      const example = examples[operation.operationId]
      assert.ok(
        example,
        `${operation.operationId} has no example: add it to src/testing/example-walk.ts`,
      )
      assertFits(operation, example, (schema) => resolved(schema, components.schemas))
    }
    const known = new Set(operations.map(({ operationId }) => operationId))
    const gone = Object.keys(examples).filter((operation) => !known.has(operation))
    assert.deepEqual(gone, [], 'an example of an operation that is no more: npm run docs')
  }
})

function assertFits(
  operation: Operation,
  example: Example,
  resolve: (schema: object) => object,
): void {
  const { operationId, parameters = [], requestBody, responses } = operation
  const fits = (schema: object, value: unknown, what: string) => {
    const checker = Compile(resolve(schema) as never)
    const says = checker
      .Errors(value)
      .map(({ instancePath, message }) => `${instancePath} ${message}`)
    assert.ok(checker.Check(value), `${what} of ${operationId}: ${says.join('; ')}`)
  }
  for (const { name, required, schema = {} } of parameters) {
    const value = example.parameters?.[name ?? '']
    assert.ok(value !== undefined || !required, `${operationId} has no example of ${name}`)
    if (value !== undefined) fits(schema, value, String(name))
  }
  const [body] = Object.values(requestBody?.content ?? {})
  assert.equal(example.body === undefined, body === undefined, `the body of ${operationId}`)
  if (body) fits(body.schema, example.body, 'the body')

  const reply = responses[example.status]
  assert.ok(reply, `${operationId} does not tell ${example.status}`)
  for (const [type, value] of Object.entries(example.reply ?? {})) {
    const media: { schema?: unknown } | undefined = reply.content?.[type]
    assert.ok(media, `${operationId} does not tell ${type}`)
    fits(media.schema as object, value, type)
  }
  const isBytes = Object.values(reply.content ?? {}).every(
    ({ schema }) => (schema as { format?: unknown }).format === 'binary',
  )
  const isEmpty = example.status === 204 && reply.content === undefined
  assert.ok(
    isEmpty || (example.reply ?? (isBytes && example.headers)),
    `${operationId} has no example of its reply`,
  )
}

/** With what its references name in their place. */
function resolved(schema: unknown, schemas: Record<string, object>): object {
  if (Array.isArray(schema)) return schema.map((part) => resolved(part, schemas))
  if (typeof schema !== 'object' || schema === null) return schema as never
  const { $ref, ...rest } = schema as { $ref?: string }
  if ($ref) return resolved(schemas[$ref.split('/').at(-1) ?? ''], schemas)
  return Object.fromEntries(
    Object.entries(rest).map(([key, part]) => [key, resolved(part, schemas)]),
  )
}

test('a schema’s types are names of types', async () => {
  const { api, storefront } = await making
  const look = (value: unknown, place: string): void => {
    if (typeof value !== 'object' || value === null) return
    const { type } = value as { type?: unknown }
    if (Array.isArray(type)) for (const one of type) assert.equal(typeof one, 'string', place)
    for (const [name, inner] of Object.entries(value)) look(inner, `${place}/${name}`)
  }
  look(api, 'api')
  look(storefront, 'storefront')
})
