// A model vendor for tests: one server that speaks all the wire formats (OpenAI's two) and fails in
// every way there is. It plays the steps that a test gives it, one a request, the last one for
// ever.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export type MockCall = {
  path: string
  headers: IncomingMessage['headers']
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies without declaring their types.
  body: any
  /** Resolves when the client has closed the connection before the answer's end. */
  gone: Promise<void>
  isGone: boolean
}

export type Step = (call: MockCall, reply: ServerResponse) => void | Promise<void>

export type MockVendor = Awaited<ReturnType<typeof mockVendor>>

export async function mockVendor(t: Pick<TestContext, 'after'>) {
  const calls: MockCall[] = []
  let steps: Step[] = [says('Hello')]
  const sockets = new Set<object>()

  const server = createServer(async (request, reply) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const gone = Promise.withResolvers<void>()
    const call: MockCall = {
      path: request.url ?? '',
      headers: request.headers,
      body: JSON.parse(Buffer.concat(chunks).toString('utf8') || 'null'),
      gone: gone.promise,
      isGone: false,
    }
    reply.once('close', () => {
      if (reply.writableFinished) return
      call.isGone = true
      gone.resolve()
    })
    calls.push(call)
    const step = steps.length > 1 ? steps.shift() : steps[0]
    await step?.(call, reply)
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    calls.length = 0
  })

  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    calls,
    get openSockets() {
      return sockets.size
    },
    /** The behaviour from now on. */
    play(...next: [Step, ...Step[]]) {
      calls.length = 0
      steps = next
    },
    /** The environment in which this server is the vendor. */
    env: {
      openai: { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'sk-test-openai-key' },
      anthropic: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'sk-ant-test-key' },
      gemini: { GEMINI_BASE_URL: url, GEMINI_API_KEY: 'AIza-test-key' },
    },
  }
}

type Dialect = 'openai' | 'responses' | 'anthropic' | 'gemini'
const USAGE = { prompt: 10, completion: 5 }

function detectDialect(call: MockCall): Dialect {
  if (call.path.endsWith('/messages')) return 'anthropic'
  if (call.path.endsWith('/responses')) return 'responses'
  return call.path.includes('enerateContent') ? 'gemini' : 'openai'
}

function wantsStream(call: MockCall): boolean {
  return call.body?.stream === true || call.path.includes('streamGenerateContent')
}

/** Answers well: whole, or a word an event, each after `gapMs`. */
export function says(
  text: string,
  { gapMs = 0, usage = USAGE }: { gapMs?: number; usage?: typeof USAGE } = {},
): Step {
  return async (call, reply) => {
    const dialect = detectDialect(call)
    if (!wantsStream(call)) {
      if (gapMs > 0) await pause(gapMs)
      sendJson(reply, 200, whole(dialect, text, usage))
      return
    }
    openEvents(reply)
    const { start, words, end } = events(dialect, text, usage)
    reply.write(start)
    for (const word of words) {
      if (gapMs > 0) await pause(gapMs)
      if (call.isGone) return
      reply.write(word)
    }
    reply.end(end)
  }
}

/**
 * Sends the head (in a stream, everything before the words), pauses, and then answers correctly.
 */
export function thinks(ms: number, text: string): Step {
  return async (call, reply) => {
    const dialect = detectDialect(call)
    const { start, words, end } = events(dialect, text, USAGE)
    const isStream = wantsStream(call)
    if (isStream) {
      openEvents(reply)
      reply.write(start)
    } else {
      reply.writeHead(200, { 'content-type': 'application/json' })
      reply.flushHeaders()
    }
    await pause(ms)
    reply.end(isStream ? words.join('') + end : JSON.stringify(whole(dialect, text, USAGE)))
  }
}

/** Accepts the request, pauses, and then runs the given step. */
export function after(ms: number, step: Step): Step {
  return async (call, reply) => {
    await pause(ms)
    if (!call.isGone) await step(call, reply)
  }
}

/** Answers well and slowly: a few bytes at a time, wherever they end. */
export function drips(text: string, gapMs: number): Step {
  return async (call, reply) => {
    const dialect = detectDialect(call)
    const { start, words, end } = events(dialect, text, USAGE)
    const isStream = wantsStream(call)
    const bytes = Buffer.from(
      isStream ? start + words.join('') + end : JSON.stringify(whole(dialect, text, USAGE)),
    )
    reply.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
    const step = Math.ceil(bytes.length / DRIPS)
    for (let from = 0; from < bytes.length && !call.isGone; from += step) {
      reply.write(bytes.subarray(from, from + step))
      await pause(gapMs)
    }
    reply.end()
  }
}

/** Streams the first words, waits for `gate`, and then streams the rest. */
export function holds(text: string, wordsBefore: number, gate: Promise<unknown>): Step {
  return async (call, reply) => {
    const { start, words, end } = events(detectDialect(call), text, USAGE)
    openEvents(reply)
    reply.write(start + words.slice(0, wordsBefore).join(''))
    await gate
    if (!call.isGone) reply.end(words.slice(wordsBefore).join('') + end)
  }
}

