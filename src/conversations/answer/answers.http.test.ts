// Questions in kept conversations, answered from documents by the sandbox's model, as an app sees
// them: events, rows and the ledger.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, testApp } from '#testing/app.ts'
import { joinTokens, readEvents } from '#testing/events.ts'
import { createShop } from '#testing/shop.ts'

const LEASE =
  'The rent is 1,250 euros a month and is payable in advance. The deposit is three months of rent. Keeping dogs and cats needs the consent of the landlord.'
const HANDBOOK =
  'Parental leave lasts 16 weeks and is paid by the company at full salary. Sick leave is paid for six weeks.'

async function store(client: Client, source: string, content: string): Promise<string> {
  const reply = await client.post('/api/rag/ingest/text', { content, metadata: { source } })
  assert.equal(reply.status, 200, reply.text)
  return reply.body.document_ids[0].slice(0, 12)
}

async function start(client: Client, body: object = {}): Promise<string> {
  const reply = await client.post('/api/conversations', body)
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

const text = (value: string) => [{ type: 'text', text: value }]

test('answers a question from documents, with sources and quotes', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const lease = await store(ada, 'lease.pdf', LEASE)
  await store(ada, 'handbook.pdf', HANDBOOK)
  const id = await start(ada)

  const reply = await ada.post(`/api/conversations/${id}/messages`, {
    parts: text('How much is the deposit?'),
  })
  assert.equal(reply.status, 200, reply.text)
  assert.match(reply.headers.get('content-type') ?? '', /^text\/event-stream/)
  assert.ok(reply.text.endsWith('data: [DONE]\n\n'))
  const events = readEvents(reply.text)
  const names = events.map(({ name }) => name)
  assert.deepEqual(
    names.filter((name) => name !== null),
    ['message', 'tool', 'tool', 'sources', 'citations', 'title', 'usage'],
  )
  assert.deepEqual(
    events.map(({ id }) => id),
    [...events.map(({ id }) => id ?? 0)].sort((a, b) => a - b),
  )
  const find = (name: string) => events.findLast((event) => event.name === name)?.data
  assert.deepEqual(find('tool'), {
    name: 'search',
    input: { query: 'How much is the deposit?', top_k: 5 },
    state: 'done',
    found: 1,
  })
  const answer = joinTokens(events)
  assert.match(answer, /^The deposit is three months of rent\. \[1\]/)
  const { sources } = find('sources')
  assert.deepEqual([sources[0].name, sources[0].document_id], ['lease.pdf', lease])
  const [citation] = find('citations').citations
  assert.equal(
    answer.slice(citation.start, citation.end),
    'The deposit is three months of rent. [1]',
  )
  assert.equal(citation.quote.text, 'The deposit is three months of rent.')
  assert.equal(LEASE.slice(citation.quote.start, citation.quote.end), citation.quote.text)
  assert.deepEqual(find('title'), { title: 'How much is the deposit?' })
  const { usage, model, finish_reason, cost_usd } = find('usage')
  assert.equal(finish_reason, 'stop')

  const { conversation, messages } = (await ada.get(`/api/conversations/${id}`)).body
  const [question, row] = messages
  const { id: answerId, question_id, parent_id } = find('message')
  assert.deepEqual([question.id, row.id, row.parent_id], [question_id, answerId, parent_id])
  assert.equal(conversation.title, 'How much is the deposit?')
  assert.deepEqual(
    [row.outcome, row.model, row.parts, row.sources, row.citations],
    ['ok', model, text(answer), sources, find('citations').citations],
  )
  assert.deepEqual(row.usage, { ...usage, cost_usd })
  const { calls } = (await ada.get('/api/usage/calls')).body
  const ofAnswer = calls.filter(({ route }: { route: string }) => route === '/api/conversations')
  const sum = (of: (call: { prompt_tokens: number; cost_usd: number }) => number) =>
    ofAnswer.map(of).reduce((a: number, b: number) => a + b, 0)
  assert.equal(
    sum((call) => call.prompt_tokens),
    usage.prompt_tokens,
  )
  assert.ok(Math.abs(sum((call) => call.cost_usd) - cost_usd) < 1e-8)
})

test('the tools run in the dialect of every vendor', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  await store(ada, 'lease.pdf', LEASE)
  for (const model of ['gpt-6-luna', 'claude-sonnet-5-5', 'gemini-3.8-flash']) {
    const path = `/api/conversations/${await start(ada)}/messages`
    const reply = await ada.post(path, { parts: text('How much is the deposit?'), model })
    const events = readEvents(reply.text)
    assert.match(joinTokens(events), /^The deposit is three months of rent\. \[1\]/, model)
    const citations = events.find(({ name }) => name === 'citations')?.data.citations
    assert.equal(citations[0].quote.text, 'The deposit is three months of rent.', model)
  }
})

