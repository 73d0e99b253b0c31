// A model vendor in a separate process: `max_tokens` (or `max_completion_tokens`) is the number of
// tokens, `seed` the milliseconds between them. Tokens are numbered, so that readers detect lost
// and reordered ones.
import { createServer, type ServerResponse } from 'node:http'

const whole = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-mock',
    object: 'chat.completion',
    created: 1_795_000_000,
    model: 'gpt-4.1-mini',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'A short answer of a dozen words, as a chat often gets one.',
          refusal: null,
        },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 20, completion_tokens: 13, total_tokens: 33 },
  }),
)

export function tokenEvent(number: number): string {
  return `data: {"id":"chatcmpl-mock","object":"chat.completion.chunk","created":1795000000,"model":"gpt-4.1-mini","service_tier":"default","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":" t${number}"},"logprobs":null,"finish_reason":null}]}\n\n`
}

const last =
  'data: {"id":"chatcmpl-mock","object":"chat.completion.chunk","created":1795000000,"model":"gpt-4.1-mini","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}\n\n' +
  'data: {"id":"chatcmpl-mock","object":"chat.completion.chunk","created":1795000000,"model":"gpt-4.1-mini","choices":[],"usage":{"prompt_tokens":20,"completion_tokens":100,"total_tokens":120}}\n\n' +
  'data: [DONE]\n\n'

type Events = { first: string; token(number: number): string; last: string }

const named = (data: { type: string; [name: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const responseAt = { item_id: 'msg_1', output_index: 0, content_index: 0 }
const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_795_000_000,
  model: 'gpt-6-luna',
  output: [],
}

/** By the end of the path. */
const EVENTS: Record<string, Events> = {
  '/chat/completions': { first: '', token: tokenEvent, last },
  '/v1/messages': {
    first:
      named({
        type: 'message_start',
        message: {
          id: 'msg_1',
          model: 'claude-haiku-5-5',
          content: [],
          usage: { input_tokens: 20, output_tokens: 1 },
        },
      }) +
      named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    token: (number) =>
      `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" t${number}"}}\n\n`,
    last:
      named({ type: 'content_block_stop', index: 0 }) +
      named({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { output_tokens: 100 },
      }) +
      named({ type: 'message_stop' }),
  },
  '/responses': {
    first: named({ type: 'response.created', response: { ...response, status: 'in_progress' } }),
    token: (number) =>
      `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":${number},"item_id":"msg_1","output_index":0,"content_index":0,"delta":" t${number}","logprobs":[],"obfuscation":"x"}\n\n`,
    last:
      named({ type: 'response.output_text.done', ...responseAt, text: '' }) +
      named({
        type: 'response.completed',
        response: {
          ...response,
          status: 'completed',
          usage: { input_tokens: 20, output_tokens: 100, total_tokens: 120 },
        },
      }),
  },
}

/** Puts every event in a separate HTTP chunk, as vendors do. */
function framed(event: string): string {
  return `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`
}

async function streamTokens(
  reply: ServerResponse,
  { first, token, last }: Events,
  tokens: number,
  gapMs: number,
) {
  const { socket } = reply
  if (!socket) return
  socket.write(
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n',
  )
  if (first !== '') socket.write(framed(first))
  if (gapMs > 0) {
    let number = 0
    const timer = setInterval(() => {
      if (socket.destroyed) return clearInterval(timer)
      if (number < tokens) socket.write(framed(token(number++)))
      else {
        clearInterval(timer)
        socket.end(`${framed(last)}0\r\n\r\n`)
      }
    }, gapMs)
    return
  }
  const BATCH = 40
  for (let from = 0; from < tokens && !socket.destroyed; from += BATCH) {
    let text = ''
    for (let number = from; number < Math.min(tokens, from + BATCH); number++)
      text += framed(token(number))
    if (!socket.write(text)) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          socket.off('drain', wake)
          socket.off('close', wake)
          resolve()
        }
        socket.on('drain', wake)
        socket.on('close', wake)
      })
    }
  }
  if (!socket.destroyed) socket.end(`${framed(last)}0\r\n\r\n`)
}

if (import.meta.main) {
  const server = createServer((request, reply) => {
    request.socket.setNoDelay(true)
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      const options = JSON.parse(body) as {
        stream?: boolean
        max_tokens?: number
        max_completion_tokens?: number
        max_output_tokens?: number
        seed?: number
      }
      if (options.stream) {
        const events = Object.entries(EVENTS).find(([end]) => request.url?.endsWith(end))?.[1]
        const tokens =
          options.max_output_tokens ?? options.max_completion_tokens ?? options.max_tokens ?? 100
        if (events) void streamTokens(reply, events, tokens, options.seed ?? 0)
        return
      }
      reply.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length })
      reply.end(whole)
    })
  })
  server.keepAliveTimeout = 60_000
  server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'))
}
