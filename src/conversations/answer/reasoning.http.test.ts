import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withinMs } from '#ai/stream-encoder.ts'
import { testApp } from '#testing/app.ts'
import { joinTokens, OpenEvents, type ReceivedEvent, readEvents } from '#testing/events.ts'
import { claudeSays, event, mockVendor, type Step, says } from '#testing/mock-vendor.ts'
import { AnswerLog } from './answer-log.ts'

const thinking = (text: string) => ({ type: 'thinking', thinking: text, signature: 's' })

test('the reasoning of all calls is streamed, stored, exported and imported', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: {
      ...vendor.env.anthropic,
      LLM_VENDORS: 'anthropic/claude-sonnet-5-5',
      EMBEDDER: 'local',
    },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const content = 'The rent is 1,250 euros a month.'
  await ada.post('/api/rag/ingest/text', { content, metadata: { source: 'lease.pdf' } })
  const { id } = (await ada.post('/api/conversations', { title: 'Flat' })).body
  const search = { type: 'tool_use', id: 'toolu_1', name: 'search', input: { query: 'rent' } }
  vendor.play(
    claudeSays([thinking('I need the lease.'), search]),
    claudeSays([thinking('It says 1,250.'), { type: 'text', text: 'The rent is 1,250 [1].' }]),
  )
  const parts = [{ type: 'text', text: 'What is the rent?' }]
  const reply = await ada.post(`/api/conversations/${id}/messages`, { parts })

  const events = readEvents(reply.text)
  const names = events.flatMap(({ name }) => name ?? [])
  assert.deepEqual(
    names.filter((name) => name !== 'citations'),
    ['message', 'reasoning', 'thought', 'tool', 'tool', 'sources', 'reasoning', 'thought', 'usage'],
  )
  assert.equal(joinTokens(events), 'The rent is 1,250 [1].')
  const shown = events.flatMap(({ name, data }) => (name === 'reasoning' ? [data.token] : []))
  assert.equal(shown.join(''), 'I need the lease.\n\nIt says 1,250.')
  assert.equal(vendor.calls[0]?.body.thinking.display, 'summarized')

  const page = (await ada.get(`/api/conversations/${id}`)).body
  const { reasoning } = page.messages.at(-1)
  assert.equal(reasoning.text, shown.join(''))
  assert.equal(reasoning.ms, events.findLast(({ name }) => name === 'thought')?.data.ms)
  const eve = await app.as('eve', { tier: 'pro' })
  await eve.post('/api/conversations/import', (await ada.get('/api/conversations/export')).body)
  const [copy] = (await eve.get('/api/conversations')).body.conversations
  const copied = (await eve.get(`/api/conversations/${copy.id}`)).body.messages.at(-1)
  assert.deepEqual(copied.reasoning, reasoning)
})

test('a log of text, reasoning and events continues from every position, also from its row', () => {
  const log = new AnswerLog()
  log.addEvent('message', { id: 'a' })
  log.addReasoning('First ')
  log.addReasoning('thought.')
  log.endReasoning()
  log.addText('Let me look.')
  log.addReasoning('Second.')
  log.addTool({ name: 'search', input: {}, state: 'running' })
  log.addReasoning(' It goes on.')
  log.endReasoning()
  log.addText(' Found.')
  log.end('ok')

  const read = (from: AnswerLog, after: number) => {
    const events = readEvents(from.readAfter(after).text)
    const join = (wanted: string | null) =>
      events.flatMap(({ name, data }) => (name === wanted ? [data.token] : [])).join('')
    return { events, text: join(null), reasoning: join('reasoning') }
  }
  const whole = read(log, 0)
  assert.equal(whole.text, 'Let me look. Found.')
  assert.equal(whole.reasoning, 'First thought.\n\nSecond. It goes on.')
  const restored = AnswerLog.restore(structuredClone(log.toContent()), 'ok')
  const end = log.readAfter(0).position
  for (let position = 0; position <= end; position++) {
    const rest = read(log, position)
    assert.deepEqual(read(restored, position), rest)
    const expected = whole.events.flatMap((event) => cutEvent(event, position))
    assert.deepEqual(rest.events, expected, `after ${position}`)
  }
})

/** Returns what is left of an event after a position: the end of a token, or the whole event. */
function cutEvent(event: ReceivedEvent, position: number): ReceivedEvent[] {
  const left = (event.id ?? 0) - position
  if (left <= 0) return []
  const { token } = event.data
  return [token === undefined ? event : { ...event, data: { token: token.slice(-left) } }]
}

test('the thinking ends where the model begins to call a tool', async (t) => {
  const vendor = await mockVendor(t)
  const env = { ...vendor.env.openai, LLM_VENDORS: 'openai/gpt-6-luna', EMBEDDER: 'local' }
  const app = await testApp(t, { env })
  const ada = await app.as('ada', { tier: 'pro' })
  const { id } = (await ada.post('/api/conversations', { title: 'Flat' })).body
  const gate = Promise.withResolvers<void>()
  const delta = (delta: object) => event({ choices: [{ index: 0, delta, finish_reason: null }] })
  const call = { name: 'search', arguments: '{"query":' }
  const callsSlowly: Step = async (_call, reply) => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    // Some servers send an empty list of calls in every chunk.
    reply.write(delta({ reasoning_content: 'I need ', tool_calls: [] }))
    reply.write(delta({ reasoning_content: 'the lease.', tool_calls: [] }))
    reply.write(
      delta({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: call }] }),
    )
    await gate.promise
    reply.write(delta({ tool_calls: [{ index: 0, function: { arguments: '"rent"}' } }] }))
    reply.write(event({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }))
    reply.end(event('[DONE]'))
  }
  vendor.play(callsSlowly, says('The rent is unknown.'))
  const body = { parts: [{ type: 'text', text: 'What is the rent?' }] }
  const stream = await OpenEvents.open(`${app.url}/api/conversations/${id}/messages`, ada, { body })
  const thought = stream.until(({ name }) => name === 'thought')
  const before = await withinMs(20_000, thought)
  gate.resolve()
  const events = readEvents(await stream.end())
  await thought
  assert.notEqual(before, null, 'the thought ends while the call is being written')
  const names = events.flatMap(({ name }) => name ?? [])
  const reasoning = events.flatMap(({ name, data }) => (name === 'reasoning' ? [data.token] : []))
  assert.equal(reasoning.join(''), 'I need the lease.')
  assert.equal(names.filter((name) => name === 'thought').length, 1)
})
