import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readPlainText } from './anthropic-reply.ts'

const event = fc
  .record({
    text: fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.constantFrom('"', '\\', '\n', '"}}', '","x":"', ',"delta":{"type":"text_delta","text":"'),
    ),
    type: fc.constantFrom('text_delta', 'text_delta', 'thinking_delta'),
    index: fc.constantFrom(0, 3, 12),
    padding: fc.constantFrom('', '', '   '),
    more: fc.constantFrom({}, {}, { text: 'more' }),
    damage: fc.constantFrom(null, null, null, '', '"', '\\', '\u0001', '}', ' '),
    at: fc.nat(),
  })
  .map(({ text, type, index, padding, more, damage, at }) => {
    const delta = { type: 'content_block_delta', index, delta: { type, text }, ...more }
    const data = JSON.stringify(delta).replace(/\}$/, `${padding}}`)
    const place = at % data.length
    return damage === null ? data : data.slice(0, place) + damage + data.slice(place + 1)
  })

test('reads the text of an event without a parser, as JSON would, or not at all', () => {
  assert.equal(
    readPlainText(
      '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" Zürich, 🚀"} }',
    ),
    ' Zürich, 🚀',
  )
  fc.assert(
    fc.property(event, (data) => {
      const words = readPlainText(data)
      if (words === null) return
      const { type, index, delta, ...more } = JSON.parse(data)
      assert.deepEqual(
        [type, typeof index, delta, more],
        ['content_block_delta', 'number', { type: 'text_delta', text: words }, {}],
      )
    }),
    { numRuns: 2_000 },
  )
})
