import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'

const AUTHORIZED = { authorization: 'Bearer sandbox' }
const MESSAGES = [
  {
    role: 'system',
    content: 'Context:\n[1] The shop opens at nine. [2] It closes at six on weekdays.',
  },
  { role: 'user', content: 'When does the shop open?' },
]
const PATH = '/sandbox/openai/v1/chat/completions'

test('a completion quotes its context, names itself, and counts tokens', async (t) => {
  const app = await testApp(t)
  const reply = await app.post(
    PATH,
    { model: 'gpt-sandbox', messages: MESSAGES },
    { headers: AUTHORIZED },
  )

  assert.equal(reply.status, 200)
  const [choice] = reply.body.choices
  assert.match(
    choice.message.content,
    /The shop opens at nine\.[\s\S]*Sandbox model: I quote, I do not reason\./,
  )
  assert.equal(choice.finish_reason, 'stop')
  const { prompt_tokens, completion_tokens, total_tokens } = reply.body.usage
  assert.ok(prompt_tokens > 15 && completion_tokens > 10)
  assert.equal(total_tokens, prompt_tokens + completion_tokens)
})

test('a stream has the same text, then usage without choices, then [DONE]', async (t) => {
  const app = await testApp(t)
  const whole = await app.post(
    PATH,
    { model: 'gpt-sandbox', messages: MESSAGES },
    { headers: AUTHORIZED },
  )
  const wanted = {
    model: 'gpt-sandbox',
    messages: MESSAGES,
    stream: true,
    stream_options: { include_usage: true },
  }
  const reply = await app.post(PATH, wanted, { headers: AUTHORIZED })

  assert.match(reply.headers.get('content-type') ?? '', /^text\/event-stream/)
  const lines = reply.text.trim().split('\n\n')
  assert.equal(lines.at(-1), 'data: [DONE]')
  const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.replace(/^data: /, '')))
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')
  assert.equal(text, whole.body.choices[0].message.content)
  assert.ok(chunks.length > 5)
  assert.deepEqual(chunks.at(-1).choices, [])
  assert.deepEqual(chunks.at(-1).usage, whole.body.usage)
  assert.equal(chunks.at(-2).choices[0].finish_reason, 'stop')
})

test('max_tokens cuts the answer with the finish reason length', async (t) => {
  const app = await testApp(t)
  const reply = await app.post(
    PATH,
    { model: 'm', messages: MESSAGES, max_tokens: 4 },
    { headers: AUTHORIZED },
  )
  assert.equal(reply.body.choices[0].finish_reason, 'length')
  assert.equal(reply.body.usage.completion_tokens, 4)
})

test("errors have the vendor's shape", async (t) => {
  const app = await testApp(t)
  const keyless = await app.post(PATH, { model: 'm', messages: MESSAGES })
  assert.deepEqual([keyless.status, keyless.body.error.code], [401, 'invalid_api_key'])
  const empty = await app.post(PATH, { model: 'm' }, { headers: AUTHORIZED })
  assert.deepEqual([empty.status, empty.body.error.param], [400, 'messages'])
  assert.equal((await app.get('/sandbox/openai/v1/models')).body.data[0].id, 'gpt-sandbox')
})
