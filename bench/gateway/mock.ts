// A model vendor in a process of its own: `max_tokens` (or `max_completion_tokens`) says how many tokens, `seed` how many
// milliseconds apart. Tokens are numbered, so that a reader sees what was lost or reordered.
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

/** Every event in an HTTP chunk of its own, as vendors send them. */
function framed(event: string): string {
  return `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`
}

async function streamTokens(reply: ServerResponse, tokens: number, gapMs: number) {
  const { socket } = reply
  if (!socket) return
  socket.write(
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n',
  )
  if (gapMs > 0) {
    let number = 0
    const timer = setInterval(() => {
      if (socket.destroyed) return clearInterval(timer)
      if (number < tokens) socket.write(framed(tokenEvent(number++)))
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
    for (let number = from; number < Math.min(tokens, from + BATCH); number++) text += framed(tokenEvent(number))
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
      const asked = JSON.parse(body) as {
        stream?: boolean
        max_tokens?: number
        max_completion_tokens?: number
        seed?: number
      }
      if (asked.stream) {
        void streamTokens(reply, asked.max_completion_tokens ?? asked.max_tokens ?? 100, asked.seed ?? 0)
        return
      }
      reply.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length })
      reply.end(whole)
    })
  })
  server.keepAliveTimeout = 60_000
  server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'))
}
