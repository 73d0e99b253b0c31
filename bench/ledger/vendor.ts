// A vendor with every API whose answer the prompt defines, so that callers can predict the ledger:
// `PLAY {"id": …, "kind": …, "prompt": …, "completion": …, "cached": …, "written": …}`. `GET /book`
// returns the received calls and their bills, including calls whose callers were killed.
import { createServer, type ServerResponse } from 'node:http'

export type Play = {
  id: string
  kind: Kind
  prompt: number
  completion: number
  cached: number
  written: number
  /** The duration of an answer: a whole one arrives after it; a stream pauses in its middle. */
  waitMs?: number
  /**
   * Makes the answer as long as the request allows, over all its choices, and at most `completion`.
   */
  toTheLimit?: boolean
}

/** Keyed by the call's id. */
export type Book = Record<string, BookEntry>
export type BookEntry = {
  firstAskedMs: number
  asked: number
  answered: number
  prompt: number
  completion: number
}

/** The behaviour of a call. `late`: fails once first. */
export type Kind =
  | 'well'
  | 'late'
  | 'refused'
  | 'cut'
  | 'no-end'
  | 'error-event'
  | 'garbage'
  | 'slow'

type Dialect = 'chat' | 'responses' | 'messages' | 'gemini'
type Json = Record<string, unknown>

const WORDS = ['Some', ' words', ' of', ' an', ' answer']
const tried = new Set<string>()
const book: Book = {}

const server = createServer(async (request, reply) => {
  if (request.method === 'GET') return sendJson(reply, 200, book)
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  const instruction = /PLAY (\{.*?\})/.exec(text.replaceAll('\\"', '"'))?.[1]
  const play = JSON.parse(instruction ?? 'null') as Play
  const body = JSON.parse(text) as Json
  if (play.toTheLimit)
    play.completion = Math.min(play.completion, readTokenLimit(body) * Number(body.n ?? 1))
  const entry = book[play.id] ?? {
    firstAskedMs: Date.now(),
    asked: 0,
    answered: 0,
    prompt: 0,
    completion: 0,
  }
  book[play.id] = entry
  entry.asked++
  const path = request.url ?? ''
  const dialect = path.endsWith('/messages')
    ? 'messages'
    : path.endsWith('/responses')
      ? 'responses'
      : path.includes('enerateContent')
        ? 'gemini'
        : 'chat'
  const model = body.model ?? 'gemini-3.8-flash'
  const isStream = path.includes('streamGenerate') || text.includes('"stream":true')
  if (play.kind === 'refused')
    return sendJson(reply, 400, { error: { message: 'No', type: 'invalid_request_error' } })
  if (play.kind === 'late' && !tried.has(play.id)) {
    tried.add(play.id)
    return sendJson(reply, 500, { error: { message: 'Later', type: 'server_error' } })
  }
  const answered = () =>
    Object.assign(entry, {
      answered: entry.answered + 1,
      prompt: play.prompt,
      completion: play.completion,
    })
  if (!isStream) {
    if (play.waitMs) await pause(play.waitMs)
    if (reply.destroyed) return
    answered()
    return sendJson(reply, 200, whole(dialect, String(model), play))
  }
  reply.writeHead(200, { 'content-type': 'text/event-stream' })
  const { first, words, last } = events(dialect, String(model), play)
  reply.write(first + words.slice(0, 2).join(''))
  if (play.kind === 'cut') return setTimeout(() => reply.socket?.resetAndDestroy(), 20)
  if (play.kind === 'no-end') return reply.end()
  if (play.kind === 'garbage') return reply.end('data: {"not": json\n\n')
  if (play.kind === 'error-event') {
    const error = { type: 'server_error', code: 500, status: 'INTERNAL', message: 'Oh' }
    return reply.end(`event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`)
  }
  // The client of a slow call leaves meanwhile.
  const waitMs = play.kind === 'slow' ? 3_000 : play.waitMs
  if (waitMs) await pause(waitMs)
  if (reply.destroyed) return
  answered()
  reply.end(words.slice(2).join('') + last)
})
server.listen(Number(process.argv[2]), '127.0.0.1', () => console.log('ready'))

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Reads the token limit from the field of each API. */
function readTokenLimit(body: Json): number {
  const { maxOutputTokens } = (body.generationConfig ?? {}) as Json
  return Number(
    body.max_completion_tokens ??
      body.max_output_tokens ??
      body.max_tokens ??
      maxOutputTokens ??
      Infinity,
  )
}

