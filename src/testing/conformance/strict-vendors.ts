// The three vendors in one server, each as strict as the real one, at both of OpenAI's addresses.
// The prompt contains the number of the matrix cell, so that cells can run in parallel.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Events, StrictDialect } from './strict.ts'
import { anthropicMessages } from './strict-anthropic.ts'
import { geminiContent } from './strict-gemini.ts'
import { openAiChat } from './strict-openai-chat.ts'
import { openAiResponses } from './strict-openai-responses.ts'
import {
  asObject,
  type Json,
  type ReceivedRequest,
  Refused,
  type VendorAnswer,
  type VendorName,
} from './words.ts'

/** A vendor's reaction to one request that it understands. */
export type Play =
  | { says: VendorAnswer; how?: 'gzip' | 'crlf' | 'split' }
  /** Text without the vendor's end mark. */
  | { says: VendorAnswer; breaks: 'resets' | 'ends' | 'error' | 'garbage' | 'hangs' }
  | { refuses: Refusal; headers?: Record<string, string> }

export type Refusal =
  | 'our key'
  | 'rate limit'
  | 'failure'
  | 'prompt too long'
  | 'no such model'
  | 'bad request'

export type VendorCell = {
  plays: Play[]
  heard: ReceivedRequest[]
  /** The vendor's reason for rejecting a request. */
  refusals: string[]
  /** How often the vendor's client has left before the end. */
  gone: number
  onGone: () => void
}

export type StrictVendors = { url: string; cells: Map<string, VendorCell>; close(): Promise<void> }

export const CELL = /\(cell ([\w-]+)\)/

