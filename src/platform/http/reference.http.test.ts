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
    assert.doesNotMatch(reply.headers.get('content-security-policy') ?? '', /script-src[^;]*unsafe/, path)
  }
  assert.equal((await app.get('/redoc/redoc.js')).status, 200)
})

test('the description names every operation and body, and tells errors, streams and defaults', async (t) => {
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
        for (const { schema } of Object.values(content)) assert.notEqual('properties' in schema, true, operationId)
      }
    }
  }

  const query = paths['/api/rag/query'].post
  const stream = query.responses['200'].content['text/event-stream']
  assert.deepEqual(Object.keys(stream['x-events']), ['sources', 'message', 'usage', 'error'])
  assert.deepEqual(components.schemas.QueryDocumentsRequest.required, ['question'])
  assert.deepEqual(query.security, [{ bearer: [] }, { key: [] }])
  const codes = components.responses.Rag403.content['application/json'].schema.allOf[1].properties.code.enum
  assert.ok(codes.includes('paid_tier_needed') && !codes.includes('unauthenticated'))
  const listed = paths['/api/rag/documents'].get.parameters.map((one: { required: boolean }) => one.required)
  assert.deepEqual(listed, [false, false])
})

type Content = { content?: Record<string, { schema: object }> }
type Operation = {
  operationId: string
  tags: string[]
  responses: Record<string, Content>
  requestBody?: Content
}

test('without DEBUG there is nothing to see', async (t) => {
  const app = await testApp(t, { env: { DEBUG: 'false' } })
  for (const path of ['/docs', '/redoc', '/openapi.json']) assert.equal((await app.get(path)).status, 404, path)
})
