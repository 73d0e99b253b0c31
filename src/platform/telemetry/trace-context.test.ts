import assert from 'node:assert/strict'
import { test } from 'node:test'
import { summarizeStatement } from './database-spans.ts'
import { formatTraceparent, parseTraceparent } from './trace-context.ts'
import { createTracer, type FinishedSpan } from './tracer.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

test('traceparent is read as W3C has it, and nothing else is taken over', () => {
  const whole = `00-${TRACE}-${SPAN}-01`
  assert.deepEqual(parseTraceparent(whole), { traceId: TRACE, spanId: SPAN, isSampled: true })
  assert.equal(formatTraceparent({ traceId: TRACE, spanId: SPAN, isSampled: true }), whole)
  assert.equal(parseTraceparent(`00-${TRACE}-${SPAN}-00`)?.isSampled, false)
  assert.equal(
    parseTraceparent(`cc-${TRACE}-${SPAN}-09-what-comes`)?.isSampled,
    true,
    'of a later version',
  )
  const refused = [
    undefined,
    null,
    '',
    [whole, whole],
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${SPAN}-01\n`,
    `cc-${TRACE}-${SPAN}-01-${'x'.repeat(500)}`,
  ]
  for (const header of refused) assert.equal(parseTraceparent(header), null, String(header))
})

test('samplers keep what they say', () => {
  const config = { url: '', headers: {}, resource: {}, version: '', tellsVendors: false }
  const kept = (
    sampler: Parameters<typeof createTracer>[0]['sampler'],
    ratio: number,
    parent?: boolean,
  ) => {
    const spans: FinishedSpan[] = []
    const tracer = createTracer({ ...config, sampler, ratio }, (span) => void spans.push(span))
    for (let n = 0; n < 400; n++) {
      // A trace's number is random in a stranger's hands, too.
      const traceId = `${TRACE.slice(0, 16)}${n.toString(16).padStart(3, '0')}${((n * 2_654_435_761) >>> 0).toString(16).padStart(8, '0')}00000`
      const ofStranger = parent === undefined ? null : { traceId, spanId: SPAN, isSampled: parent }
      const span = tracer.start('one', { parent: ofStranger })
      tracer.start('inner', { parent: span }).end()
      span.end()
    }
    return spans.length / 2
  }
  assert.equal(kept('always_on', 1, false), 400)
  assert.equal(kept('always_off', 1, true), 0)
  assert.equal(kept('parentbased_always_on', 1), 400)
  assert.equal(kept('parentbased_always_on', 1, false), 0)
  assert.equal(kept('parentbased_always_off', 1, true), 400)
  assert.equal(kept('traceidratio', 0, true), 0)
  const half = kept('traceidratio', 0.5)
  assert.ok(half > 120 && half < 280, String(half))
})

test('a statement is named by its verb and table, never by its text', () => {
  for (const [text, summary] of [
    ['select "id" from "users" where "email" = ?', 'select users'],
    ['insert into "sessions" ("id") values ($1)', 'insert sessions'],
    ['update users set name = 1', 'update users'],
    ['delete from jobs where id = ?', 'delete jobs'],
    ['select 1', 'select'],
    ['', 'statement'],
  ] as const)
    assert.equal(summarizeStatement(text), summary)
})