const DRIPS = 12

/** Answers with an error. */
export function refuses(
  status: number,
  headers: Record<string, string> = {},
  body?: unknown,
): Step {
  return (call, reply) => {
    const message = 'A failure that the test asked for'
    const error = {
      openai: { error: { message, type: 'test_error', code: null, param: null } },
      responses: { error: { message, type: 'test_error', code: null, param: null } },
      anthropic: { type: 'error', error: { type: 'test_error', message } },
      gemini: { error: { code: status, message, status: 'TEST' } },
    }[detectDialect(call)]
    sendJson(reply, status, body ?? error, headers)
  }
}

/** Accepts the request and never answers. */
export const silent: Step = () => {}

/** Sends 200 and then nothing. */
export const silentAfterHead: Step = (_call, reply) => {
  openEvents(reply)
}

/** The connection breaks before an answer. */
export const resets: Step = (_call, reply) => {
  reply.socket?.resetAndDestroy()
}

/**
 * Sends some words, then ends without the vendor's end mark. On a loaded machine the words may be
 * read with the end; a test whose caller must have them before resolves `gate` then.
 */
export function cuts(
  text: string,
  how: 'ends' | 'resets' | 'stalls' = 'ends',
  gate?: Promise<unknown>,
): Step {
  return async (call, reply) => {
    openEvents(reply)
    const { start, words } = events(detectDialect(call), text, USAGE)
    reply.write(start)
    for (const word of words) reply.write(word)
    if (how === 'stalls') return
    await (gate ?? pause(30))
    if (how === 'ends') reply.end()
    else reply.socket?.resetAndDestroy()
  }
}

/** Sends some words, then fails inside the stream. */
export function breakStream(text: string): Step {
  return (call, reply) => {
    openEvents(reply)
    const dialect = detectDialect(call)
    const { start, words } = events(dialect, text, USAGE)
    reply.write(start)
    for (const word of words) reply.write(word)
    const error = {
      type: 'overloaded_error',
      code: 503,
      status: 'UNAVAILABLE',
      message: 'Overloaded',
    }
    if (dialect === 'responses')
      reply.end(event({ type: 'error', code: 'overloaded_error', message: 'Overloaded' }))
    else reply.end(dialect === 'anthropic' ? event({ type: 'error', error }) : event({ error }))
  }
}

type ClaudeBlock = {
  type: string
  text?: string
  thinking?: string
  signature?: string
  input?: object
  [other: string]: unknown
}

/** Claude's answer with these blocks, whole or as events. */
export function claudeSays(
  content: ClaudeBlock[],
  usage: object = { input_tokens: 10, output_tokens: 5 },
): Step {
  return (call, reply) => {
    const stop = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
    const message = { model: 'claude-haiku-5-5', usage }
    if (call.body.stream !== true) {
      reply.writeHead(200, { 'content-type': 'application/json' })
      reply.end(
        JSON.stringify({
          type: 'message',
          role: 'assistant',
          ...message,
          content,
          stop_reason: stop,
        }),
      )
      return
    }
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    reply.write(event({ type: 'message_start', message }))
    for (const [index, block] of content.entries()) {
      const delta = (data: object) =>
        reply.write(event({ type: 'content_block_delta', index, delta: data }))
      const start = {
        ...block,
        ...(block.text ? { text: '' } : block.thinking ? { thinking: '', signature: '' } : {}),
      }
      reply.write(
        event({
          type: 'content_block_start',
          index,
          content_block: { ...start, ...(block.input ? { input: {} } : {}) },
        }),
      )
      if (block.type === 'text') delta({ type: 'text_delta', text: block.text })
      if (block.type === 'thinking') {
        delta({ type: 'thinking_delta', thinking: block.thinking })
        delta({ type: 'signature_delta', signature: block.signature })
      }
      if (block.type === 'tool_use' && Object.keys(block.input ?? {}).length > 0)
        for (const part of JSON.stringify(block.input).match(/.{1,4}/gs) ?? [])
          delta({ type: 'input_json_delta', partial_json: part })
      reply.write(event({ type: 'content_block_stop', index }))
    }
    reply.write(event({ type: 'message_delta', delta: { stop_reason: stop }, usage }))
    reply.end(event({ type: 'message_stop' }))
  }
}

/** A body that is not what the vendor speaks. */
export function babbles(body: string, contentType = 'application/json'): Step {
  return (call, reply) => {
    reply.writeHead(200, { 'content-type': wantsStream(call) ? 'text/event-stream' : contentType })
    reply.end(body)
  }
}

/** Any events. */
export function streams(...lines: string[]): Step {
  return (_call, reply) => {
    openEvents(reply)
    reply.end(lines.join(''))
  }
}

