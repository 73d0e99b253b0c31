// Every refusal must cost little CPU, because one thread serves all users.
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type TestContext, test } from 'node:test'
import type { FastifySchema } from 'fastify'
import type { TSchema } from 'typebox'
import { Settings } from 'typebox/system'
import { Value } from 'typebox/value'
import { findIssues, ISSUES_MAX } from '#platform/http/issues.ts'
import { type ValidationFailure, validatorCompiler } from '#platform/http/validation.ts'
import { JSON_NAMES_MAX, JSON_TEXTS_MAX, JSON_VALUES_MAX, parseJson } from '#platform/json.ts'
import { testApp } from '#testing/app.ts'

const REFUSAL_MS_MAX = 50
const PARSING_MS_MAX = 100

type Schema = {
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
}
type Part = 'body' | 'querystring' | 'params' | 'headers'
type RouteSchema = { route: string; part: Part; schema: Schema }

/** The schemas of every route of both servers; routes share some. */
async function routeSchemas(t: TestContext): Promise<RouteSchema[]> {
  const found = new Map<string, RouteSchema>()
  const onServer = (message: unknown) => {
    type Route = { method: string | string[]; url: string; schema?: FastifySchema }
    const { fastify } = message as {
      fastify: { addHook(name: 'onRoute', hook: (route: Route) => void): void }
    }
    fastify.addHook('onRoute', ({ method, url, schema }) => {
      for (const part of ['body', 'querystring', 'params', 'headers'] as const) {
        const one = schema?.[part] as Schema | undefined
        const key = JSON.stringify(one)
        if (one && !found.has(key)) found.set(key, { route: `${method} ${url}`, part, schema: one })
      }
    })
  }
  subscribe('fastify.initialization', onServer)
  t.after(() => unsubscribe('fastify.initialization', onServer))
  await testApp(t)
  return [...found.values()]
}

/**
 * Each place in the schema where a value stands, as a function that makes a whole body around that
 * value.
 */
function places(schema: Schema): ((value: unknown) => unknown)[] {
  const found: ((value: unknown) => unknown)[] = [(value) => value]
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const base = Object.fromEntries(
      Object.entries(schema.properties ?? {})
        .filter(([other]) => other !== name && schema.required?.includes(other))
        .map(([other, { enum: words, const: word, type }]) => [
          other,
          word ?? words?.[0] ?? SAMPLES[String(type)] ?? [],
        ]),
    )
    for (const inner of places(property)) found.push((value) => ({ ...base, [name]: inner(value) }))
  }
  for (const branch of schema.anyOf ?? []) found.push(...places(branch))
  if (schema.items) for (const inner of places(schema.items)) found.push((value) => [inner(value)])
  if (typeof schema.additionalProperties === 'object') {
    for (const inner of places(schema.additionalProperties))
      found.push((value) => ({ any: inner(value) }))
  }
  return found
}

const SAMPLES: Record<string, unknown> = {
  string: 'a',
  integer: 1,
  number: 1,
  boolean: true,
  object: {},
}

const many = (length: number, value: unknown) => Array<unknown>(Math.ceil(length)).fill(value)

/** As large as JSON may be: `scale` 1 fills its limits. */
function hostileValues(scale: number): [name: string, value: unknown][] {
  const values = Math.round(JSON_VALUES_MAX * scale)
  const texts = Math.round(JSON_TEXTS_MAX * scale)
  const names = Math.round(JSON_NAMES_MAX * scale)
  const length = Math.round(1_000_000 * scale)
  let deep: unknown = []
  for (let depth = 1; depth < 200; depth++) deep = [deep]
  return [
    ...[null, 1, -1, true, [], {}, 'a', '', [[]], { type: 1 }, { type: 'text', role: 'user' }].map(
      (item): [string, unknown] => [
        `many ${JSON.stringify(item)}`,
        many(item === 'a' ? texts : values, item),
      ],
    ),
    ['valid items and a wrong one', [...many(values, 1), null]],
    ['valid texts and a wrong one', [...many(texts, 'a'), null]],
    [
      'lists of integers',
      many(Math.min(2_048, values), [...many(Math.floor(values / 2_048), 1), null]),
    ],
    [
      'messages',
      many(names / 5, { role: 'user', content: [{ type: 1 }], tool_calls: [{ id: 1 }] }),
    ],
    ['wide', Object.fromEntries(Array.from({ length: names }, (_, index) => [`k${index}`, index]))],
    ['deep', many(Math.ceil(values / 200), deep)],
    ['a text of letters', 'a'.repeat(length)],
    ['a text of blanks', ' '.repeat(length)],
    ['a text of line ends', '\n'.repeat(length)],
    ['a text of digits', '1'.repeat(length)],
    ['a text of pairs', '😀'.repeat(length / 2)],
    ['a text like an address', `http://${'a.'.repeat(length / 2)}@`],
    ['a text like a mail address', `${'a'.repeat(64)}@${'a-'.repeat(length / 2)}`],
    ['a text like a moment', `2026-01-01T00:00:00.${'0'.repeat(length)}`],
  ]
}

