// Replies sent before their request has arrived completely: the next request on the same connection
// still gets an answer.
import assert from 'node:assert/strict'
import { type AddressInfo, connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { before, suite, type TestContext, test } from 'node:test'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { createEntitlements } from '#catalogue/entitlements.ts'
import { testApp } from '#testing/app.ts'
import { suiteContext } from '#testing/suite.ts'
import { DatabaseUnreachable } from '../db/failures.ts'
import type { Caller } from './access-control.ts'
import { createApp } from './app.ts'
import { BodyAdmission } from './bodies.ts'
import { apiErrors } from './replies.ts'

const MEGABYTE = 1024 * 1024

/** The outcome of a request, by its token or its type: the status, and when it is known. */
const OUTCOMES = {
  ok: 200,
  'unknown-at-once': 401,
  'unknown-later': 401,
  'away-at-once': 503,
  'away-later': 503,
  'begun-and-left': 503,
  'piped-and-left': 503,
} as const
type Outcome = keyof typeof OUTCOMES

const FRAMINGS = ['by length', 'in chunks'] as const
/**
 * When the body comes: `after`: its second half only once the answer is there; `pipelined`: the
 * next request with it.
 */
const ARRIVALS = ['whole', 'late', 'after', 'pipelined'] as const

suite('a request that is answered early', () => {
  const end = suiteContext()
  let port = 0
  before(async () => {
    port = await serve(end)
  })

  for (const [outcome, status] of Object.entries(OUTCOMES) as [Outcome, number][]) {
    test(`${outcome} (${status}): the next one on its connection is answered`, async () => {
      const cases = [0, 100, 70_000, MEGABYTE].flatMap((size) =>
        FRAMINGS.flatMap((framing) => ARRIVALS.map((arrival) => ({ size, framing, arrival }))),
      )
      const wrong: string[] = []
      await Promise.all(
        cases.map(async (one) => {
          // No reply is sent before it has arrived.
          if (one.arrival === 'after' && (outcome === 'ok' || one.size === 0)) return
          const seen = await twoOnOne(port, outcome, one)
          if (seen !== `${status}, 200`)
            wrong.push(`${one.size} bytes ${one.framing}, ${one.arrival}: ${seen}`)
        }),
      )
      assert.deepEqual(wrong, [])
    })
  }

  test('a thousand requests in a row on one connection all get their replies, rejected ones included', async (t) => {
    const dispatcher = new Agent({ connections: 1, headersTimeout: 20_000 })
    t.after(() => dispatcher.destroy())
    const outcomes = Object.keys(OUTCOMES) as Outcome[]
    const sizes = [0, 100, 100, 100, 70_000]
    for (let index = 0; index < 1_000; index++) {
      const outcome = outcomes[index % outcomes.length] ?? 'ok'
      const size = index % 40 === 1 ? MEGABYTE - 100 : (sizes[index % sizes.length] ?? 0)
      const { statusCode, body } = await request(`http://127.0.0.1:${port}${pathOf(outcome)}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${outcome}`, 'content-type': typeOf(outcome) },
        body: jsonOf(size),
        dispatcher,
      })
      const answer = (await body.json()) as { bytes?: number }
      assert.equal(statusCode, OUTCOMES[outcome], `the ${index}th, ${outcome}, of ${size} bytes`)
      if (outcome === 'ok') assert.equal(answer.bytes, size)
      for (let turns = index % 4; turns > 0; turns--) await turn()
    }
  })
})

