import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { LEFT, readStream, type StreamEvent } from './stream.ts'

test('tokens arrive in order and [DONE] completes the answer', async () => {
  const { pieces, ending } = await read(
    'data: {"token":"Hel"}\n\ndata: {"token":"lo"}\n\ndata: [DONE]\n\n',
  )
  assert.deepEqual(pieces, [
    { kind: 'token', token: 'Hel' },
    { kind: 'token', token: 'lo' },
  ])
  assert.deepEqual(ending, { kind: 'complete' })
})

test('a stream that closes without [DONE] was cut', async () => {
  assert.deepEqual((await read('data: {"token":"Hel"}\n\n')).ending, { kind: 'cut' })
  assert.deepEqual((await read('')).ending, { kind: 'cut' })
  assert.deepEqual((await read('data: {"token":"x"}\n\ndata: [DON')).ending, { kind: 'cut' })
})

test('an error event ends the answer, and later events are ignored', async () => {
  const { pieces, ending } = await read(
    'data: {"token":"a"}\n\nevent: error\ndata: {"detail":"openai went away"}\n\ndata: {"token":"b"}\n\ndata: [DONE]\n\n',
  )
  assert.deepEqual(pieces, [{ kind: 'token', token: 'a' }])
  assert.deepEqual(ending, { kind: 'failed', detail: 'openai went away', code: null })
})

test('an error event may have a code', async () => {
  const { ending } = await read(
    'event: error\ndata: {"detail":"openai went away","code":"vendor_failed"}\n\n',
  )
  assert.deepEqual(ending, { kind: 'failed', detail: 'openai went away', code: 'vendor_failed' })
})

test('the word [DONE] inside a token does not end the answer', async () => {
  const { pieces, ending } = await read('data: {"token":"[DONE]"}\n\ndata: [DONE]\n\n')
  assert.deepEqual(pieces, [{ kind: 'token', token: '[DONE]' }])
  assert.deepEqual(ending, { kind: 'complete' })
})

test('sources and usage are separate events; comments and unknown events are ignored', async () => {
  const chunk = { id: 'abc_0', content: 'text', score: 0.9, metadata: {} }
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
  const { pieces } = await read(
    `event: sources\ndata: ${JSON.stringify({ sources: [chunk] })}\n\n: ping\n\nevent: mood\ndata: {"token":"no"}\n\ndata: {"token":"a"}\n\nevent: usage\ndata: ${JSON.stringify(usage)}\n\ndata: [DONE]\n\n`,
  )
  assert.deepEqual(pieces, [
    { kind: 'sources', sources: [chunk], nearest: [] },
    { kind: 'token', token: 'a' },
    { kind: 'usage', usage },
  ])
})

test('an answer at its length limit or withheld by a filter is not complete', async () => {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
  const ended = async (finish_reason: unknown) =>
    await read(
      `data: {"token":"a"}\n\nevent: usage\ndata: ${JSON.stringify({ usage, model: 'gpt-6-luna', finish_reason })}\n\ndata: [DONE]\n\n`,
    )

  const long = await ended('length')
  assert.deepEqual(long.ending, { kind: 'length' })
  assert.deepEqual(long.pieces, [
    { kind: 'token', token: 'a' },
    { kind: 'usage', usage },
  ])
  assert.deepEqual((await ended('content_filter')).ending, { kind: 'withheld' })
  for (const whole of ['stop', 'tool_calls', null, undefined, 7, 'a word of tomorrow']) {
    assert.deepEqual((await ended(whole)).ending, { kind: 'complete' }, String(whole))
  }
})

test('a finish reason does not complete a cut answer', async () => {
  const { ending } = await read(
    'data: {"token":"a"}\n\nevent: usage\ndata: {"usage":null,"finish_reason":"length"}\n\n',
  )
  assert.deepEqual(ending, { kind: 'cut' })
})

test('leaving the page and stopping are different endings', async () => {
  const body = () =>
    new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('aborted')) })
  assert.deepEqual(await readStream(body(), () => undefined, AbortSignal.abort(LEFT)), {
    kind: 'left',
  })
  assert.deepEqual(await readStream(body(), () => undefined, AbortSignal.abort()), {
    kind: 'stopped',
  })
})

test('a lost connection keeps the received text, and differs from a stop', async () => {
  const broken = () =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        if (this.sent) controller.error(new Error('reset'))
        else controller.enqueue(new TextEncoder().encode('data: {"token":"a"}\n\n'))
        this.sent = true
      },
    } as UnderlyingDefaultSource<Uint8Array> & { sent?: boolean })

  const pieces: StreamEvent[] = []
  assert.deepEqual(await readStream(broken(), (piece) => pieces.push(piece)), { kind: 'cut' })
  assert.deepEqual(pieces, [{ kind: 'token', token: 'a' }])
  assert.deepEqual(await readStream(broken(), () => undefined, AbortSignal.abort()), {
    kind: 'stopped',
  })
})

test('the text does not depend on how the bytes are split', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'binary', minLength: 1 }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 }),
      async (tokens, sizes) => {
        const text = `${tokens.map((token) => `data: ${JSON.stringify({ token })}\r\n\r\n`).join('')}data: [DONE]\r\n\r\n`
        const { pieces, ending } = await read(text, sizes)
        assert.equal(
          pieces.map((piece) => (piece.kind === 'token' ? piece.token : '')).join(''),
          tokens.join(''),
        )
        assert.deepEqual(ending, { kind: 'complete' })
      },
    ),
  )
})

async function read(text: string, sizes: number[] = [1 << 20]) {
  const bytes = new TextEncoder().encode(text)
  let at = 0
  let n = 0
  const pieces: StreamEvent[] = []
  const ending = await readStream(
    new ReadableStream({
      pull(controller) {
        if (at >= bytes.length) return controller.close()
        const size = sizes[n++ % sizes.length] ?? 1
        controller.enqueue(bytes.slice(at, at + size))
        at += size
      },
    }),
    (piece) => pieces.push(piece),
  )
  return { pieces, ending }
}
