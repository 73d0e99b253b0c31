// Traces, as a collector gets them; and the log of requests.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { readConfig } from '#config/config.ts'
import { PASSWORD, testApp } from '#testing/app.ts'
import { mockVendor } from '#testing/mock-vendor.ts'
import { createLog } from './log.ts'
import { createMetrics } from './metrics.ts'
import { openExporter } from './otlp.ts'
import { createTracer } from './tracer.ts'

type Attribute = { key: string; value: { stringValue?: string; intValue?: string } }
type Sent = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Attribute[]
  status?: { code: number; message: string }
}

/** A collector that is played; `status` is what it answers. */
async function playedCollector(t: TestContext) {
  const state = {
    status: 200,
    requests: 0,
    bodies: [] as string[],
    headers: {} as NodeJS.Dict<string | string[]>,
  }
  const server = createServer(async (request, reply) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    state.requests++
    if (state.status === 200) state.bodies.push(Buffer.concat(chunks).toString())
    state.headers = request.headers
    reply.writeHead(state.status, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    spans: () =>
      state.bodies.flatMap(
        (body) => JSON.parse(body).resourceSpans[0].scopeSpans[0].spans as Sent[],
      ),
  })
}

const attributeOf = ({ attributes }: Sent, key: string) => {
  const value = attributes.find((attribute) => attribute.key === key)?.value
  return value?.stringValue ?? value?.intValue
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`

test('a request, its calls to vendors, its statements and its jobs are one trace, and nothing private is in it', async (t) => {
  const [collector, vendor] = [await playedCollector(t), await mockVendor(t)]
  const lines: string[] = []
  const app = await testApp(t, {
    env: {
      ...vendor.env.openai,
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a%20b',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=shop,deployment.environment.name=test',
      REQUEST_LOG: 'on',
    },
    log: createLog('info', { write: (line) => void lines.push(line) }, { traced: true }),
  })
  const ada = await app.as('ada', { tier: 'pro' })
  await app.post(
    '/api/auth/register',
    { email: 'eve@example.com', password: PASSWORD },
    { headers: { traceparent } },
  )
  await app.settle()
  const secret = 'What nobody else may read'
  const headers = { authorization: `Bearer ${ada.token}`, traceparent }
  const chat = await app.post(
    '/api/ai/chat',
    { messages: [{ role: 'user', content: secret }] },
    { headers },
  )
  assert.equal(chat.status, 200, chat.text)
  await app.get('/api/nothing?token=very-secret', { headers })
  await app.get('/healthz')
  const toVendor = vendor.calls.at(-1)
  assert.equal(toVendor?.headers.traceparent, undefined, 'no vendor hears of a trace')

  const { telemetry } = app.config
  assert.ok(telemetry.traces)
  await app.restart({
    telemetry: { ...telemetry, traces: { ...telemetry.traces, tellsVendors: true } },
  })
  const spans = collector.spans()
  const named = (name: string) => spans.filter((span) => span.name === name)
  const only = (name: string): Sent => {
    const [first] = named(name).filter(({ traceId }) => traceId === TRACE)
    assert.ok(
      first,
      `${name} is none of ${[...new Set(spans.map((span) => span.name))].join(', ')}`,
    )
    return first
  }

  const server = only('POST /api/ai/chat')
  assert.equal(server.kind, 2)
  assert.equal(server.parentSpanId, '00f067aa0ba902b7')
  assert.equal(attributeOf(server, 'http.response.status_code'), '200')
  assert.equal(attributeOf(server, 'user.id'), ada.userId)
  const [call] = spans.filter(
    ({ parentSpanId, name }) => parentSpanId === server.spanId && name.startsWith('chat '),
  )
  assert.ok(call)
  assert.equal(attributeOf(call, 'latchkey.outcome'), 'ok')
  assert.ok(Number(attributeOf(call, 'gen_ai.usage.output_tokens')) > 0)
  const [asked] = spans.filter(({ parentSpanId }) => parentSpanId === call.spanId)
  assert.ok(asked)
  assert.equal(attributeOf(asked, 'http.response.status_code'), '200')
  for (const inner of [call, asked]) {
    assert.ok(BigInt(inner.startTimeUnixNano) >= BigInt(server.startTimeUnixNano))
    assert.ok(BigInt(inner.endTimeUnixNano) <= BigInt(server.endTimeUnixNano))
  }

  const registered = only('POST /api/auth/register')
  const statements = spans.filter(
    ({ parentSpanId, name }) => parentSpanId === registered.spanId && name === 'database',
  )
  assert.ok(statements.length > 0 && statements.length <= 20, String(statements.length))
  assert.match(
    statements.map((span) => attributeOf(span, 'db.query.summary')).join(),
    /insert users/,
  )
  const job = only('job mail.send')
  assert.equal(job.kind, 5)
  assert.equal(job.parentSpanId, registered.spanId, 'a job is of the trace that wrote it')
  assert.equal(named('GET /healthz').length, 0)
  assert.equal(collector.headers['x-tenant'], 'a b')
  const sent = collector.bodies.join()
  assert.match(sent, /"service\.name","value":\{"stringValue":"shop"/)
  for (const word of [secret, 'eve@', 'ada@', PASSWORD, 'very-secret', ada.token.slice(-20)])
    assert.ok(!sent.includes(word), word)

  // The request log: one line each, without the request's content.
  const requests = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
  const line = requests.find(({ route }) => route === '/api/ai/chat')
  assert.deepEqual(
    [line.method, line.status, line.user, line.trace_id],
    ['POST', 200, ada.userId, TRACE],
  )
  assert.ok(line.bytes > chat.text.length && line.ms >= 0)
  assert.equal(line.reqId, chat.headers.get('x-request-id'))
  const missing = requests.find(({ status }) => status === 404)
  assert.deepEqual([missing.code, 'address' in missing], ['not_found', false])
  assert.ok(!requests.some(({ route }) => route === '/healthz'))
  for (const word of [secret, 'eve@', PASSWORD, 'very-secret'])
    assert.ok(!lines.join().includes(word), word)

  // Sent when a setting enables it, as part of the same trace.
  await app.post('/api/ai/chat', { messages: [{ role: 'user', content: 'Hello' }] }, { headers })
  assert.match(
    String(vendor.calls.at(-1)?.headers.traceparent),
    new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`),
  )
})

