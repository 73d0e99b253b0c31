// Answers that outlive their clients: rejoined, followed by the row, stopped, interrupted and
// recovered. Gates decide when the vendor continues, so no test depends on time.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import type { Log } from '#platform/telemetry/log.ts'
import { type Client, type TestApp, testApp } from '#testing/app.ts'
import { ON_EMBEDDED, ON_POSTGRES } from '#testing/database.ts'
import { joinTokens, OpenEvents, readEvents } from '#testing/events.ts'
import { breakStream, holds, type MockVendor, mockVendor, says } from '#testing/mock-vendor.ts'
import { beginAnswer, readMessage, saveAnswer } from '../messages.ts'
import { followRow } from './send-log.ts'

const WORDS = 'one two three four five six'

async function setting(t: TestContext, log?: Log) {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.anthropic, LLM_VENDORS: 'anthropic/claude-haiku-5-5' },
    ...(log && { log }),
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const { body, text } = await ada.post('/api/conversations', { title: 'Numbers' })
  assert.ok(body.id, text)
  return { app, vendor, ada, id: body.id as string, path: `/api/conversations/${body.id}` }
}

const question = (text = 'Count.', more: object = {}) => ({
  parts: [{ type: 'text', text }],
  documents: 'off',
  ...more,
})

function ask(app: TestApp, client: Client, path: string, body: object = question()) {
  return OpenEvents.open(`${app.url}${path}/messages`, client, { body })
}

/** Asks, and returns when the first two words have arrived. */
async function askAndHold(app: TestApp, vendor: MockVendor, client: Client, path: string) {
  const gate = Promise.withResolvers<void>()
  vendor.play(holds(WORDS, 2, gate.promise))
  const stream = await ask(app, client, path)
  const events = await stream.until(({ data }) => data.token?.includes('two'))
  return { gate, stream, events, answerId: events[0]?.data.id as string }
}

const readMessages = async (client: Client, path: string) => (await client.get(path)).body.messages