test('refusing the largest hostile value at any place of any schema takes little time', async (t) => {
  const schemas = await routeSchemas(t)
  assert.ok(schemas.length > 40)
  const hostile = hostileValues(1)
  let refused = 0
  let worst = { ms: 0, what: '' }
  for (const { route, part, schema } of schemas.filter(({ part }) => part === 'body')) {
    const validate = validatorCompiler({
      schema,
      httpPart: part,
      method: 'POST',
      url: '/',
    } as never)
    validate({})
    for (const [at, place] of places(schema).entries()) {
      for (const [name, value] of hostile) {
        const body = place(value)
        let error: unknown
        const ms = leastCpuMs(REFUSAL_MS_MAX, () => {
          error = (validate(body) as { error?: unknown }).error
        })
        if (error === undefined) continue
        refused++
        assert.ok(ms <= REFUSAL_MS_MAX, `${route}, place ${at}, ${name}: ${ms} ms`)
        if (ms > worst.ms) worst = { ms, what: `${route}, place ${at}, ${name}` }
      }
    }
  }
  t.diagnostic(`${refused} refusals, the worst took ${worst.ms} ms of CPU: ${worst.what}`)
  assert.ok(refused > 1_000)
})

test('the issues of a small value are those that the schema validator reports', async (t) => {
  const { maxErrors } = Settings.Get()
  Settings.Set({ maxErrors: 10_000 })
  t.after(() => Settings.Set({ maxErrors }))
  for (const { route, schema } of await routeSchemas(t)) {
    for (const place of places(schema)) {
      for (const [name, value] of [...hostileValues(0.000_01), ...hostileValues(0.000_05)]) {
        const body = place(value)
        if (Value.Check(schema as TSchema, body)) continue
        const issues = findIssues('body', schema as TSchema, body)
        const where = `${route} ${name} ${JSON.stringify(issues).slice(0, 300)}`
        const reported = new Set(
          (Value.Errors(schema as TSchema, body) as Reported[]).flatMap(placesOf),
        )
        assert.ok(issues.length > 0 && issues.length <= ISSUES_MAX, where)
        for (const { loc } of issues) assert.ok(reported.has(loc.join('/')), where)
      }
    }
  }
})

type Reported = { keyword: string; instancePath: string; params: { requiredProperties?: string[] } }

function placesOf({ keyword, instancePath, params }: Reported): string[] {
  const path = `body${instancePath}`
  return keyword === 'required'
    ? (params.requiredProperties ?? []).map((name) => `${path}/${name}`)
    : [path]
}

test('routes use only the keywords that findIssues knows', async (t) => {
  const known =
    'type required properties items minItems maxItems additionalProperties maxProperties anyOf minLength maxLength pattern format minimum maximum enum const default title description'
  const check = (schema: Schema, route: string) => {
    for (const keyword of Object.keys(schema))
      assert.ok(known.split(' ').includes(keyword), `${route}: ${keyword}`)
    const holds = schema.properties ?? schema.items ?? schema.additionalProperties
    assert.ok(
      holds === undefined || schema.type !== undefined,
      `${route}: a list or object without "type"`,
    )
    const parts = [schema.items, schema.additionalProperties, ...(schema.anyOf ?? [])]
    for (const part of [...parts, ...Object.values(schema.properties ?? {})]) {
      if (typeof part === 'object') check(part, route)
    }
  }
  for (const { schema, route } of await routeSchemas(t)) check(schema, route)
})

test('a refusal names the first faults, and the length of a list before its items', () => {
  const validate = (schema: object, body: unknown) =>
    (
      validatorCompiler({ schema, httpPart: 'body', method: 'POST', url: '/' } as never)(body) as {
        error?: ValidationFailure
      }
    ).error?.issues
  const list = { type: 'array', maxItems: 10, items: { type: 'string' } }
  assert.deepEqual(validate(list, many(11, null)), [
    { loc: ['body'], msg: 'Should have at most 10 items', type: 'too_long' },
  ])
  assert.equal(validate({ ...list, maxItems: 1_000 }, many(100, null))?.length, ISSUES_MAX)
  const far = [...many(100_000, 'a'), null]
  assert.deepEqual(validate({ type: 'array', items: { type: 'string' } }, far), [
    { loc: ['body'], msg: 'Input should be valid', type: 'value_error' },
  ])
})

test('parsing JSON that fills every limit takes little time', (t) => {
  const names = Array.from({ length: JSON_NAMES_MAX }, (_, index) => `"k${index}":1`).join()
  const lists = `[${many(JSON_VALUES_MAX / 201 - 1, '['.repeat(200) + ']'.repeat(200)).join()}]`
  const words = `[${Array.from({ length: JSON_TEXTS_MAX - 1 }, (_, index) => `"s${index}"`).join()}]`
  const image = `["${'QUJD'.repeat(7_500_000)}"]`
  const prose = `["${'Some words of a text.\\n'.repeat(1_300_000)}"]`
  for (const [name, text] of Object.entries({ names: `{${names}}`, lists, words, image, prose })) {
    const ms = leastCpuMs(PARSING_MS_MAX, () => parseJson(text))
    t.diagnostic(`${name}: ${(text.length / 1e6).toFixed(1)} MB, ${ms} ms of CPU`)
    assert.ok(ms <= PARSING_MS_MAX, `${name}: ${ms} ms`)
  }
})

/**
 * Returns the CPU time of this thread for the work, measured again while it exceeds the limit: the
 * engine compiles and collects garbage in between, and other processes empty the CPU's caches. The
 * work itself costs the same each time.
 */
function leastCpuMs(limitMs: number, work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < 10 && least > limitMs; tries++) {
    const before = process.threadCpuUsage()
    work()
    const { user, system } = process.threadCpuUsage(before)
    least = Math.min(least, Math.round((user + system) / 1_000))
  }
  return least
}
