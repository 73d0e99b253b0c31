import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  ANTHROPIC_STREAM,
  RESPONSES_STREAM,
  type RecordedStream,
} from '#testing/recorded-streams.ts'
import { createAnthropic } from './anthropic.ts'
import { type AnswerChunk, createTextChunk } from './chunk.ts'
import { ChunkSource } from './chunk-stream.ts'
import { splitEvents } from './event-stream.ts'
import { createOpenAi } from './openai.ts'
import type { EventReader, Vendor } from './vendor.ts'

const VENDORS: [string, Vendor, RecordedStream, string][] = [
  ['OpenAI’s responses', createOpenAi('k'), RESPONSES_STREAM, 'response.output_text.delta'],
  ['Anthropic’s messages', createAnthropic('k'), ANTHROPIC_STREAM, 'content_block_delta'],
]

for (const [name, vendor, recorded, delta] of VENDORS) {
  test(`${name}: reads the same, one by one or together, for any split of the network`, () => {
    const oneByOne = passed(vendor, [recorded.bytes], false)
    assert.ok(oneByOne.isWhole && oneByOne.said.includes(recorded.text))
    fc.assert(
      fc.property(fc.array(fc.nat(recorded.bytes.length), { maxLength: 6 }), (cuts) => {
        assert.deepEqual(passed(vendor, cutAt(recorded.bytes, cuts), true), oneByOne)
      }),
    )
  })

  test(`${name}: joins text events of one read into one unchanged chunk`, () => {
    const [event = ''] =
      recorded.bytes
        .toString()
        .match(new RegExp(`event: ${delta}\\ndata: [^\\n]*text[^\\n]*\\n\\n`)) ?? []
    const pieces: AnswerChunk[] = []
    const reader = vendor.native?.createReader() as EventReader

    assert.equal(reader.pass?.(`${event.repeat(3)}event: ping\n`, 0, pieces), 3 * event.length)

    assert.deepEqual(
      pieces.map(({ event }) => event),
      [event.repeat(3)],
    )
    assert.notEqual(pieces[0]?.text, '')
  })
}

test('a slow reader pauses the vendor by the length of the pending text, even for few chunks', async () => {
  let pauses = 0
  const reader: EventReader = {
    isWhole: false,
    isOver: false,
    usage: null,
    model: null,
    read() {},
    pass(text, _from, pieces) {
      pieces.push(createTextChunk(text))
      return text.length
    },
  }
  const stream = new ChunkSource(reader, { pause: () => pauses++, resume() {}, cancel() {} })
  const slow = Promise.withResolvers<void>()
  void stream.each(() => slow.promise)
  for (const expected of [0, 0, 0, 1]) {
    stream.pass('x'.repeat(50_000), 0)
    stream.flush()
    assert.equal(pauses, expected)
  }
  slow.resolve()
})

function passed(vendor: Vendor, chunks: Buffer[], isTogether: boolean) {
  const reader = vendor.native?.createReader() as EventReader
  const pieces: AnswerChunk[] = []
  const pass = isTogether
    ? (text: string, from: number) => reader.pass?.(text, from, pieces) ?? from
    : undefined
  const events = splitEvents((data) => reader.read(data, pieces), pass)
  for (const chunk of chunks) events.push(chunk)
  return {
    sent: pieces.map(({ event }) => event).join(''),
    said: pieces.map(({ text }) => text).join(''),
    usage: reader.usage,
    isWhole: reader.isWhole,
  }
}

function cutAt(bytes: Buffer, cuts: number[]): Buffer[] {
  const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end))
}