/** Reads until an answer has ended; the service ends it, and the test only waits. */
async function untilEnded(client: Client, path: string) {
  for (;;) {
    const last = (await readMessages(client, path)).at(-1)
    if (last.outcome !== 'running') return last
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test('an answer continues when its client leaves, and is settled', async (t) => {
  const { app, vendor, ada, path } = await setting(t)
  const { gate, stream } = await askAndHold(app, vendor, ada, path)
  stream.leave()
  await stream.end()
  const { body } = await ada.get('/api/conversations')
  assert.equal(body.conversations[0].is_running, true)

  gate.resolve()
  const answer = await untilEnded(ada, path)
  assert.deepEqual([answer.outcome, answer.parts], ['ok', [{ type: 'text', text: WORDS }]])
  assert.deepEqual(
    [answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.model],
    [10, 5, 'claude-haiku-5-5'],
  )
  const { calls } = (await ada.get('/api/usage/calls')).body
  assert.deepEqual(
    calls.map(({ route, outcome }: Record<string, string>) => [route, outcome]),
    [['/api/conversations', 'ok']],
  )
})

test('a client that rejoins with Last-Event-ID gets each event once', async (t) => {
  const { app, vendor, ada, path } = await setting(t)
  const { gate, stream, events, answerId } = await askAndHold(app, vendor, ada, path)
  stream.leave()
  const after = events.at(-1)?.id as number
  const url = `${app.url}${path}/messages/${answerId}/stream`
  const rejoined = await OpenEvents.open(url, ada, { after })
  const fromStart = await OpenEvents.open(url, ada)
  gate.resolve()

  const rest = readEvents(await rejoined.end())
  const whole = readEvents(await fromStart.end())
  assert.ok(rejoined.text.endsWith('data: [DONE]\n\n'))
  assert.ok(rest.every(({ id }) => (id ?? 0) > after))
  assert.equal(joinTokens([...events, ...rest]), WORDS)
  assert.equal(joinTokens(whole), WORDS)
  const names = (list: typeof rest) => list.flatMap(({ name }) => name ?? [])
  assert.deepEqual(names([...events, ...rest]), names(whole))

  // After the end, the row has the same events.
  const later = await ada.get(`${path}/messages/${answerId}/stream`, {
    headers: { 'last-event-id': String(after) },
  })
  assert.equal(joinTokens(readEvents(later.text)), joinTokens(rest))
  assert.deepEqual(readEvents(later.text).at(-1), rest.at(-1))
  assert.ok(later.text.endsWith('data: [DONE]\n\n'))
})

test('a node that does not write the answer follows its row to the end', async (t) => {
  const { app, vendor, ada, id, path } = await setting(t)
  const { gate, stream, events, answerId } = await askAndHold(app, vendor, ada, path)
  const key = { userId: ada.userId, conversationId: id, id: answerId }
  const received = { text: '', ended: false }
  const saved = Promise.withResolvers<void>()
  const reader = {
    signal: new AbortController().signal,
    write(text: string) {
      received.text += text
      saved.resolve()
    },
    end: () => {
      received.ended = true
    },
  }
  const following = followRow(app.platform, reader, key, 0, new AbortController().signal)
  // The row is written every second while the answer runs.
  await saved.promise
  assert.equal(joinTokens(readEvents(received.text)), joinTokens(events))
  gate.resolve()
  await following
  assert.equal(received.ended, true)
  assert.equal(joinTokens(readEvents(received.text)), WORDS)
  assert.deepEqual(
    readEvents(received.text).flatMap(({ name }) => name ?? []),
    ['message', 'usage'],
  )
  assert.ok(received.text.endsWith('data: [DONE]\n\n'))
  await stream.end()
})

test('another node follows, stops and refuses beside an answer that it does not write', {
  skip: ON_EMBEDDED || (!ON_POSTGRES && 'SQLite has one node'),
}, async (t) => {
  const { app, vendor, ada, path } = await setting(t)
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-node-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  const { databaseUrl } = app.config
  const env = { ...vendor.env.anthropic, ORIGINALS_DIR: 'off' }
  const other = await testApp(t, { onData: { dataDir, databaseUrl }, env })
  const there = await other.as('ada')

  const first = await askAndHold(app, vendor, ada, path)
  const url = `${other.url}${path}/messages/${first.answerId}/stream`
  const following = await OpenEvents.open(url, there)
  await following.until(({ data }) => data.token?.includes('two'))
  assert.equal((await there.post(`${path}/messages`, question('Me too.'))).status, 409)
  first.gate.resolve()
  await first.stream.end()
  assert.equal(joinTokens(readEvents(await following.end())), WORDS)
  assert.ok(following.text.endsWith('data: [DONE]\n\n'))

  const second = await askAndHold(app, vendor, ada, path)
  assert.equal((await there.post(`${path}/stop`)).status, 204)
  await second.stream.end()
  const answer = (await readMessages(there, path)).at(-1)
  assert.deepEqual([answer.id, answer.outcome], [second.answerId, 'stopped'])
})

test('a stopped answer keeps its text, and the vendor is left', async (t) => {
  const { app, vendor, ada, path } = await setting(t)
  const { stream } = await askAndHold(app, vendor, ada, path)
  assert.equal((await ada.post(`${path}/stop`)).status, 204)
  await vendor.calls.at(-1)?.gone
  const events = readEvents(await stream.end())
  assert.ok(stream.text.endsWith('data: [DONE]\n\n'))
  assert.equal(events.at(-1)?.data.finish_reason, 'stopped')
  const answer = (await readMessages(ada, path)).at(-1)
  assert.deepEqual(
    [answer.outcome, answer.parts[0].text.trim(), answer.problem],
    ['stopped', 'one two', null],
  )
  const { calls } = (await ada.get('/api/usage/calls')).body
  assert.equal(calls[0].outcome, 'cancelled')
  assert.ok(answer.usage.cost_usd > 0)
  assert.equal((await ada.post(`${path}/stop`)).status, 204, 'nothing is running any more')
})

test('two tabs ask from the same message and branch; one waits while the other is answered', async (t) => {
  const { app, vendor, ada, path } = await setting(t)
  vendor.play(says('First.'))
  await (await ask(app, ada, path)).end()
  const [, first] = await readMessages(ada, path)

  const { gate, stream } = await askAndHold(app, vendor, ada, path)
  const busy = await ada.post(`${path}/messages`, question('Me too.', { parent_id: first.id }))
  assert.deepEqual([busy.status, busy.body.code], [409, 'answer_running'])
  gate.resolve()
  await stream.end()

  vendor.play(says('Third.'))
  const stale = await ada.post(`${path}/messages`, question('Me too.', { parent_id: first.id }))
  assert.equal(stale.status, 200, stale.text)
  vendor.play(says('Fourth.'))
  const edited = await ada.post(`${path}/messages`, question('And me.', { parent_id: first.id }))
  assert.equal(edited.status, 200, edited.text)
  const shown = await readMessages(ada, path)
  assert.deepEqual(
    shown.map(({ parts }: { parts: { text: string }[] }) => parts[0]?.text),
    ['Count.', 'First.', 'And me.', 'Fourth.'],
  )
  assert.equal(shown[2].sibling_ids.length, 2)
})

test('another answer to the same question is a sibling, by another model', async (t) => {
  const { app, vendor, ada, path } = await setting(t)
  vendor.play(says('First.'))
  await (await ask(app, ada, path)).end()
  const [asked, first] = await readMessages(ada, path)
  vendor.play(says('Second.'))
  const again = await ada.post(`${path}/messages`, {
    replaces: first.id,
    model: 'anthropic/claude-sonnet-5-5',
    documents: 'off',
  })
  assert.equal(again.status, 200, again.text)
  const [sameQuestion, second] = await readMessages(ada, path)
  assert.equal(sameQuestion.id, asked.id)
  assert.deepEqual(second.sibling_ids, [first.id, second.id])
  const [call] = vendor.calls
  assert.equal(call?.body.model, 'claude-sonnet-5-5')
  assert.equal(call?.body.messages.length, 1, 'the replaced answer is not part of the prompt')
})

test('a vendor that breaks off leaves a failed answer with its text', async (t) => {
  const { app, vendor, ada, path } = await setting(t)
  vendor.play(breakStream('one two '))
  const stream = await ask(app, ada, path)
  const text = await stream.end()
  const { name, data } = readEvents(text).at(-1) as { name: string; data: { code: string } }
  assert.equal(name, 'error')
  assert.doesNotMatch(text, /\[DONE\]/)
  const answer = (await readMessages(ada, path)).at(-1)
  assert.deepEqual(
    [answer.outcome, answer.problem.code, answer.parts[0].text.trim()],
    ['failed', data.code, 'one two'],
  )
  // The conversation continues.
  vendor.play(says('Sorry.'))
  const next = await ada.post(`${path}/messages`, question('Again.', { parent_id: answer.id }))
  assert.equal(joinTokens(readEvents(next.text)), 'Sorry.')
})

test('closing the service interrupts an answer, and no query runs afterwards', async (t) => {
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
  const { app, vendor, ada, id, path } = await setting(t, log)
  const { answerId } = await askAndHold(app, vendor, ada, path)
  const url = `${app.url}${path}/messages/${answerId}/stream`
  const rejoined = await OpenEvents.open(url, ada)
  await app.service.close(0)
  await rejoined.end()
  assert.deepEqual(lines, [], 'a query on a closed database is logged')
  await app.restart()

  const answer = (await readMessages(ada, path)).at(-1)
  assert.deepEqual(
    [answer.id, answer.outcome, answer.parts[0].text.trim()],
    [answerId, 'interrupted', 'one two'],
  )
  const later = await ada.get(`${path}/messages/${answerId}/stream`)
  assert.equal(readEvents(later.text).at(-1)?.data.code, 'answer_interrupted')
  const { outcome } = (await readMessage(app.platform, {
    userId: ada.userId,
    conversationId: id,
    id: answerId,
  })) as { outcome: string }
  assert.equal(outcome, 'interrupted')
})

test('a service that stops waits for an answer whose client has left', async (t) => {
  const { app, vendor, ada, path } = await setting(t)
  const { gate, stream } = await askAndHold(app, vendor, ada, path)
  stream.leave()
  await stream.end()
  const closing = app.service.close(60_000)
  gate.resolve()
  await closing
  await app.restart()
  const answer = (await readMessages(ada, path)).at(-1)
  assert.deepEqual([answer.outcome, answer.parts[0].text], ['ok', WORDS])
})

test('an answer of a process that died is interrupted, and the conversation continues', async (t) => {
  const { app, vendor, ada, id, path } = await setting(t)
  const parts = [{ type: 'text' as const, text: 'Count.' }]
  const asked = { parentId: null, parts, replaces: null, model: null }
  const { answerId } = await beginAnswer(app.platform, ada.userId, id, asked)
  const key = { userId: ada.userId, conversationId: id, id: answerId }
  const written = [{ type: 'text' as const, text: 'one two' }]
  const none = { sources: [], citations: [], tools: [], reasoning: null, problem: null }
  assert.equal(await saveAnswer(app.platform, key, { ...none, parts: written }), true)
  assert.equal((await ada.post(`${path}/messages`, question())).status, 409)

  app.clock.advance(61_000)
  await app.restart()
  const answer = (await readMessages(ada, path)).at(-1)
  assert.deepEqual([answer.outcome, answer.parts], ['interrupted', written])
  vendor.play(says('three'))
  const next = await ada.post(`${path}/messages`, question('Go on.', { parent_id: answerId }))
  assert.equal(joinTokens(readEvents(next.text)), 'three')
})

test('an answer ends when its conversation is deleted', async (t) => {
  const { app, vendor, ada, path } = await setting(t)
  const { stream } = await askAndHold(app, vendor, ada, path)
  assert.equal((await ada.delete(path)).status, 204)
  await vendor.calls.at(-1)?.gone
  await stream.end()
  assert.equal((await ada.get(path)).status, 404)
})
