// Abilities of models (tools, images), titles, the picker's list, and temporary conversations.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { joinTokens, OpenEvents, readEvents } from '#testing/events.ts'
import { holds, type MockCall, mockVendor, refuses, type Step, says } from '#testing/mock-vendor.ts'

const RENT = 'The rent of the flat is 1,250 euros a month.'
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const text = (value: string) => ({ type: 'text', text: value })
const image = { type: 'image', media_type: 'image/png', data: PIXEL }

async function setting(t: TestContext, models: Record<string, string> = {}) {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.openai, ...vendor.env.anthropic, EMBEDDER: 'local', ...models },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const start = async (body: object = { title: 'Flat' }) =>
    `/api/conversations/${(await ada.post('/api/conversations', body)).body.id}`
  return { app, vendor, ada, start }
}

const isTitle = ({ body }: MockCall) => /title for a conversation/.test(JSON.stringify(body))

/** Plays one step for titles, and another for answers. */
const either =
  (title: Step, answer: Step): Step =>
  (call, reply) =>
    (isTitle(call) ? title : answer)(call, reply)

test('a model without tools gets the passages of one search', async (t) => {
  const { vendor, ada, start } = await setting(t, { LLM_VENDORS: 'openai/small-model-32k' })
  await ada.post('/api/rag/ingest/text', { content: RENT, metadata: { source: 'lease.pdf' } })
  const path = await start()
  vendor.play(says('The rent of the flat is 1,250 euros a month [1].'))
  const reply = await ada.post(`${path}/messages`, {
    parts: [text('What is the rent of the flat?')],
  })
  const events = readEvents(reply.text)
  const find = (name: string) => events.findLast((event) => event.name === name)?.data
  assert.equal(joinTokens(events), 'The rent of the flat is 1,250 euros a month [1].')
  assert.equal(find('sources').sources[0].name, 'lease.pdf')
  assert.equal(find('citations').citations[0].quote.text, RENT)
  assert.equal(vendor.calls.length, 1)
  const [call] = vendor.calls
  assert.equal(call?.body.tools, undefined)
  assert.match(call?.body.messages.at(-2).content, /\[1\] \(lease\.pdf/)

  // Nothing is found for a task that needs no documents: the model answers alone.
  vendor.play(says('Roses are red.'))
  const poem = await ada.post(`${path}/messages`, { parts: [text('Write a poem about roses.')] })
  assert.equal(joinTokens(readEvents(poem.text)), 'Roses are red.')
  assert.doesNotMatch(JSON.stringify(vendor.calls[0]?.body), /lease/)
})

test('images reach a model that sees; one that does not is refused, and nothing is stored', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-models-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'models.json')
  const blind = { id: 'claude-sonnet-5-5', quirks: { vision: false } }
  writeFileSync(file, JSON.stringify({ vendors: [{ name: 'anthropic', models: [blind] }] }))
  const { vendor, ada, start } = await setting(t, { MODELS: file })
  const path = await start()
  const ask = (model: string, body: object) =>
    ada.post(`${path}/messages`, { model: `anthropic/${model}`, documents: 'off', ...body })
  vendor.play(says('A pixel.'))
  const parts = [text('What is this?'), image]
  const refused = await ask('claude-sonnet-5-5', { parts })
  assert.deepEqual([refused.status, refused.body.code], [400, 'model_without_vision'])
  assert.equal(vendor.calls.length, 0)
  assert.deepEqual((await ada.get(path)).body.messages, [])

  const reply = await ask('claude-haiku-5-5', { parts })
  assert.equal(joinTokens(readEvents(reply.text)), 'A pixel.')
  const [block] = (vendor.calls[0] as MockCall).body.messages[0].content
  assert.deepEqual(block.source, { type: 'base64', media_type: 'image/png', data: PIXEL })
  const [question, answer] = (await ada.get(path)).body.messages
  assert.deepEqual(question.parts, parts)

  const again = await ask('claude-sonnet-5-5', { replaces: answer.id })
  assert.equal(again.body.code, 'model_without_vision', 'the question has an image')
  const next = await ask('claude-sonnet-5-5', { parts: [text('So?')], parent_id: answer.id })
  assert.equal(next.status, 200, next.text)
  const sent = JSON.stringify(vendor.calls.at(-1)?.body.messages)
  assert.match(sent, /An image that this model cannot see/)
  assert.ok(!sent.includes(PIXEL))
  const tooMany = await ask('claude-haiku-5-5', { parts: Array(9).fill(image) })
  assert.equal(tooMany.status, 422)
})

