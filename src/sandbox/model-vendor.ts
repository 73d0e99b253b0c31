// Guards the sandbox's model: OpenAI's chat wire format, JSON and SSE, over an extractive answer.
// One thing to know: token counts are counts of the pieces that `tokens` cuts, of the prompt's contents and of the answer.
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Clock } from '#platform/clock.ts'
import { html } from '#platform/http/html.ts'
import { answer, type Message, tokens } from './extract.ts'
import { show } from './page.ts'
import { OPEN } from './route.ts'

export const SANDBOX_MODELS = ['gpt-sandbox', 'gpt-sandbox-mini'] as const

/** A real API calls content a string, or parts of which the text ones are read. */
type Wanted = {
  model?: string
  messages?: { role?: string; content?: string | { type?: string; text?: string }[] | null }[]
  stream?: boolean
  stream_options?: { include_usage?: boolean }
  max_tokens?: number | null
  max_completion_tokens?: number | null
  stop?: string | string[] | null
}

const PAUSE_MS = 6
const TOKENS_AT_ONCE = 3

export function modelRoutes(app: FastifyInstance, { clock }: { clock: Clock }): void {
  app.get('/openai', OPEN, (_request, reply) => showModel(reply))

  app.get('/openai/v1/models', OPEN, () => ({
    object: 'list',
    data: SANDBOX_MODELS.map((id) => ({ id, object: 'model', created: 1_760_000_000, owned_by: 'sandbox' })),
  }))

  app.get<{ Params: { id: string } }>('/openai/v1/models/:id', OPEN, (request, reply) => {
    const { id } = request.params
    if (!SANDBOX_MODELS.some((known) => known === id))
      return refuse(reply, 404, `The model '${id}' does not exist`, 'model_not_found', 'model')
    return { id, object: 'model', created: 1_760_000_000, owned_by: 'sandbox' }
  })

  app.post<{ Body: Wanted }>(
    '/openai/v1/chat/completions',
    { ...OPEN, bodyLimit: 32 * 1024 * 1024 },
    async (request, reply) => {
      if (!/^Bearer \S+$/i.test(request.headers.authorization ?? '')) {
        return refuse(
          reply,
          401,
          "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth.",
          'invalid_api_key',
          null,
        )
      }
      const wanted = request.body
      const messages = messagesOf(wanted)
      if (messages.length === 0)
        return refuse(reply, 400, "Missing required parameter: 'messages'.", 'missing_required_parameter', 'messages')
      if (typeof wanted.model !== 'string' || wanted.model === '')
        return refuse(reply, 400, 'you must provide a model parameter', null, 'model')

      const said = spoken(wanted, messages)
      const head = {
        id: `chatcmpl-${randomBytes(12).toString('hex')}`,
        created: Math.floor(clock.ms() / 1000),
        model: wanted.model,
        system_fingerprint: 'fp_sandbox',
      }
      if (wanted.stream) return stream(reply, wanted, head, said)
      return {
        ...head,
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: said.pieces.join(''), refusal: null },
            logprobs: null,
            finish_reason: said.finish,
          },
        ],
        usage: said.usage,
      }
    },
  )
}

type Spoken = {
  pieces: string[]
  finish: 'stop' | 'length'
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
}

function spoken(wanted: Wanted, messages: Message[]): Spoken {
  const limit = wanted.max_completion_tokens ?? wanted.max_tokens ?? Number.POSITIVE_INFINITY
  const all = tokens(stopped(answer(messages), wanted.stop))
  const pieces = all.slice(0, limit)
  const prompt = messages.reduce((sum, message) => sum + tokens(message.content).length, 0)
  return {
    pieces,
    finish: pieces.length < all.length ? 'length' : 'stop',
    usage: { prompt_tokens: prompt, completion_tokens: pieces.length, total_tokens: prompt + pieces.length },
  }
}

function stopped(text: string, stop: Wanted['stop']): string {
  const at = [stop ?? []]
    .flat()
    .filter((one) => one !== '')
    .map((one) => text.indexOf(one))
    .filter((index) => index >= 0)
  return at.length === 0 ? text : text.slice(0, Math.min(...at))
}

async function stream(reply: FastifyReply, wanted: Wanted, head: object, said: Spoken): Promise<FastifyReply> {
  const withUsage = wanted.stream_options?.include_usage === true
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  const gone = new AbortController()
  raw.once('close', () => gone.abort())

  const chunk = (choices: object[], usage: object | null = null) =>
    raw.write(
      `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...(withUsage ? { usage } : {}) })}\n\n`,
    )
  const choice = (delta: object, finish: string | null = null) => [
    { index: 0, delta, logprobs: null, finish_reason: finish },
  ]

  try {
    chunk(choice({ role: 'assistant', content: '', refusal: null }))
    for (let index = 0; index < said.pieces.length; index += TOKENS_AT_ONCE) {
      await pause(PAUSE_MS, undefined, { signal: gone.signal })
      chunk(choice({ content: said.pieces.slice(index, index + TOKENS_AT_ONCE).join('') }))
    }
    chunk(choice({}, said.finish))
    if (withUsage) chunk([], said.usage)
    raw.end('data: [DONE]\n\n')
  } catch (error) {
    // The reader left in the middle: there is nobody to tell.
    if (!gone.signal.aborted) throw error
  }
  return reply
}

function messagesOf(wanted: Wanted): Message[] {
  if (!Array.isArray(wanted?.messages)) return []
  return wanted.messages.map(({ role = 'user', content }) => ({
    role: role === 'developer' ? 'system' : role,
    content: typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('\n'),
  }))
}

function refuse(
  reply: FastifyReply,
  status: number,
  message: string,
  code: string | null,
  param: string | null,
): FastifyReply {
  return reply.code(status).send({ error: { message, type: 'invalid_request_error', param, code } })
}

function showModel(reply: FastifyReply): FastifyReply {
  const main = html`<h1>Model</h1>
<p>While no vendor has a key, the sandbox plays <code>openai</code>: it finds the sentences of your documents and messages that fit the question, quotes them, streams them as a vendor would, and says so.</p>
<div class="card"><h2>Talk to it</h2>
<pre>curl -N http://localhost:8000/sandbox/openai/v1/chat/completions \\
  -H 'authorization: Bearer any' -H 'content-type: application/json' \\
  -d '{"model":"gpt-sandbox","stream":true,"messages":[
    {"role":"system","content":"Context:\\nThe shop opens at nine. It closes at six."},
    {"role":"user","content":"When does the shop open?"}]}'</pre></div>
<div class="card"><h2>Use a real one</h2>
<p>Set <code>OPENAI_API_KEY</code>, <code>ANTHROPIC_API_KEY</code> or <code>GEMINI_API_KEY</code> and start again. <code>OPENAI_BASE_URL</code> takes Ollama, vLLM or any other server that speaks the same language.</p></div>
<p class="quiet small">Tokens are counted as the pieces it streams: a word with the space before it, long words and numbers in several.</p>`
  return show(reply, { title: 'Model', place: 'model', main })
}
