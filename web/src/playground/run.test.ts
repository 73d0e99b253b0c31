import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildBody, NEW_SETTINGS } from './request.ts'
import { createRun, takeEvent } from './run.ts'

const body = buildBody({ ...NEW_SETTINGS, model: 'm' }, [{ role: 'user', content: 'Hello' }])

test('a stream becomes text, reasoning, usage and the time of its first token', () => {
  const events = [
    { choices: [{ delta: { role: 'assistant', content: '' } }] },
    { choices: [{ delta: { reasoning_content: 'A greeting.' } }] },
    { choices: [{ delta: { content: 'Good ' } }] },
    { choices: [{ delta: { content: 'morning' }, finish_reason: 'stop' }] },
    { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, cost_usd: 0.001 } },
  ]
  const run = [...events.map((one) => JSON.stringify(one)), '[DONE]'].reduce(
    (before, data, index) => takeEvent(before, data, index * 100),
    createRun(body),
  )
  assert.equal(run.text, 'Good morning')
  assert.equal(run.reasoning, 'A greeting.')
  assert.equal(run.firstTokenMs, 100)
  assert.equal(run.finish, 'stop')
  assert.equal(run.usage?.cost_usd, 0.001)
  assert.deepEqual(
    run.events.map(({ atMs }) => atMs),
    [0, 100, 200, 300, 400, 500],
  )
})

test('an error inside a stream keeps the text before it', () => {
  const begun = takeEvent(createRun(body), '{"choices":[{"delta":{"content":"Goo"}}]}', 5)
  const error = { message: 'The vendor failed', type: 'server_error', code: null }
  const run = takeEvent(begun, JSON.stringify({ error }), 9)
  assert.equal(run.text, 'Goo')
  assert.deepEqual(run.problem, {
    status: null,
    code: 'server_error',
    message: 'The vendor failed',
  })
})

test('a request has only the members that were set', () => {
  assert.deepEqual(
    buildBody({ ...NEW_SETTINGS, model: 'm', streams: false, temperature: 0, system: ' ' }, []),
    { model: 'm', messages: [], temperature: 0 },
  )
  assert.deepEqual(
    buildBody({ ...NEW_SETTINGS, model: 'm', system: 'Be brief.', effort: 'low' }, []),
    {
      model: 'm',
      messages: [{ role: 'system', content: 'Be brief.' }],
      reasoning_effort: 'low',
      stream: true,
      stream_options: { include_usage: true },
    },
  )
})
