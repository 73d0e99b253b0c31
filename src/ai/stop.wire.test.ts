// Stop sequences for models without them: the gateway cuts the answer, at every API that has them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { testApp } from '#testing/app.ts'
import { mockVendor, type Step, says } from '#testing/mock-vendor.ts'
import { createTextChunk } from './vendors/chunk.ts'
import { createStopCut } from './vendors/stop-cut.ts'
import type { EventReader } from './vendors/vendor.ts'

const HI = [{ role: 'user', content: 'Hi' }]
const GPT = 'gpt-6.1-terra'
const TEXT = 'one two three four five'

test('cuts the answer of a model without stop sequences, whole and streamed', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: { ...vendor.env.openai, EMBEDDER: 'local' } })
  const ada = await app.as('ada', { tier: 'enterprise' })
  const { key } = (await ada.post('/api/api-keys', { name: 'key' })).body
  const headers = { authorization: `Bearer ${key}`, 'anthropic-version': '2023-06-01' }
  const usage = { prompt: 10, completion: 7_000 }
  vendor.play(says(TEXT, { usage }))
  const chat = (more: object) =>
    app.post(
      '/v1/chat/completions',
      { model: GPT, messages: HI, stop: ['three', 'four'], ...more },
      { headers },
    )
  const lastCall = async () => (await ada.get('/api/usage/calls?limit=1')).body.calls[0]

  const whole = await chat({})
  const [choice] = whole.body.choices
  assert.deepEqual([choice.message.content, choice.finish_reason], ['one two ', 'stop'])
  assert.equal(vendor.calls.at(-1)?.body.stop, undefined)
  assert.deepEqual(
    [(await lastCall()).completion_tokens, (await lastCall()).is_estimated],
    [7_000, false],
  )

  const streamed = await chat({ stream: true, stream_options: { include_usage: true } })
  const chunks = [...streamed.text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) =>
    JSON.parse(json ?? ''),
  )
  const words = chunks.map(({ choices }) => choices[0]?.delta?.content ?? '').join('')
  const ends = chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])
  assert.deepEqual([words, ends], ['one two ', ['stop']])
  assert.match(streamed.text, /\[DONE\]\n\n$/)
  assert.equal(streamed.text.includes('three'), false)
  // Reasoning is billed, and only the vendor counts it.
  assert.deepEqual(
    [(await lastCall()).completion_tokens, (await lastCall()).is_estimated],
    [7_000, false],
  )

  const message = (more: object) =>
    app.post(
      '/v1/messages',
      { model: GPT, max_tokens: 99, messages: HI, stop_sequences: ['three'], ...more },
      { headers },
    )
  const { body } = await message({})
  assert.deepEqual(
    [body.content[0].text, body.stop_reason, body.stop_sequence],
    ['one two ', 'stop_sequence', 'three'],
  )
  const events = (await message({ stream: true })).text
  assert.match(events, /"stop_reason":"stop_sequence","stop_sequence":"three"/)
  assert.equal(/four|five/.test(events), false)

  const missed = await chat({ stop: ['nothing of it'] })
  assert.equal(missed.body.choices[0].message.content, TEXT)
  for (const wrong of [Array(17).fill('x'), ['x'.repeat(257)]]) {
    const reply = await chat({ stop: wrong })
    assert.deepEqual([reply.status, reply.body.error.param], [400, 'stop'])
  }
  assert.equal((await chat({ n: 2 })).status, 400)
})

test('closes the vendor’s stream at the cut without reasoning, and records the usage until then', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: { ...vendor.env.openai, EMBEDDER: 'local' } })
  const ada = await app.as('ada', { tier: 'enterprise' })
  const { key } = (await ada.post('/api/api-keys', { name: 'key' })).body
  const endless: Step = async (call, reply) => {
    reply.setHeader('content-type', 'text/event-stream')
    for (let at = 0; !call.isGone && at < 5_000; at++) {
      const delta = { content: at === 3 ? 'STOP' : `word ${at} ` }
      reply.write(
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`,
      )
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  vendor.play(endless)
  const asked = { model: GPT, messages: HI, stop: 'STOP', reasoning_effort: 'none', stream: true }
  const { text } = await app.post('/v1/chat/completions', asked, {
    headers: { authorization: `Bearer ${key}` },
  })
  assert.match(text, /word 2[\s\S]*"finish_reason":"stop"[\s\S]*\[DONE\]\n\n$/)
  await vendor.calls[0]!.gone
  const {
    outcome,
    completion_tokens: tokens,
    is_estimated,
  } = (await ada.get('/api/usage/calls?limit=1')).body.calls[0]
  assert.deepEqual([outcome, is_estimated], ['ok', true])
  assert.ok(tokens >= 5 && tokens < 50, `${tokens}`)
})

test('property: cuts where a search of the whole text finds the sequence, for any chunks', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 })
  const stops = fc.array(
    fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 }),
    { minLength: 1, maxLength: 3 },
  )
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 8 }), stops, (parts, stop) => {
      const reader = {
        isWhole: true,
        isOver: false,
        usage: null,
        model: null,
        read: (data: string, pieces: ReturnType<typeof createTextChunk>[]) => {
          pieces.push(
            data === 'end' ? { ...createTextChunk(''), finish: 'stop' } : createTextChunk(data),
          )
        },
      } satisfies EventReader
      const cut = createStopCut({ messages: [], stop })
      const wrapped = cut?.wrapReader(reader)
      const pieces: ReturnType<typeof createTextChunk>[] = []
      for (const part of [...parts, 'end']) wrapped?.read(part, pieces)
      const text = parts.join('')
      // The shortest beginning of the text that ends with a stop sequence, without the longest
      // sequence at its end.
      let at = text.length
      for (let end = 1; end <= text.length; end++) {
        const lengths = stop
          .filter((one) => text.slice(0, end).endsWith(one))
          .map((one) => one.length)
        if (lengths.length === 0) continue
        at = end - Math.max(...lengths)
        break
      }
      assert.equal(pieces.map((piece) => piece.text).join(''), text.slice(0, at))
      assert.equal(pieces.filter(({ finish }) => finish !== null).length, 1)
    }),
    { numRuns: 5_000 },
  )
})
