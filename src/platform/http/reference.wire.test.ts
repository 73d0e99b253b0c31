import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'

test('with DEBUG the API describes itself, and both references load without inline scripts', async (t) => {
  const app = await testApp(t, { env: { DEBUG: 'true' } })
  const description = await app.get('/openapi.json')
  assert.equal(description.status, 200)
  assert.match(description.body.openapi, /^3\.1/)
  for (const path of ['/docs', '/redoc']) {
    const reply = await app.request('GET', path, { redirect: 'follow' })
    assert.equal(reply.status, 200, path)
    assert.doesNotMatch(reply.text, /<script(?![^>]*\ssrc=)[^>]*>[^<]/, path)
    assert.doesNotMatch(
      reply.headers.get('content-security-policy') ?? '',
      /script-src[^;]*unsafe/,
      path,
    )
  }
  assert.equal((await app.get('/redoc/redoc.js')).status, 200)
})

test('the description names every operation and body, and documents errors, streams and defaults', async (t) => {
  const app = await testApp(t, { env: { DEBUG: 'true' } })
  const { paths, components, tags } = (await app.get('/openapi.json')).body
  const described = JSON.stringify({ paths, components })
  for (const [, section, name] of described.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
    assert.ok(components[section ?? ''][name ?? ''], `${section}/${name}`)
  }
  const tagged = new Set(tags.map(({ name }: { name: string }) => name))
  const names = new Set<string>()
  for (const [path, operations] of Object.entries<Record<string, Operation>>(paths)) {
    for (const { operationId, tags: own, responses, requestBody } of Object.values(operations)) {
      assert.match(operationId, /^[a-z]+[A-Za-z]*$/, path)
      assert.ok(!names.has(operationId), operationId)
      names.add(operationId)
      assert.ok(own.every((tag) => tagged.has(tag)) && responses.default, path)
      for (const { content = {} } of [requestBody ?? {}, responses['200'] ?? {}]) {
        for (const { schema } of Object.values(content))
          assert.notEqual('properties' in schema, true, operationId)
      }
    }
  }

  const query = paths['/api/rag/query'].post
  const stream = query.responses['200'].content['text/event-stream']
  assert.deepEqual(Object.keys(stream['x-events']), [
    'sources',
    'message',
    'citations',
    'usage',
    'error',
  ])
  assert.deepEqual(components.schemas.QueryDocumentsRequest.required, ['question'])
  assert.deepEqual(query.security, [{ bearer: [] }, { key: [] }, { key_header: [] }])
  const refused = components.responses.Rag403
  assert.ok(
    refused.description.includes('paid_tier_needed') &&
      !refused.description.includes('unauthenticated'),
  )
  assert.ok(components.schemas.RagError.properties.code.enum.includes('unauthenticated'))
  const listed = paths['/api/rag/documents'].get.parameters.map(
    (one: { required: boolean }) => one.required,
  )
  assert.deepEqual(listed, Array(9).fill(false))
})

type Content = { content?: Record<string, { schema: object }>; headers?: object }
type Operation = {
  operationId: string
  tags: string[]
  responses: Record<string, Content>
  requestBody?: Content
}

test('on both servers every operation documents its replies, and every shape has a name', async (t) => {
  const app = await testApp(t, { env: { DEBUG: 'true' } })
  for (const reply of [await app.get('/openapi.json'), await app.store('GET', '/openapi.json')]) {
    const { paths, components } = reply.body
    for (const operations of Object.values<Record<string, Operation>>(paths)) {
      for (const { operationId, responses, requestBody } of Object.values(operations)) {
        const told = Object.entries(responses).filter(([status]) => /^[23]/.test(status))
        assert.ok(told.length > 0, `${operationId} tells no success`)
        for (const [status, { content, headers }] of told)
          assert.ok(
            content ?? headers ?? (status === '202' || status === '204'),
            `${operationId} does not tell its ${status}`,
          )
        for (const part of [requestBody, ...Object.values(responses)])
          assertNamed(part?.content, operationId)
      }
    }
    for (const [name, { properties, items }] of Object.entries<Shape>(components.schemas))
      assertNamed([properties, items], name)
  }
})

test('each server returns errors of common routes in its documented format', async (t) => {
  const app = await testApp(t, { env: { DEBUG: 'true' } })
  const servers = [
    [await app.get('/openapi.json'), await app.get('/metrics')],
    [await app.store('GET', '/openapi.json'), await app.store('GET', '/metrics')],
  ] as const
  for (const [{ body: description }, refused] of servers) {
    assert.equal(refused.status, 401)
    const { properties, required } = description.components.schemas.HealthError
    assert.deepEqual(Object.keys(refused.body).toSorted(), required.toSorted())
    assert.ok(properties.code.enum.includes(refused.body.code))
  }
})

type Shape = { properties?: object; items?: object }

/** A client's generator calls a shape without a name by its place: `ChatRequestMessagesItem`. */
function assertNamed(part: unknown, place: string): void {
  if (typeof part !== 'object' || part === null) return
  assert.ok(!('properties' in part && 'type' in part), `${place} has a shape without a name`)
  for (const inner of Object.values(part)) assertNamed(inner, place)
}

test('without DEBUG, there is no API reference', async (t) => {
  const app = await testApp(t, { env: { DEBUG: 'false' } })
  for (const path of ['/docs', '/redoc', '/openapi.json'])
    assert.equal((await app.get(path)).status, 404, path)
  assert.equal((await app.store('GET', '/openapi.json')).status, 404)
})
