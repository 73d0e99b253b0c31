import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { event, mockVendor, says, streams } from '#testing/mock-vendor.ts'

const HI = [{ role: 'user', content: 'Hi' }]

test('our own routes disable reasoning for short answers, and keep the temperature where possible', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.openai, ...vendor.env.anthropic, ...vendor.env.gemini },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  vendor.play(says('ok'))
  const bodyFor = async (model: string, more: object = {}) => {
    const provider = model.startsWith('claude')
      ? 'anthropic'
      : model.startsWith('gemini')
        ? 'gemini'
        : 'openai'
    await ada.post('/api/ai/chat', { messages: HI, model, provider, ...more })
    return vendor.calls.at(-1)!.body
  }

  const luna = await bodyFor('gpt-6-luna')
  assert.deepEqual(
    [luna.max_completion_tokens, luna.temperature, luna.reasoning_effort],
    [1_000, 0.7, 'none'],
  )
  assert.equal('wishes' in luna, false)
  const haiku = await bodyFor('claude-haiku-5-5')
  assert.deepEqual([haiku.max_tokens, haiku.output_config], [1_000, { effort: 'low' }])
  assert.equal(
    'output_config' in (await bodyFor('claude-haiku-5-5', { max_tokens: 16_384 })),
    false,
  )
  const flash = await bodyFor('gemini-3.8-flash')
  assert.deepEqual(flash.generationConfig.thinkingConfig, { thinkingLevel: 'low' })
})

test('streams reasoning as separate events to clients that request it', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.openai, ...vendor.env.anthropic, ...vendor.env.gemini },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const streamsOf: Record<string, string[]> = {
    anthropic: [
      event({ type: 'message_start', message: { usage: { input_tokens: 1, output_tokens: 1 } } }),
      event({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      }),
      event({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'thinking_delta', thinking: 'Hm "so"' },
      }),
      event({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'signature_delta', signature: 'c2ln' },
      }),
      event({ type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } }),
      event({ type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Yes' } }),
      event({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { output_tokens: 2 },
      }),
      event({ type: 'message_stop' }),
    ],
    gemini: [
      event({ candidates: [{ content: { parts: [{ text: 'Hm "so"', thought: true }] } }] }),
      event({ candidates: [{ content: { parts: [{ text: 'Yes' }] }, finishReason: 'STOP' }] }),
    ],
    // As DeepSeek and vLLM stream it.
    openai: [
      event({
        choices: [
          { index: 0, delta: { role: 'assistant', content: '', reasoning_content: 'Hm "so"' } },
        ],
      }),
      event({ choices: [{ index: 0, delta: { content: 'Yes' }, finish_reason: 'stop' }] }),
      event('[DONE]'),
    ],
  }
  for (const [provider, lines] of Object.entries(streamsOf)) {
    vendor.play(streams(...lines))
    const ask = (more: object) =>
      ada.post('/api/ai/chat', { messages: HI, provider, stream: true, ...more })
    const { text } = await ask({ include_reasoning: true })
    assert.equal(
      text,
      'event: reasoning\ndata: {"token":"Hm \\"so\\""}\n\ndata: {"token":"Yes"}\n\ndata: [DONE]\n\n',
      provider,
    )
    assert.equal((await ask({})).text, 'data: {"token":"Yes"}\n\ndata: [DONE]\n\n', provider)
    const [asked, unasked] = vendor.calls.map(({ body }) => JSON.stringify(body))
    const wish = {
      anthropic: /"display":"summarized"/,
      gemini: /"includeThoughts":true/,
      openai: /./,
    }[provider]!
    assert.match(asked!, wish)
    if (provider !== 'openai') assert.doesNotMatch(unasked!, wish)
  }
})
