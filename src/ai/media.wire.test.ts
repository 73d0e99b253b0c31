// Sound and images at their own prices, exact to the billionth of a dollar; without a price they
// are rejected.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { type TestApp, testApp } from '#testing/app.ts'
import { mockVendor, type Step } from '#testing/mock-vendor.ts'

const SOUND = { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } }
const LISTEN = [{ role: 'user', content: [{ type: 'text', text: 'Listen' }, SOUND] }]
const HI = [{ role: 'user', content: 'Hi' }]

suite('sound and images', () => {
  const ends: (() => unknown)[] = []
  const t = { after: (end: () => unknown) => void ends.unshift(end) } as unknown as Parameters<
    typeof testApp
  >[0]
  let app: TestApp
  let vendor: Awaited<ReturnType<typeof mockVendor>>
  let headers: Record<string, string>
  let ada: Awaited<ReturnType<TestApp['as']>>

  before(async () => {
    vendor = await mockVendor(t)
    const folder = mkdtempSync(join(tmpdir(), 'latchkey-media-'))
    ends.push(() => rmSync(folder, { recursive: true }))
    const MODELS = join(folder, 'models.json')
    const price = { input: 1, output: 2, audio: { input: 10, output: 20, cached: 5 } }
    const drawing = { input: 1, output: 2, image: { output: 40 } }
    const models = [
      { id: 'heard', price },
      { id: 'gpt-drawn', price: drawing },
      { id: 'free', price: { input: 0, output: 0 } },
    ]
    writeFileSync(MODELS, JSON.stringify({ vendors: [{ name: 'openai', models }] }))
    app = await testApp(t, { env: { ...vendor.env.openai, ...vendor.env.gemini, MODELS } })
    ada = await app.as('ada', { tier: 'enterprise' })
    headers = await keyOf({})
  })
  after(async () => {
    for (const end of ends) await end()
  })

  async function keyOf(more: object): Promise<Record<string, string>> {
    const { body } = await ada.post('/api/api-keys', { name: `key ${Math.random()}`, ...more })
    return { authorization: `Bearer ${body.key}` }
  }
  const chat = (body: object, as = headers) =>
    app.post('/v1/chat/completions', { messages: HI, ...body }, { headers: as })

  /** OpenAI's usage, whole or as the last chunk of a stream. */
  const openai =
    (usage: object): Step =>
    (call, reply) => {
      const { model, stream } = call.body
      if (stream !== true) {
        reply.setHeader('content-type', 'application/json')
        const choices = [
          { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' },
        ]
        return void reply.end(JSON.stringify({ model, choices, usage }))
      }
      reply.setHeader('content-type', 'text/event-stream')
      const chunk = (more: object) =>
        `data: ${JSON.stringify({ object: 'chat.completion.chunk', model, ...more })}\n\n`
      const delta = { index: 0, delta: { content: 'Hi' }, finish_reason: null }
      const end = { index: 0, delta: {}, finish_reason: 'stop' }
      reply.end(
        `${chunk({ choices: [delta] })}${chunk({ choices: [end] })}${chunk({ choices: [], usage })}data: [DONE]\n\n`,
      )
    }
  const gemini =
    (usageMetadata: object): Step =>
    (call, reply) => {
      const content = { role: 'model', parts: [{ text: 'Hi' }] }
      const body = JSON.stringify({
        candidates: [{ content, finishReason: 'STOP' }],
        usageMetadata,
      })
      const isStream = call.path.includes('stream')
      reply.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json')
      reply.end(isStream ? `data: ${body}\n\n` : body)
    }

  /** The ledger's entry of the latest call. */
  async function toNanos(
    step: Step,
    body: object,
    stream: boolean,
  ): Promise<[nanos: number, isEstimated: boolean]> {
    vendor.play(step)
    const { status, text } = await chat({ ...body, stream })
    assert.equal(status, 200, text)
    const { cost_usd: usd, is_estimated: isEstimated } = (await ada.get('/api/usage/calls?limit=1'))
      .body.calls[0]
    return [Math.round(usd * 1e9), isEstimated]
  }

  const details = (prompt: object, completion: object = {}) => ({
    prompt_tokens: 1_000,
    completion_tokens: 500,
    prompt_tokens_details: prompt,
    completion_tokens_details: completion,
  })
  const rows: [name: string, model: string, step: Step, nanos: number, isEstimated?: boolean][] = [
    [
      // 100 × $2.50 + 900 × $32 + 50 × $10 + 450 × $64, a million.
      'OpenAI: sound in and out',
      'gpt-audio',
      openai(details({ audio_tokens: 900, text_tokens: 100 }, { audio_tokens: 450 })),
      250_000 + 28_800_000 + 500_000 + 28_800_000,
    ],
    [
      'OpenAI: no sound',
      'gpt-audio',
      openai(details({ audio_tokens: 0 }, { audio_tokens: 0 })),
      2_500_000 + 5_000_000,
    ],
    [
      'cached sound by its own price',
      'heard',
      openai(
        details({
          audio_tokens: 900,
          cached_tokens: 500,
          cached_tokens_details: { audio_tokens: 400 },
        }),
      ),
      // Fresh: 500 sound; cached: 400 sound, 100 text at the text’s price, which has no other.
      500 * 10_000 + 400 * 5_000 + 100 * 1_000 + 500 * 2_000,
    ],
    [
      'cached tokens that must have been sound, as nothing else is left',
      'heard',
      openai(details({ audio_tokens: 1_000, cached_tokens: 400 })),
      600 * 10_000 + 400 * 5_000 + 500 * 2_000,
    ],
    [
      'more sound than there are tokens counts once',
      'heard',
      openai(details({ audio_tokens: 9e9 }, { audio_tokens: 9e9 })),
      1_000 * 10_000 + 500 * 20_000,
    ],
    [
      'images out',
      'gpt-drawn',
      openai(details({}, { image_tokens: 400 })),
      1_000 * 1_000 + 100 * 2_000 + 400 * 40_000,
    ],
    [
      'images in, at the price of text',
      'heard',
      openai(details({ image_tokens: 600 })),
      1_000 * 1_000 + 500 * 2_000,
    ],
    [
      'a kind that has no price counts as the dearest of all, and is marked as estimated',
      'heard',
      openai(details({}, { image_tokens: 100 })),
      1_000 * 1_000 + 400 * 2_000 + 100 * 120_000,
      true,
    ],
    [
      'Gemini: sound in',
      'gemini-2.5-flash',
      gemini({
        promptTokenCount: 10_000,
        candidatesTokenCount: 10,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 1_000 },
          { modality: 'AUDIO', tokenCount: 9_000 },
        ],
      }),
      1_000 * 300 + 9_000 * 1_000 + 10 * 2_500,
    ],
    [
      'Gemini: cached sound',
      'gemini-2.5-flash',
      gemini({
        promptTokenCount: 10_000,
        cachedContentTokenCount: 5_000,
        candidatesTokenCount: 10,
        promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 9_000 }],
        cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 5_000 }],
      }),
      1_000 * 300 + 4_000 * 1_000 + 5_000 * 100 + 10 * 2_500,
    ],
    [
      'Gemini: one price for every kind of input',
      'gemini-3.8-flash',
      gemini({
        promptTokenCount: 10_000,
        candidatesTokenCount: 10,
        promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 9_000 }],
      }),
      10_000 * 750 + 10 * 3_750,
    ],
    [
      'Gemini: images out',
      'gemini-3.1-flash-image-preview',
      gemini({
        promptTokenCount: 1_000,
        candidatesTokenCount: 1_200,
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_120 }],
      }),
      1_000 * 500 + 80 * 3_000 + 1_120 * 60_000,
    ],
  ]
  for (const [name, model, step, nanos, isEstimated = false] of rows) {
    test(`${name}: billed exactly, whole and streamed`, async () => {
      for (const stream of [false, true])
        assert.deepEqual(await toNanos(step, { model }, stream), [nanos, isEstimated])
    })
  }

  test('rejects sound, and answers other than text, without a price for them', async () => {
    const cases: [object, string][] = [
      [{ model: 'gpt-6-luna', messages: LISTEN }, 'messages'],
      [{ model: 'gpt-4.1-mini', messages: LISTEN }, 'messages'],
      [{ model: 'openai/unheard-of', messages: LISTEN }, 'messages'],
      [{ model: 'gpt-4o-audio-preview', messages: LISTEN }, 'messages'],
      [
        {
          model: 'gpt-6-luna',
          modalities: ['text', 'audio'],
          audio: { voice: 'alloy', format: 'wav' },
        },
        'modalities',
      ],
      [{ model: 'gpt-audio', modalities: ['text', 'image'] }, 'modalities'],
      [{ model: 'gpt-drawn', modalities: ['audio'] }, 'modalities'],
    ]
    const file = { filename: 'a.mp3', file_data: 'data:audio/mp3;base64,UklG' }
    const disguised = [
      { type: 'file', file },
      { type: 'image_url', image_url: { url: 'data:audio/mp3;base64,UklG' } },
      { type: 'video_url', video_url: { url: 'data:video/mp4;base64,UklG' } },
      { type: 'audio_url', audio_url: { url: 'https://example.com/a.mp3' } },
    ]
    for (const part of disguised)
      cases.push([
        { model: 'gpt-6-luna', messages: [{ role: 'user', content: [part] }] },
        'messages',
      ])
    vendor.calls.length = 0
    for (const [body, param] of cases) {
      for (const stream of [false, true]) {
        const reply = await chat({ ...body, stream })
        assert.deepEqual(
          [reply.status, reply.body.error?.param],
          [400, param],
          JSON.stringify([body, reply.body]),
        )
        assert.match(reply.body.error.message, /at an unknown price/)
      }
    }
    const input = [{ role: 'user', content: [SOUND] }]
    const response = await app.post('/v1/responses', { model: 'gpt-6-luna', input }, { headers })
    assert.deepEqual([response.status, response.body.error.param], [400, 'messages'])
    assert.equal(vendor.calls.length, 0)
    vendor.play(openai(details({})))
    for (const model of ['gpt-audio', 'heard', 'free']) {
      assert.equal((await chat({ model, messages: LISTEN })).status, 200, model)
    }
    assert.equal((await chat({ model: 'gpt-audio', modalities: ['text', 'audio'] })).status, 200)
  })

  test('rejects sound when the budget covers only as many text tokens', async () => {
    // A minute in 16 kHz, 16 bits: some 7,700 tokens, of $32 a million.
    const data = Buffer.alloc(1_920_000).toString('base64')
    const sound = { type: 'input_audio', input_audio: { data, format: 'wav' } }
    const tight = await keyOf({ budget: { limit_usd: 0.05, period: 'day' } })
    vendor.play(openai(details({})))
    const asked = { model: 'gpt-audio', max_tokens: 100 }
    const refused = await chat({ ...asked, messages: [{ role: 'user', content: [sound] }] }, tight)
    assert.deepEqual([refused.status, refused.body.error.code], [429, 'insufficient_quota'])
    const spoken = await chat(
      { model: 'gpt-audio', max_tokens: 1_000, modalities: ['text', 'audio'] },
      tight,
    )
    const { max_tokens: limit, max_completion_tokens: other } = vendor.calls.at(-1)!.body
    assert.equal(spoken.status, 200)
    assert.ok(
      (limit ?? other) <= 781,
      `$0.05 hold 781 tokens of $64 a million, not ${limit ?? other}`,
    )
    const words = [{ role: 'user', content: 'word '.repeat(6_000) }]
    assert.equal((await chat({ ...asked, messages: words }, tight)).status, 200)
  })
})
