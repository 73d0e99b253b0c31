import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { joinTokens, readEvents } from '#testing/events.ts'
import { claudeSays, mockVendor } from '#testing/mock-vendor.ts'
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
    assert.ok(whole.text.endsWith(rest.text) && whole.reasoning.endsWith(rest.reasoning))
    const skipped = whole.events.filter(({ id }) => (id ?? 0) <= position)
    assert.deepEqual(rest.events.at(-1)?.id ?? end, end)
    assert.ok(rest.events.length >= whole.events.length - skipped.length)
  }
  assert.equal(read(log, end).events.length, 0)
})