export function event(data: unknown): string {
  return `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

function whole(dialect: Dialect, text: string, usage: typeof USAGE): unknown {
  switch (dialect) {
    case 'openai':
      return {
        id: 'chatcmpl-mock',
        object: 'chat.completion',
        created: 1_795_000_000,
        model: 'gpt-6-luna',
        choices: [
          { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' },
        ],
        usage: {
          prompt_tokens: usage.prompt,
          completion_tokens: usage.completion,
          total_tokens: usage.prompt + usage.completion,
        },
      }
    case 'responses':
      return buildResponse(
        [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }],
        usage,
      )
    case 'anthropic':
      return {
        id: 'msg_mock',
        type: 'message',
        role: 'assistant',
        model: 'claude-haiku-5-5',
        content: [{ type: 'text', text }],
        stop_reason: 'end_turn',
        usage: { input_tokens: usage.prompt, output_tokens: usage.completion },
      }
    case 'gemini':
      return {
        candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: usage.prompt, candidatesTokenCount: usage.completion },
        modelVersion: 'gemini-3.8-flash',
      }
  }
}

/** OpenAI's response with these items; `more` replaces what stands on it. */
export function buildResponse(output: object[], usage = USAGE, more: object = {}) {
  return {
    id: 'resp_mock',
    object: 'response',
    created_at: 1_795_000_000,
    status: 'completed',
    model: 'gpt-6-luna',
    error: null,
    incomplete_details: null,
    output,
    usage: {
      input_tokens: usage.prompt,
      output_tokens: usage.completion,
      total_tokens: usage.prompt + usage.completion,
    },
    ...more,
  }
}

function events(dialect: Dialect, text: string, usage: typeof USAGE) {
  const words = text.match(/\S+\s*/g) ?? []
  switch (dialect) {
    case 'openai': {
      const chunk = (delta: object, finish: string | null = null) =>
        event({
          id: 'chatcmpl-mock',
          object: 'chat.completion.chunk',
          created: 1_795_000_000,
          model: 'gpt-6-luna',
          choices: [{ index: 0, delta, finish_reason: finish }],
        })
      const counts = { prompt_tokens: usage.prompt, completion_tokens: usage.completion }
      return {
        start: chunk({ role: 'assistant', content: '' }),
        words: words.map((content) => chunk({ content })),
        end: `${chunk({}, 'stop')}${event({ id: 'chatcmpl-mock', choices: [], usage: counts })}${event('[DONE]')}`,
      }
    }
    case 'responses': {
      const named = (type: string, data: object) => `event: ${type}\n${event({ type, ...data })}`
      const message = {
        type: 'message',
        id: 'msg_mock',
        role: 'assistant',
        content: [{ type: 'output_text', text }],
      }
      const open = buildResponse([], usage, { status: 'in_progress', usage: null })
      return {
        start:
          named('response.created', { response: open }) +
          named('response.output_item.added', {
            output_index: 0,
            item: { ...message, content: [] },
          }),
        words: words.map((delta) =>
          named('response.output_text.delta', { output_index: 0, content_index: 0, delta }),
        ),
        end:
          named('response.output_item.done', { output_index: 0, item: message }) +
          named('response.completed', { response: buildResponse([message], usage) }),
      }
    }
    case 'anthropic': {
      const named = (data: { type: string; [key: string]: unknown }) =>
        `event: ${data.type}\n${event(data)}`
      const message = {
        model: 'claude-haiku-5-5',
        usage: { input_tokens: usage.prompt, output_tokens: 1 },
      }
      return {
        start: named({ type: 'message_start', message }) + named({ type: 'ping' }),
        words: words.map((word) =>
          named({
            type: 'content_block_delta',
            index: 0,
            delta: { type: 'text_delta', text: word },
          }),
        ),
        end:
          named({
            type: 'message_delta',
            delta: { stop_reason: 'end_turn' },
            usage: { output_tokens: usage.completion },
          }) + named({ type: 'message_stop' }),
      }
    }
    case 'gemini': {
      const candidate = (part: string, more: object = {}) =>
        event({ candidates: [{ content: { role: 'model', parts: [{ text: part }] }, ...more }] })
      return {
        start: ': open\n\n',
        words: words.map((word) => candidate(word)),
        end: event({
          candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP' }],
          usageMetadata: { promptTokenCount: usage.prompt, candidatesTokenCount: usage.completion },
          modelVersion: 'gemini-3.8-flash',
        }),
      }
    }
  }
}

function openEvents(reply: ServerResponse) {
  reply.writeHead(200, { 'content-type': 'text/event-stream' })
  reply.flushHeaders()
}

function sendJson(
  reply: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  reply.writeHead(status, { 'content-type': 'application/json', ...headers })
  reply.end(typeof body === 'string' ? body : JSON.stringify(body))
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