test('the cheapest model names a conversation once, at the operator’s cost', async (t) => {
  const { vendor, ada, start } = await setting(t)
  const path = await start({})
  const model = 'anthropic/claude-haiku-5-5'
  const body = { parts: [text('What is the rent of the flat?')], model, documents: 'off' }
  vendor.play(either(says('"The rent."'), says('Much.')))
  const reply = await ada.post(`${path}/messages`, body)
  const events = readEvents(reply.text)
  assert.deepEqual(events.find(({ name }) => name === 'title')?.data, { title: 'The rent' })
  const { conversation } = (await ada.get(path)).body
  assert.deepEqual([conversation.title, conversation.title_by], ['The rent', 'model'])
  const [title] = vendor.calls.filter(isTitle)
  const { models } = (await ada.get('/api/conversations/models')).body
  type Listed = { prices: { input_usd_per_million: number; output_usd_per_million: number } }
  const sum = ({ prices }: Listed) => prices.input_usd_per_million + prices.output_usd_per_million
  const cheapest = Math.min(...models.map(sum))
  const used = models.find(({ name }: { name: string }) => name === title?.body.model)
  assert.equal(sum(used), cheapest)
  const { calls } = (await ada.get('/api/usage/calls')).body
  assert.equal(calls.length, 1, 'the title is in no ledger')

  await ada.post(`${path}/messages`, body)
  assert.equal(vendor.calls.filter(isTitle).length, 1)
  vendor.play(either(refuses(500), says('Much.')))
  const other = await start({})
  const unnamed = readEvents((await ada.post(`${other}/messages`, body)).text)
  assert.deepEqual(unnamed.find(({ name }) => name === 'title')?.data, {
    title: 'What is the rent of the flat?',
  })
})

test('a temporary conversation stores nothing and ends with its client', async (t) => {
  const { app, vendor, ada } = await setting(t)
  const model = 'anthropic/claude-haiku-5-5'
  const messages = [
    { role: 'user', parts: [text('Hello.')] },
    { role: 'assistant', parts: [text('Hello!')] },
    { role: 'user', parts: [text('Count.')] },
  ]
  const body = { messages, model, settings: { instructions: 'Be brief.' } }
  vendor.play(says('one two'))
  const reply = await ada.post('/api/conversations/temporary', body)
  const events = readEvents(reply.text)
  assert.equal(joinTokens(events), 'one two')
  assert.deepEqual(
    events.flatMap(({ name }) => name ?? []),
    ['message', 'usage'],
  )
  assert.ok(reply.text.endsWith('data: [DONE]\n\n'))
  assert.match(JSON.stringify(vendor.calls[0]?.body.system), /Be brief\./)
  assert.equal(vendor.calls[0]?.body.messages.length, 3)
  assert.deepEqual((await ada.get('/api/conversations')).body.conversations, [])

  vendor.play(holds('one two three', 2, new Promise(() => {})))
  const url = `${app.url}/api/conversations/temporary`
  const stream = await OpenEvents.open(url, ada, { body })
  await stream.until(({ data }) => data.token?.includes('two'))
  stream.leave()
  await vendor.calls.at(-1)?.gone

  vendor.play(refuses(400))
  const failed = readEvents((await ada.post('/api/conversations/temporary', body)).text)
  assert.equal(failed.at(-1)?.name, 'error')
})

test('the list of models has prices, abilities, and the speed once it is known', async (t) => {
  const { vendor, ada, start } = await setting(t, { LLM_VENDORS: 'anthropic/claude-haiku-5-5' })
  const read = async () => (await ada.get('/api/conversations/models')).body
  const before = await read()
  assert.equal(before.default_model, 'claude-haiku-5-5')
  const find = ({ models }: typeof before) =>
    models.find(({ name }: { name: string }) => name === 'claude-haiku-5-5')
  const { prices, context_tokens, ...rest } = find(before)
  assert.ok(prices.output_usd_per_million > prices.input_usd_per_million && context_tokens > 1_000)
  assert.deepEqual(rest, {
    name: 'claude-haiku-5-5',
    vendor: 'Anthropic',
    vision: true,
    tools: true,
    tokens_per_second: null,
  })
  vendor.play(says('word '.repeat(30), { usage: { prompt: 10, completion: 30 } }))
  await ada.post(`${await start()}/messages`, { parts: [text('Count.')] })
  assert.ok(find(await read()).tokens_per_second > 0)
})