async function serve(t: Pick<TestContext, 'after'>): Promise<number> {
  const { platform } = await testApp(t)
  const callers: Record<string, () => Caller | null | Promise<Caller | null>> = {
    'unknown-at-once': () => null,
    'unknown-later': () => turn(null),
    'away-at-once': () => {
      throw new DatabaseUnreachable('away')
    },
    'away-later': () => turn().then(() => Promise.reject(new DatabaseUnreachable('away'))),
  }
  const app = await createApp(platform, {
    authenticators: {
      bearer: (token) => (callers[token] ?? (() => ADA))(),
      apiKey: { claims: () => false, authenticate: () => null },
      session: { cookie: 'session', authenticate: async () => null, problem: () => assert.fail() },
    },
    entitlements: createEntitlements(platform.config.catalogue, platform.config),
    limits: {},
    api: /^\/api\//,
    documented: /^\/api\//,
    url: 'http://127.0.0.1',
    errorsOf: () => apiErrors,
    state: { draining: false },
    bodies: new BodyAdmission(platform),
    connections: { watch() {}, release() {} },
  })
  app.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null))
  const policy = { access: 'user', limit: 'none' } as const
  app.post(
    '/api/all',
    { bodyLimit: 2 * MEGABYTE, config: policy, schema: { operationId: 'all' } },
    async (asked) => ({ bytes: ((asked.body ?? '') as string).length }),
  )
  // As a form's parser does that has seen enough, and as one does whose reader is gone.
  app.post(
    '/api/begun',
    { bodyLimit: 2 * MEGABYTE, config: policy, schema: { operationId: 'begun' } },
    async ({ raw }) => {
      await new Promise((resolve) => raw.once('data', resolve).once('end', resolve).resume())
      raw.pause()
      throw new DatabaseUnreachable('away')
    },
  )
  app.post(
    '/api/piped',
    { bodyLimit: 2 * MEGABYTE, config: policy, schema: { operationId: 'piped' } },
    async ({ raw }) => {
      raw.pipe(new PassThrough())
      await turn()
      throw new DatabaseUnreachable('away')
    },
  )
  t.after(() => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

const ADA: Caller = {
  userId: 'ada',
  email: 'ada@example.com',
  sessionId: null,
  keyId: null,
  tier: 'free',
  slices: null,
  scopes: null,
  isActive: true,
  isVerified: true,
  isSuperuser: false,
}

const pathOf = (outcome: Outcome) =>
  outcome === 'begun-and-left'
    ? '/api/begun'
    : outcome === 'piped-and-left'
      ? '/api/piped'
      : '/api/all'
const typeOf = (outcome: Outcome) =>
  pathOf(outcome) === '/api/all' ? 'application/json' : 'multipart/form-data'
const jsonOf = (size: number) => (size === 0 ? '' : JSON.stringify('x'.repeat(size)))

type Sent = { size: number; framing: (typeof FRAMINGS)[number]; arrival: (typeof ARRIVALS)[number] }

/** @returns both statuses, or what came instead. */
async function twoOnOne(
  port: number,
  outcome: Outcome,
  { size, framing, arrival }: Sent,
): Promise<string> {
  const head = (path: string, token: string, type: string, length: string) =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: ${type}\r\n${length}\r\n\r\n`
  const json = jsonOf(size)
  const isChunked = framing === 'in chunks'
  const chunk = json === '' ? '' : `${json.length.toString(16)}\r\n${json}\r\n`
  const body = isChunked ? `${chunk}0\r\n\r\n` : json
  const length = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${json.length}`
  const first = head(pathOf(outcome), outcome, typeOf(outcome), length)
  const next = `${head('/api/all', 'ok', 'application/json', 'Content-Length: 4')}"ok"`

  const socket = connect(port, '127.0.0.1').setNoDelay()
  let answer = ''
  const statuses = () =>
    Array.from(answer.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => status).join(', ')
  const heard = new Promise<void>((resolve) => {
    socket.on('close', resolve).on('error', () => {})
    socket.on('data', (data) => {
      if (answer === '' && arrival === 'after') socket.write(body.slice(body.length / 2) + next)
      answer += data
      if (statuses().includes(',')) resolve()
    })
  })
  if (arrival === 'after') socket.write(first + body.slice(0, body.length / 2))
  else if (arrival === 'whole')
    socket.write(first + body, () => void setImmediate(() => socket.write(next)))
  else if (arrival === 'pipelined') socket.write(first + body + next)
  else {
    socket.write(first)
    await wait(5)
    socket.write(body + next)
  }
  const patience = setTimeout(() => socket.destroy(), 20_000)
  await heard
  clearTimeout(patience)
  socket.destroy()
  return statuses() || 'no answer'
}
