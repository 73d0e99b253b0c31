import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import {
  brotliCompressSync,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import fc from 'fast-check'
import {
  ANTHROPIC_STREAM,
  GEMINI_STREAM,
  OPENAI_STREAM,
  RESPONSES_STREAM,
  type RecordedStream,
} from '#testing/recorded-streams.ts'
import { createAnthropic } from './anthropic.ts'
import type { AnswerChunk } from './chunk.ts'
import { splitEvents } from './event-stream.ts'
import { createGemini } from './gemini.ts'
import { createOpenAi } from './openai.ts'
import type { Vendor } from './vendor.ts'
import { VendorError } from './vendor-error.ts'
import { createTarget, openWire } from './wire.ts'

const VENDORS: [string, Vendor, RecordedStream][] = [
  ['openai', createOpenAi('k'), OPENAI_STREAM],
  ['openai’s responses', createOpenAi('k'), RESPONSES_STREAM],
  ['anthropic', createAnthropic('k'), ANTHROPIC_STREAM],
  ['gemini', createGemini('k'), GEMINI_STREAM],
]

function readAll(vendor: Vendor, chunks: Buffer[]) {
  const reader = vendor.createReader()
  const pieces: AnswerChunk[] = []
  const events = splitEvents((data) => reader.read(data, pieces))
  for (const chunk of chunks) events.push(chunk)
  return { reader, ...answerOf(pieces) }
}

function answerOf(pieces: AnswerChunk[]) {
  const tools: { name: string; arguments: string }[] = []
  for (const delta of pieces.flatMap((piece) => piece.tools ?? [])) {
    tools[delta.index] ??= { name: '', arguments: '' }
    tools[delta.index]!.name += delta.name ?? ''
    tools[delta.index]!.arguments += delta.arguments
  }
  return {
    text: pieces.map((piece) => piece.text).join(''),
    thought: pieces.map((piece) => piece.reasoning).join(''),
    tools,
    finish: pieces.findLast((piece) => piece.finish)?.finish,
  }
}

for (const [name, vendor, recorded] of VENDORS) {
  test(`${name}: reads the text, reasoning, tool calls, finish reason and usage of a recorded stream`, () => {
    const { reader, text, thought, tools, finish } = readAll(vendor, [recorded.bytes])

    assert.equal(text, recorded.text)
    assert.equal(thought, recorded.reasoningText)
    assert.deepEqual(tools, recorded.tools)
    assert.equal(finish, 'tool_calls')
    assert.equal(reader.isWhole, true)
    assert.deepEqual(reader.usage, {
      prompt: recorded.prompt,
      completion: recorded.completion,
      cached: 4,
      cacheWrites: 0,
      ...(recorded.reasoning === undefined ? {} : { reasoning: recorded.reasoning }),
    })
  })

  test(`${name}: never reports a stream that is cut at any byte as complete and short`, () => {
    let wholes = 0
    for (let end = 0; end <= recorded.bytes.length; end++) {
      const { reader, text, tools } = readAll(vendor, [recorded.bytes.subarray(0, end)])
      if (!reader.isWhole) continue
      wholes++
      assert.equal(text, recorded.text, `cut after ${end} bytes`)
      assert.deepEqual(tools, recorded.tools, `cut after ${end} bytes`)
    }
    assert.ok(wholes >= 1 && wholes < recorded.bytes.length / 3)
  })

  test(`${name}: reads the same when split in two at any byte, even inside a character`, () => {
    for (let at = 0; at <= recorded.bytes.length; at++) {
      const { reader, text } = readAll(vendor, [
        recorded.bytes.subarray(0, at),
        recorded.bytes.subarray(at),
      ])
      assert.equal(text, recorded.text, `split at ${at}`)
      assert.equal(reader.isWhole, true)
    }
  })

  test(`${name}: reads the same in any chunks`, () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 300 }),
        (sizes) => {
          const chunks: Buffer[] = []
          let at = 0
          for (const size of sizes) {
            chunks.push(recorded.bytes.subarray(at, at + size))
            at += size
          }
          chunks.push(recorded.bytes.subarray(at))
          assert.equal(readAll(vendor, chunks).text, recorded.text)
        },
      ),
      { numRuns: 200 },
    )
  })

  test(`${name}: over the wire, a connection closed or reset at any tenth byte gives an error or the whole answer`, async (t) => {
    const cuts = Array.from(
      { length: Math.ceil(recorded.bytes.length / 10) + 1 },
      (_, index) => index * 10,
    )
    let plan = { cut: 0, reset: false }
    // Raw sockets: a reset must look like a network failure, and a close before the last chunk like
    // a crash.
    const server = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => {
        const body = recorded.bytes.subarray(0, plan.cut)
        socket.write(
          'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
        )
        if (body.length > 0)
          socket.write(
            Buffer.concat([
              Buffer.from(`${body.length.toString(16)}\r\n`),
              body,
              Buffer.from('\r\n'),
            ]),
          )
        if (plan.reset) setImmediate(() => socket.resetAndDestroy())
        else socket.end('0\r\n\r\n')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const wire = openWire({ connectTimeoutMs: 5_000, deadlineMs: 5_000, idleTimeoutMs: 5_000 })
    t.after(() => Promise.all([wire.close(), new Promise((resolve) => server.close(resolve))]))
    const target = createTarget(
      vendor,
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    )

    let errors = 0
    let wholes = 0
    for (const cut of [...cuts, recorded.bytes.length]) {
      plan = { cut, reset: cut % 20 === 0 && cut < recorded.bytes.length }
      const pieces: AnswerChunk[] = []
      try {
        const request = vendor.shape('m', { messages: [{ role: 'user', content: 'Hi' }] }, true)
        const stream = await wire.open(
          target,
          request,
          target.vendor.createReader(),
          new AbortController().signal,
        )
        // Every other batch is awaited.
        let batches = 0
        await stream.each((batch) => {
          pieces.push(...batch)
          return batches++ % 2 === 0 ? undefined : new Promise((resolve) => setImmediate(resolve))
        })
        assert.equal(answerOf(pieces).text, recorded.text, `cut at ${cut}`)
        assert.deepEqual(answerOf(pieces).tools, recorded.tools, `cut at ${cut}`)
        wholes++
      } catch (error) {
        assert.ok(error instanceof VendorError, `cut at ${cut}: ${error}`)
        errors++
      }
    }
    assert.ok(wholes >= 1)
    assert.ok(errors > 10)
  })
}