test('the sandbox lists documents, continues, and greets without a search', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  await store(ada, 'lease.pdf', LEASE)
  await store(ada, 'handbook.pdf', HANDBOOK)
  const id = await start(ada)
  const ask = async (question: string) => {
    const { body } = await ada.get(`/api/conversations/${id}`)
    const parent_id = body.messages.at(-1)?.id ?? null
    const reply = await ada.post(`/api/conversations/${id}/messages`, {
      parts: text(question),
      parent_id,
    })
    const events = readEvents(reply.text)
    const tool = events.findLast(({ name }) => name === 'tool')?.data
    return { answer: joinTokens(events), tool }
  }
  const all = await ask('Which documents do I have?')
  assert.equal(all.tool.name, 'list_documents')
  assert.match(all.answer, /^You have 2 documents:\n\n- (?:lease|handbook)\.pdf: .* \[1\]/)
  const deposit = await ask('How much is the deposit?')
  assert.match(deposit.answer, /^The deposit is three months of rent\. \[1\]/)
  const followUp = await ask('And the rent, is it payable in advance?')
  assert.match(followUp.tool.input.query, /deposit\? And the rent/)
  assert.match(followUp.answer, /The rent is 1,250 euros a month and is payable in advance\. \[1\]/)
  const first = await ask('How long is sick leave paid?')
  assert.match(first.answer, /^Sick leave is paid for six weeks\. \[1\]/)
  const next = await ask('Continue')
  assert.deepEqual(next.tool.input.query, 'How long is sick leave paid?')
  assert.match(next.answer, /^Sick leave is paid for six weeks\. \[1\]/)
  assert.equal((await ask('Hello')).tool, undefined)
  const nothing = await ask('Who won the football match?')
  assert.match(nothing.answer, /^I could not find anything about this in your documents\./)
})

test('without documents the model answers alone; a question needs text, and a conversation of one’s own', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const id = await start(ada)
  const path = `/api/conversations/${id}/messages`
  const reply = await ada.post(path, { parts: text('Who built the lighthouse?') })
  const events = readEvents(reply.text)
  assert.match(joinTokens(events), /^You asked: “Who built the lighthouse\?”/)
  assert.equal(
    events.some(({ name }) => name === 'tool'),
    false,
  )
  assert.equal((await ada.post(path, {})).status, 422)
  assert.equal((await ada.post(path, { parts: [] })).status, 422)
  const key = (await ada.post('/api/api-keys', { name: 'k' })).body.key
  const byKey = await app.post(
    path,
    { parts: text('Hi') },
    { headers: { authorization: `Bearer ${key}` } },
  )
  assert.equal(byKey.status, 401, 'conversations belong to people')
})

test('a free account gets its first answer with a source after it has verified its address', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const file = new FormData()
  file.append('file', new Blob([LEASE]), 'lease.txt')
  const stored = await ada.post('/api/library/ingest/file', file)
  assert.equal(stored.status, 200, stored.text)
  const path = `/api/conversations/${await start(ada)}`
  const ask = async () => {
    const reply = await ada.post(`${path}/messages`, { parts: text('How much is the deposit?') })
    assert.equal(reply.status, 200, reply.text)
    return readEvents(reply.text)
  }
  assert.equal((await ask()).at(-1)?.data.code, 'free_needs_verified_email')
  const [, failed] = (await ada.get(path)).body.messages
  assert.deepEqual([failed.outcome, failed.problem.code], ['failed', 'free_needs_verified_email'])

  await createShop(app).verify(ada)
  const events = await ask()
  assert.match(joinTokens(events), /^The deposit is three months of rent\. \[1\]/)
  assert.equal(events.at(-1)?.name, 'usage')
})

test('a failure after the question is stored ends the answer, and the next question is answered', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const path = `/api/conversations/${await start(ada)}`
  await ada.post(`${path}/messages`, { parts: text('Hello') })
  const [question, answer] = (await ada.get(path)).body.messages
  const readRow = app.platform.db
    .selectFrom('conversation_messages')
    .selectAll()
    .where('id', '=', question.id)
  const { parts_sealed } = await readRow.executeTakeFirstOrThrow()
  const write = (parts: Uint8Array) =>
    app.platform.db
      .updateTable('conversation_messages')
      .set({ parts_sealed: parts })
      .where('id', '=', question.id)
      .execute()
  await write(parts_sealed.toReversed())
  const ask = () => ada.post(`${path}/messages`, { parts: text('And now?'), parent_id: answer.id })
  const failed = readEvents((await ask()).text)
  assert.deepEqual(
    failed.map(({ name }) => name),
    ['message', 'error'],
  )
  await write(parts_sealed)
  const stored = (await ada.get(path)).body.messages.at(-1)
  assert.deepEqual([stored.outcome, stored.problem.code], ['failed', 'internal_error'])
  assert.notEqual(joinTokens(readEvents((await ask()).text)), '')
})
