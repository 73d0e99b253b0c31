// Holds docs/examples.json to the service: every operation has an example, as it is answered today, and it fits its schema.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Compile } from 'typebox/compile'
import type { Example } from '#platform/http/openapi.ts'
import { walkEverything } from '#testing/example-walk.ts'
import { descriptions } from './api-description.ts'
import { type Examples, readExamples } from './examples.ts'

const kept = readExamples()

test('docs/examples.json is what a walk through the product records (npm run docs writes it)', async (t) => {
  const walked = await walkEverything(t)
  for (const server of ['api', 'storefront'] as const) {
    for (const [operation, example] of Object.entries(walked[server]))
      assert.deepEqual(kept[server][operation], example, `${operation} is stale`)
    assert.deepEqual(Object.keys(kept[server]), Object.keys(walked[server]))
  }
})

test('every operation has an example that fits what the description says of it', async () => {
  const described = await descriptions()
  for (const [server, { paths, components }] of Object.entries(described)) {
    for (const operation of Object.values(paths).flatMap((one) => Object.values(one))) {
      const example = kept[server as keyof Examples][operation.operationId]
      assert.ok(example, `${operation.operationId} has no example: add it to src/testing/example-walk.ts`)
      assertFits(operation, example, (schema) => resolved(schema, components.schemas))
    }
  }
})

type Operation = Awaited<ReturnType<typeof descriptions>>['api']['paths'][string][string]

function assertFits(operation: Operation, example: Example, resolve: (schema: object) => object): void {
  const { operationId, parameters = [], requestBody, responses } = operation
  const fits = (schema: object, value: unknown, what: string) => {
    const checker = Compile(resolve(schema) as never)
    const says = checker.Errors(value).map(({ instancePath, message }) => `${instancePath} ${message}`)
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
  const isBytes = Object.keys(reply.content ?? {}).every((type) => type === 'application/zip')
  assert.ok(example.reply ?? (isBytes && example.headers), `${operationId} has no example of its reply`)
}

/** With what its references name in their place. */
function resolved(schema: unknown, schemas: Record<string, object>): object {
  if (Array.isArray(schema)) return schema.map((part) => resolved(part, schemas))
  if (typeof schema !== 'object' || schema === null) return schema as never
  const { $ref, ...rest } = schema as { $ref?: string }
  if ($ref) return resolved(schemas[$ref.split('/').at(-1) ?? ''], schemas)
  return Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, resolved(part, schemas)]))
}