test('a collector that never answers does not delay the shutdown', async (t) => {
  const asked = Promise.withResolvers<void>()
  const server = createServer(() => asked.resolve())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const config = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: url }).telemetry.traces
  assert.ok(config)
  const exporter = openExporter(config, { log: createLog('silent'), metrics: createMetrics() })
  const tracer = createTracer(config, exporter.take)
  for (let n = 0; n < 512; n++) tracer.start(`span ${n}`).end()
  await asked.promise
  const from = performance.now()
  await exporter.close()
  // A request may take ten seconds, the end of all of them two.
  assert.ok(performance.now() - from < 9_000, `${performance.now() - from} ms`)
})

test('an unreachable collector is reported once, is not flooded, and gets the spans it missed; spans without room are counted', async (t) => {
  const collector = await playedCollector(t)
  collector.status = 503
  const warned = Promise.withResolvers<void>()
  const lines: string[] = []
  const write = (line: string) => {
    lines.push(line)
    warned.resolve()
  }
  const config = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }).telemetry.traces
  assert.ok(config)
  const metrics = createMetrics()
  const exporter = openExporter(config, { log: createLog('warn', { write }), metrics })
  const tracer = createTracer(config, exporter.take)
  for (let n = 0; n < 5_000; n++) tracer.start(`span ${n}`).end()
  await warned.promise
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(collector.requests, 1)
  assert.equal(lines.length, 1, lines.join())

  collector.status = 200
  await exporter.close()
  const names = new Set(collector.spans().map(({ name }) => name))
  const told = await metrics.registry.metrics()
  const counted = (result: string) =>
    Number(new RegExp(`latchkey_trace_spans_total\\{result="${result}"\\} (\\d+)`).exec(told)?.[1])
  assert.equal(counted('sent'), names.size)
  assert.equal(counted('sent') + counted('dropped'), 5_000)
  assert.ok(names.size >= 4_096, String(names.size))
})