test('openai: does not accept [DONE] without an answer', () => {
  assert.equal(readAll(createOpenAi('k'), [Buffer.from('data: [DONE]\n\n')]).reader.isWhole, false)
})

test('openai: accepts [DONE] after text from a server without finish_reason', () => {
  const chunk = { choices: [{ index: 0, delta: { content: 'Hi' } }] }
  const { reader, text } = readAll(createOpenAi('k'), [
    Buffer.from(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`),
  ])

  assert.equal(text, 'Hi')
  assert.equal(reader.isWhole, true)
})

test('reports a failure inside a stream with its kind', () => {
  const overloaded =
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
  const broken = 'data: {"error":{"message":"The server had an error","type":"server_error"}}\n\n'
  const exhausted =
    'data: {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Quota"}}\n\n'

  const failureOf = (vendor: Vendor, text: string) => {
    try {
      readAll(vendor, [Buffer.from(text)])
    } catch (error) {
      return (error as VendorError).failure
    }
    return 'none'
  }
  assert.equal(failureOf(createAnthropic('k'), overloaded), 'limited')
  assert.equal(failureOf(createOpenAi('k'), broken), 'broken')
  assert.equal(failureOf(createGemini('k'), exhausted), 'limited')
})

/** A vendor that writes text as fast as it is read, up to 200 MB. */
async function endlessVendor(t: TestContext) {
  const line = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(1_000) } }] })}\n\n`
  let written = 0
  const server = createServer(async (_request, reply) => {
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    while (written < 200 * 1024 * 1024 && !reply.destroyed) {
      written += line.length
      if (!reply.write(line)) {
        const { promise, resolve } = Promise.withResolvers<void>()
        reply.once('drain', resolve)
        reply.once('close', resolve)
        await promise
        reply.off('drain', resolve)
        reply.off('close', resolve)
      }
    }
    reply.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const wire = openWire({ connectTimeoutMs: 5_000, deadlineMs: 5_000, idleTimeoutMs: 5_000 })
  t.after(() => Promise.all([wire.close(), new Promise((resolve) => server.close(resolve))]))
  const vendor = createOpenAi('k')
  const target = createTarget(vendor, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const caller = new AbortController()
  return {
    open: () =>
      wire.open(
        target,
        vendor.shape('m', { messages: [] }, true),
        vendor.createReader(),
        caller.signal,
      ),
    leave: () => caller.abort(),
    /** Resolves with the bytes written once writing has stopped. */
    async rests() {
      let before = -1
      while (before !== written) {
        before = written
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
      return written
    },
  }
}

test('pauses the vendor of a stream without a reader instead of filling memory', async (t) => {
  const endless = await endlessVendor(t)
  await endless.open()
  // The vendor must stop far below its 200 MB, at the capacity of sockets and 512 chunks.
  const written = await endless.rests()
  assert.ok(written < 40 * 1024 * 1024, `the vendor wrote ${written} bytes`)
  endless.leave()
})

test('pauses the vendor for a slow reader, without losing data', async (t) => {
  const endless = await endlessVendor(t)
  const stream = await endless.open()
  let free = Promise.withResolvers<void>()
  let taken = 0
  let isBusy = false
  const over = stream.each((batch) => {
    assert.equal(isBusy, false, 'a batch came while the one before was not done')
    taken += batch.length
    isBusy = true
    return free.promise.then(() => {
      isBusy = false
    })
  })
  over.catch(() => {})
  const written = await endless.rests()
  assert.ok(written < 40 * 1024 * 1024, `the vendor wrote ${written} bytes`)

  const before = taken
  free.resolve()
  free = Promise.withResolvers()
  assert.ok((await endless.rests()) >= written)
  assert.ok(taken > before, 'it goes on when there is room')
  endless.leave()
  free.resolve()
  await assert.rejects(over, { name: 'AbortError' })
})

test('ends the stream when its reader throws, and rejects with that error', async (t) => {
  const endless = await endlessVendor(t)
  const stream = await endless.open()
  await assert.rejects(
    stream.each(() => {
      throw new RangeError('no room')
    }),
    RangeError,
  )
})

const CODINGS: [string, (bytes: Buffer) => Buffer][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
  ['identity', (bytes) => bytes],
]

/** A vendor that answers every request with these bytes in portions, under these headers. */
async function packedVendor(
  t: TestContext,
  plan: { bytes: Buffer; encoding: string; status?: number },
) {
  const seen: IncomingHttpHeaders[] = []
  const server = createServer(async (request, reply) => {
    seen.push(request.headers)
    request.resume()
    reply.writeHead(plan.status ?? 200, { 'content-encoding': plan.encoding })
    for (let at = 0; at < plan.bytes.length; at += 700) {
      reply.write(plan.bytes.subarray(at, at + 700))
      await new Promise((resolve) => setImmediate(resolve))
    }
    reply.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const wire = openWire({ connectTimeoutMs: 5_000, deadlineMs: 5_000, idleTimeoutMs: 5_000 })
  t.after(() => Promise.all([wire.close(), new Promise((resolve) => server.close(resolve))]))
  const vendor = createOpenAi('k')
  const target = createTarget(vendor, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const { signal } = new AbortController()
  return {
    seen,
    send: () => wire.send(target, vendor.shape('m', { messages: [] }, false), signal),
    async stream() {
      const stream = await wire.open(
        target,
        vendor.shape('m', { messages: [] }, true),
        vendor.createReader(),
        signal,
      )
      const pieces: AnswerChunk[] = []
      let batches = 0
      await stream.each((batch) => {
        pieces.push(...batch)
        return batches++ % 2 === 0 ? undefined : new Promise((resolve) => setImmediate(resolve))
      })
      return answerOf(pieces)
    },
  }
}

test('reads compressed answers, whole and streamed, although none were requested', async (t) => {
  const body = { choices: [{ message: { content: 'Grüß Gott, 世界! '.repeat(500) } }] }
  for (const [encoding, pack] of CODINGS) {
    const plan = { bytes: pack(Buffer.from(JSON.stringify(body))), encoding }
    const packed = await packedVendor(t, plan)
    assert.deepEqual(await packed.send(), body, encoding)
    plan.bytes = pack(OPENAI_STREAM.bytes)
    assert.equal((await packed.stream()).text, OPENAI_STREAM.text, encoding)
    assert.deepEqual(
      packed.seen.map((headers) => headers['accept-encoding']),
      ['identity', 'identity'],
    )
  }
})

test('reports a compressed answer that is cut, damaged or in an unknown encoding', async (t) => {
  const whole = JSON.stringify({
    choices: [{ message: { content: 'Half an answer '.repeat(200) } }],
  })
  for (const [encoding, pack] of CODINGS.slice(0, -1)) {
    for (const damage of [
      (bytes: Buffer) => bytes.subarray(0, Math.floor(bytes.length / 2)),
      (bytes: Buffer) =>
        Buffer.from(bytes.map((byte, at) => (at > 8 && at % 5 === 0 ? byte ^ 0xff : byte))),
      () => Buffer.alloc(0),
    ]) {
      const packed = await packedVendor(t, { bytes: damage(pack(Buffer.from(whole))), encoding })
      await assert.rejects(packed.send(), VendorError, encoding)
      const cut = await packedVendor(t, { bytes: damage(pack(OPENAI_STREAM.bytes)), encoding })
      await assert.rejects(cut.stream(), VendorError, encoding)
    }
  }
  for (const encoding of ['compress', 'gzip, br', 'snappy']) {
    const packed = await packedVendor(t, { bytes: Buffer.from(whole), encoding })
    await assert.rejects(packed.send(), (error: VendorError) =>
      /encoding that is not known/.test(error.message),
    )
    await assert.rejects(packed.stream(), VendorError)
  }
})

test('reads the message of a compressed rejection', async (t) => {
  const bytes = gzipSync(
    JSON.stringify({ error: { message: 'No such thing', code: 'unsupported_value', param: 'x' } }),
  )
  const packed = await packedVendor(t, { bytes, encoding: 'gzip', status: 400 })
  for (const ask of [packed.send, packed.stream]) {
    await assert.rejects(ask(), {
      explanation: 'No such thing',
      code: 'unsupported_value',
      param: 'x',
      failure: 'refused',
    })
  }
})

test('delivers the decompressed part of a stream at once', async (t) => {
  const { createGzip } = await import('node:zlib')
  const chunk = (content: string) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`
  const heard = Promise.withResolvers<void>()
  const server = createServer(async (_request, reply) => {
    reply.writeHead(200, { 'content-encoding': 'gzip' })
    const gzip = createGzip()
    gzip.pipe(reply)
    gzip.write(chunk('one'))
    gzip.flush()
    // The rest follows only after the first word was received.
    await heard.promise
    gzip.end(`${chunk(' two')}data: [DONE]\n\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const wire = openWire({ connectTimeoutMs: 5_000, deadlineMs: 5_000, idleTimeoutMs: 5_000 })
  t.after(() => Promise.all([wire.close(), new Promise((resolve) => server.close(resolve))]))
  const vendor = createOpenAi('k')
  const target = createTarget(vendor, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const stream = await wire.open(
    target,
    vendor.shape('m', { messages: [] }, true),
    vendor.createReader(),
    new AbortController().signal,
  )
  let text = ''
  await stream.each((batch) => {
    for (const piece of batch) text += piece.text
    if (text === 'one') heard.resolve()
  })
  assert.equal(text, 'one two')
})