export async function startStrictVendors(): Promise<StrictVendors> {
  const cells = new Map<string, VendorCell>()
  const server = createServer((request, reply) => {
    answer(cells, request, reply).catch((error: Error) => {
      reply.destroy()
      console.error(error)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cells,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The environment in which these servers are the vendors. */
export function vendorSettings(url: string): Record<string, string> {
  return {
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: 'sk-strict',
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'sk-ant-strict',
    GEMINI_BASE_URL: url,
    GEMINI_API_KEY: 'AIza-strict',
  }
}

type Address = { vendor: VendorName; dialect: StrictDialect }

function parseAddress(path: string): Address | null {
  const [bare = ''] = path.split('?')
  if (bare.endsWith('/chat/completions')) return { vendor: 'openai', dialect: openAiChat }
  if (bare.endsWith('/responses')) return { vendor: 'openai', dialect: openAiResponses }
  if (bare.endsWith('/messages') || bare.endsWith('/messages/count_tokens'))
    return { vendor: 'anthropic', dialect: anthropicMessages }
  if (/:(generateContent|streamGenerateContent|countTokens)$/.test(bare))
    return { vendor: 'gemini', dialect: geminiContent }
  return null
}

async function answer(
  cells: Map<string, VendorCell>,
  request: IncomingMessage,
  reply: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  const path = request.url ?? ''
  const address = parseAddress(path)
  const cell = cells.get(CELL.exec(text)?.[1] ?? '')
  if (address === null || cell === undefined) {
    sendJson(reply, 404, {
      error: {
        message: `Nothing is played at ${request.method} ${path}`,
        type: 'invalid_request_error',
      },
    })
    return
  }
  const { vendor, dialect } = address
  reply.once('close', () => {
    if (reply.writableFinished) return
    cell.gone++
    cell.onGone()
  })
  try {
    const heard = dialect.hear({ body: asObject(JSON.parse(text)), headers: request.headers, path })
    heard.raw = text
    cell.heard.push(heard)
    const play = cell.plays.length > 1 ? cell.plays.shift() : cell.plays[0]
    if (play === undefined) throw new Refused('nothing to play')
    if ('refuses' in play)
      sendJson(
        reply,
        buildRefusal(vendor, play.refuses).status,
        dialect.problem(buildRefusal(vendor, play.refuses)),
        play.headers,
      )
    else await say(reply, dialect, heard, play)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    cell.refusals.push(error.message)
    sendJson(reply, error.status, dialect.problem(error))
  }
}

function buildRefusal(vendor: VendorName, refusal: Refusal): Refused {
  switch (refusal) {
    case 'our key':
      return new Refused('Incorrect API key provided.', {
        status: 401,
        code: vendor === 'openai' ? 'invalid_api_key' : 'UNAUTHENTICATED',
      })
    case 'rate limit':
      return new Refused('Rate limit reached.', {
        status: 429,
        ...(vendor === 'openai' ? { code: 'rate_limit_exceeded' } : {}),
      })
    case 'failure':
      return new Refused('Internal server error', { status: 500 })
    case 'no such model':
      return new Refused('The model does not exist.', {
        status: 404,
        ...(vendor === 'openai' ? { code: 'model_not_found' } : {}),
      })
    case 'bad request':
      return new Refused('The picture is too small.', {
        ...(vendor === 'openai' ? { code: 'invalid_image' } : {}),
      })
    case 'prompt too long':
      return new Refused(
        TOO_LONG[vendor],
        vendor === 'openai' ? { code: 'context_length_exceeded', param: 'messages' } : {},
      )
  }
}

const TOO_LONG: Record<VendorName, string> = {
  openai:
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
  anthropic: 'prompt is too long: 1204525 tokens > 1000000 maximum',
  gemini: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
}

const GARBAGE = '<html><body>502 Bad Gateway</body></html>'

async function say(
  reply: ServerResponse,
  dialect: StrictDialect,
  heard: ReceivedRequest,
  play: Extract<Play, { says: VendorAnswer }>,
): Promise<void> {
  const breaks = 'breaks' in play ? play.breaks : null
  const how = 'how' in play ? play.how : undefined
  if (!heard.isStream) {
    if (breaks === 'hangs') return
    if (breaks === 'resets') reply.socket?.resetAndDestroy()
    else if (breaks === null) sendBytes(reply, JSON.stringify(dialect.whole(play.says, heard)), how)
    else sendBytes(reply, GARBAGE, how)
    return
  }
  const isArray =
    heard.address.includes(':streamGenerateContent') && !heard.address.includes('alt=sse')
  const events = dialect.events(play.says, heard)
  const open = { 'content-type': isArray ? 'application/json' : 'text/event-stream' }
  if (breaks === null && isArray) {
    reply.writeHead(200, open).end(toJsonArray([...events.start, ...events.middle, ...events.end]))
  } else if (breaks === null) {
    await sendEvents(reply, open, events, how)
  } else {
    reply.writeHead(200, open)
    const body = isArray
      ? `${toJsonArray([...events.start, ...events.middle]).slice(0, -1)}`
      : [...events.start, ...events.middle].join('')
    reply.write(body)
    if (breaks === 'hangs') return
    // An error in the same network read as the text would be lost with it.
    await turn()
    if (breaks === 'resets') reply.socket?.resetAndDestroy()
    else if (breaks === 'ends') reply.end()
    else if (breaks === 'error') reply.end(isArray ? `,${readData(events.error)}]` : events.error)
    else reply.end(`data: ${GARBAGE}\n\n`)
  }
}

async function sendEvents(
  reply: ServerResponse,
  open: Record<string, string>,
  events: Events,
  how?: 'gzip' | 'crlf' | 'split',
) {
  const all = [...events.start, ...events.middle, ...events.end]
  if (how === 'gzip') {
    reply.writeHead(200, { ...open, 'content-encoding': 'gzip' }).end(gzipSync(all.join('')))
    return
  }
  reply.writeHead(200, open)
  if (how === 'crlf') {
    const comments = all.map((event) => `: a comment\n\n${event}`).join('')
    reply.end(comments.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n'))
  } else if (how === 'split') {
    // Odd sizes split characters, lines and names.
    const bytes = Buffer.from(all.join(''))
    for (let from = 0; from < bytes.length; from += 61) {
      reply.write(bytes.subarray(from, from + 61))
      await turn()
    }
    reply.end()
  } else {
    for (const event of all) reply.write(event)
    reply.end()
  }
}

/** Google's format of a stream without server-sent events: one growing array. */
function toJsonArray(events: string[]): string {
  return `[${events.map(readData).join('\n,\r\n')}]`
}

const readData = (event: string): string => event.replace(/^data: /, '').trim()

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

function sendBytes(reply: ServerResponse, text: string, how?: 'gzip' | 'crlf' | 'split') {
  const isGzip = how === 'gzip'
  reply.writeHead(200, {
    'content-type': 'application/json',
    ...(isGzip ? { 'content-encoding': 'gzip' } : {}),
  })
  reply.end(isGzip ? gzipSync(text) : text)
}

function sendJson(
  reply: ServerResponse,
  status: number,
  body: Json,
  headers: Record<string, string> = {},
) {
  reply.writeHead(status, { 'content-type': 'application/json', ...headers })
  reply.end(JSON.stringify(body))
}