function sendJson(reply: ServerResponse, status: number, body: unknown): void {
  reply.writeHead(status, { 'content-type': 'application/json' })
  reply.end(JSON.stringify(body))
}

const chatUsage = ({ prompt, completion, cached, written }: Play) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
})
const responseUsage = ({ prompt, completion, cached, written }: Play) => ({
  input_tokens: prompt,
  output_tokens: completion,
  total_tokens: prompt + completion,
  input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
  output_tokens_details: { reasoning_tokens: 0 },
})
const messageUsage = ({ prompt, completion, cached, written }: Play) => ({
  input_tokens: prompt - cached - written,
  cache_read_input_tokens: cached,
  cache_creation_input_tokens: written,
  output_tokens: completion,
})
const geminiUsage = ({ prompt, completion, cached }: Play) => ({
  promptTokenCount: prompt,
  candidatesTokenCount: completion,
  cachedContentTokenCount: cached,
})

function buildResponse(model: string, play: Play, status: string) {
  const content = [{ type: 'output_text', text: WORDS.join(''), annotations: [] }]
  const output =
    status === 'completed' ? [{ type: 'message', id: 'msg_1', role: 'assistant', content }] : []
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_795_000_000,
    model,
    status,
    output,
    error: null,
    usage: status === 'completed' ? responseUsage(play) : null,
  }
}

function whole(dialect: Dialect, model: string, play: Play): unknown {
  const text = WORDS.join('')
  switch (dialect) {
    case 'chat': {
      const choice = {
        index: 0,
        message: { role: 'assistant', content: text },
        finish_reason: 'stop',
      }
      return {
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model,
        choices: [choice],
        usage: chatUsage(play),
      }
    }
    case 'responses':
      return buildResponse(model, play, 'completed')
    case 'messages': {
      const message = {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model,
        stop_reason: 'end_turn',
      }
      return { ...message, content: [{ type: 'text', text }], usage: messageUsage(play) }
    }
    case 'gemini': {
      const candidates = [{ content: { parts: [{ text }] }, finishReason: 'STOP' }]
      return { candidates, usageMetadata: geminiUsage(play), modelVersion: 'gemini-3.8-flash' }
    }
  }
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const named = (value: { type: string; [name: string]: unknown }) =>
  `event: ${value.type}\n${data(value)}`

function events(
  dialect: Dialect,
  model: string,
  play: Play,
): { first: string; words: string[]; last: string } {
  switch (dialect) {
    case 'chat': {
      const chunk = (delta: Json, finish: string | null = null) =>
        data({ id: 'c', model, choices: [{ index: 0, delta, finish_reason: finish }] })
      return {
        first: chunk({ role: 'assistant', content: '' }),
        words: WORDS.map((content) => chunk({ content })),
        last: `${chunk({}, 'stop')}${data({ id: 'c', model, choices: [], usage: chatUsage(play) })}data: [DONE]\n\n`,
      }
    }
    case 'responses':
      return {
        first: named({
          type: 'response.created',
          response: buildResponse(model, play, 'in_progress'),
        }),
        words: WORDS.map((delta) =>
          named({
            type: 'response.output_text.delta',
            item_id: 'msg_1',
            output_index: 0,
            content_index: 0,
            delta,
          }),
        ),
        last: named({
          type: 'response.completed',
          response: buildResponse(model, play, 'completed'),
        }),
      }
    case 'messages': {
      const usage = { ...messageUsage(play), output_tokens: 1 }
      const delta = (text: string) => ({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text },
      })
      return {
        first:
          named({ type: 'message_start', message: { id: 'msg_1', model, content: [], usage } }) +
          named({
            type: 'content_block_start',
            index: 0,
            content_block: { type: 'text', text: '' },
          }),
        words: WORDS.map((text) => named(delta(text))),
        last:
          named({ type: 'content_block_stop', index: 0 }) +
          named({
            type: 'message_delta',
            delta: { stop_reason: 'end_turn' },
            usage: { output_tokens: play.completion },
          }) +
          named({ type: 'message_stop' }),
      }
    }
    case 'gemini': {
      const part = (text: string, more: Json = {}) =>
        data({ candidates: [{ content: { parts: [{ text }] }, ...more }] })
      const end = {
        candidates: [{ content: { parts: [] }, finishReason: 'STOP' }],
        usageMetadata: geminiUsage(play),
      }
      return { first: '', words: WORDS.map((text) => part(text)), last: data(end) }
    }
  }
}
