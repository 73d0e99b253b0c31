import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AnswerChunk } from './chunk.ts'
import { createOpenAi } from './openai.ts'
import { createFrame, readFramedText } from './openai-frame.ts'
import { VendorError } from './vendor-error.ts'

const vendor = createOpenAi('k')

/** The result of a fresh reader for one event: always parsed. */
function parsed(data: string): AnswerChunk[] | 'nonsense' {
  return read(vendor.createReader(), data)
}

function read(
  reader: ReturnType<typeof vendor.createReader>,
  data: string,
): AnswerChunk[] | 'nonsense' {
  const pieces: AnswerChunk[] = []
  try {
    reader.read(data, pieces)
  } catch (error) {
    assert.ok(error instanceof VendorError)
    return 'nonsense'
  }
  return pieces
}

const words = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('"', '\\', '\n', '"content":"', '","x":"', '\u2028', 'ü', '🚀', ''),
)

const event = fc
  .record({
    content: fc.oneof(
      { weight: 8, arbitrary: words },
      { weight: 1, arbitrary: fc.constantFrom(null, undefined, 7) },
    ),
    index: fc.constantFrom(0, 0, 0, 0, 1),
    finish: fc.constantFrom(null, null, null, null, 'stop'),
    tools: fc.constantFrom(undefined, undefined, undefined, [
      { index: 0, function: { arguments: '{"content":"' } },
    ]),
    thought: fc.constantFrom(undefined, undefined, undefined, null, 'Hm', '"content":"'),
    model: fc.constantFrom('m', 'm', 'm', 'a "content":"model'),
    padding: fc.constantFrom(undefined, 'x7Q', 'abcd', 'a"b', 'a\\b'),
    more: fc.constantFrom(
      {},
      {},
      {},
      { choices: [] },
      { message: { content: '' } },
      { error: { message: 'no' } },
    ),
    spaced: fc.constantFrom(false, false, true),
    double: fc.constantFrom(false, false, false, true),
  })
  .map(({ content, index, finish, tools, thought, model, padding, more, spaced, double }) => {
    const choice = {
      index,
      delta: { content, tool_calls: tools, reasoning_content: thought },
      finish_reason: finish,
    }
    const text = JSON.stringify({
      id: '1',
      model,
      choices: double ? [choice, { ...choice, index: 1 }] : [choice],
      obfuscation: padding,
      ...more,
    })
    return spaced ? text.replaceAll('":"', '": "') : text
  })

const damaged = fc
  .tuple(event, fc.nat(), fc.constantFrom('', '"', '\\', '\u0001', '}', ','))
  .map(
    ([data, at, piece]) =>
      data.slice(0, at % data.length) + piece + data.slice((at % data.length) + 1),
  )

test('property: reads a framed event like a parsed one', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ weight: 6, arbitrary: event }, { weight: 1, arbitrary: damaged }), {
        maxLength: 30,
      }),
      (events) => {
        const reader = vendor.createReader()
        for (const data of events) assert.deepEqual(read(reader, data), parsed(data))
      },
    ),
    { numRuns: 2_000 },
  )
})

test('frames match a stream’s ordinary events, with and without padding, but no escapes or other shapes', () => {
  const of = (content: string, padding?: string) =>
    JSON.stringify({ id: '1', choices: [{ index: 0, delta: { content } }], obfuscation: padding })
  const plain = createFrame(of(' one'), ' one')
  const padded = createFrame(of(' one', 'x7'), ' one')
  assert.ok(plain && padded)
  assert.equal(readFramedText(of(' zwölf'), plain), ' zwölf')
  assert.equal(readFramedText(of(' zwölf', 'Qp3k'), padded), ' zwölf')
  assert.equal(readFramedText(of(' zwölf'), padded), null)
  assert.equal(readFramedText(of(' "', 'Qp3k'), padded), null)
  assert.equal(readFramedText(of('a\nb'), plain), null)
  assert.equal(readFramedText(`${of(' two')} `, plain), null)
})
