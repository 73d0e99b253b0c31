// The sandbox's model vendors: OpenAI, Anthropic and Gemini, each with its wire format, over one
// extractive model. `tokens` counts the tokens of prompts and answers.
import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '#platform/clock.ts'
import { html } from '#platform/http/html.ts'
import type { Message } from './extract.ts'
import { anthropicRoutes } from './model-anthropic.ts'
import { type Embed, embedded, reranked } from './model-embeddings.ts'
import { geminiRoutes } from './model-gemini.ts'
import {
  asArray,
  asObject,
  type Json,
  readLimit,
  readStops,
  readText,
  textOr,
} from './model-json.ts'
import { type ModelReply, type Wish, writeReply } from './model-reply.ts'
import { responsesRoutes } from './model-responses.ts'
import { paced, streamEvents } from './model-stream.ts'
import { show } from './page.ts'
import { OPEN } from './route.ts'

export const SANDBOX_MODELS = ['gpt-sandbox', 'gpt-sandbox-mini'] as const

const BODY_BYTES_MAX = 32 * 1024 * 1024

export type ModelNeeds = { clock: Clock; embed: Embed }

export function modelRoutes(app: FastifyInstance, needs: ModelNeeds): void {
  openaiRoutes(app, needs)
  responsesRoutes(app, needs, { requireKey, requireModel, refuse })
  anthropicRoutes(app)
  geminiRoutes(app, needs)
}

function openaiRoutes(app: FastifyInstance, { clock, embed }: ModelNeeds): void {
  app.get('/openai', OPEN, (_request, reply) => showModel(reply))

  app.get('/openai/v1/models', OPEN, () => ({
    object: 'list',
    data: SANDBOX_MODELS.map((id) => ({
      id,
      object: 'model',
      created: 1_760_000_000,
      owned_by: 'sandbox',
    })),
  }))

  app.get<{ Params: { id: string } }>('/openai/v1/models/:id', OPEN, (request, reply) => {
    const { id } = request.params
    if (!SANDBOX_MODELS.some((known) => known === id))
      return refuse(reply, 404, `The model '${id}' does not exist`, 'model_not_found', 'model')
    return { id, object: 'model', created: 1_760_000_000, owned_by: 'sandbox' }
  })

  app.post(
    '/openai/v1/chat/completions',
    { ...OPEN, bodyLimit: BODY_BYTES_MAX },
    async (request, reply) => {
      if (!requireKey(request, reply)) return reply
      const body = asObject(request.body)
      if (asArray(body.messages).length === 0)
        return refuse(
          reply,
          400,
          "Missing required parameter: 'messages'.",
          'missing_required_parameter',
          'messages',
        )
      if (!requireModel(body, reply)) return reply

      const answer = writeReply(readWish(body))
      const head = {
        id: `chatcmpl-${randomBytes(12).toString('hex')}`,
        created: Math.floor(clock.ms() / 1000),
        model: body.model,
        system_fingerprint: 'fp_sandbox',
      }
      if (body.stream === true) return stream(reply, body, head, answer)
      const message = {
        role: 'assistant',
        content: answer.call === null ? answer.pieces.join('') : null,
        refusal: null,
        ...(answer.call === null ? {} : { tool_calls: [toolCall(answer.call)] }),
      }
      return {
        ...head,
        object: 'chat.completion',
        choices: [{ index: 0, message, logprobs: null, finish_reason: toFinishReason(answer) }],
        usage: toUsage(answer),
      }
    },
  )

  app.post('/openai/v1/rerank', { ...OPEN, bodyLimit: BODY_BYTES_MAX }, async (request, reply) => {
    if (!requireKey(request, reply)) return reply
    const body = asObject(request.body)
    if (!requireModel(body, reply)) return reply
    const documents = readInputs(body.documents)
    if (typeof body.query !== 'string' || documents === null)
      return refuse(reply, 400, "'query' and 'documents' are required.", null, 'documents')
    return { model: body.model, ...(await reranked(embed, body.query, documents)) }
  })

  app.post(
    '/openai/v1/embeddings',
    { ...OPEN, bodyLimit: BODY_BYTES_MAX },
    async (request, reply) => {
      if (!requireKey(request, reply)) return reply
      const body = asObject(request.body)
      if (!requireModel(body, reply)) return reply
      const { model, input } = body
      if (!/embed/.test(String(model)))
        return refuse(
          reply,
          404,
          `The model '${model}' does not exist or has no embeddings`,
          'model_not_found',
          null,
        )
      const inputs = readInputs(input)
      if (inputs === null) return refuse(reply, 400, "'$.input' is invalid.", null, 'input')

      const { vectors, tokens } = await embedded(embed, String(model), inputs, body.dimensions)
      return {
        object: 'list',
        data: vectors.map((vector, index) => ({
          object: 'embedding',
          index,
          embedding:
            body.encoding_format === 'base64'
              ? Buffer.from(Float32Array.from(vector).buffer).toString('base64')
              : vector,
        })),
        model,
        usage: { prompt_tokens: tokens, total_tokens: tokens },
      }
    },
  )
}

/** Parses one or many texts, or their tokens. Token numbers are used as text. */
function readInputs(input: unknown): string[] | null {
  const many =
    typeof input === 'string' || (Array.isArray(input) && typeof input[0] === 'number')
      ? [input]
      : input
  if (!Array.isArray(many) || many.length === 0) return null
  return many.map((one) => (Array.isArray(one) ? one.join(' ') : String(one)))
}

function readWish(wanted: Json): Wish {
  const messages = asArray(wanted.messages)
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const since = messages.slice(last + 1)
  const format = asObject(wanted.response_format)
  const choice = asObject(
    asObject(wanted.tool_choice).function ?? asObject(wanted.tool_choice).custom,
  )
  return {
    messages: messages.map(readMessage),
    tools: asArray(wanted.tools).flatMap(({ function: given }) => {
      const { name, parameters } = asObject(given)
      return typeof name === 'string' ? [{ name, schema: parameters ?? {} }] : []
    }),
    choice:
      typeof choice.name === 'string' ? { name: choice.name } : readToolChoice(wanted.tool_choice),
    called: since.flatMap(({ tool_calls }) =>
      asArray(tool_calls).map((call) => textOr(asObject(call.function).name, '')),
    ),
    result: messages.at(-1)?.role === 'tool' ? readText(messages.at(-1)?.content) : null,
    schema:
      format.type === 'json_schema'
        ? (asObject(format.json_schema).schema ?? {})
        : format.type === 'json_object'
          ? {}
          : null,
    limit: readLimit(wanted.max_completion_tokens ?? wanted.max_tokens),
    stop: readStops(wanted.stop),
  }
}

function readToolChoice(choice: unknown): Wish['choice'] {
  return choice === 'none' || choice === 'required' ? choice : 'auto'
}

/** Content is a string or a list of parts; only text parts are read. */
function readMessage({ role, content }: Json): Message {
  return {
    role: role === 'developer' ? 'system' : textOr(role, 'user'),
    content: readText(content),
  }
}

function toolCall({ id, name, args }: NonNullable<ModelReply['call']>) {
  return { id: `call_${id}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }
}

function toFinishReason({ finish }: ModelReply): string {
  return finish === 'stop_sequence' ? 'stop' : finish
}

function toUsage({ promptTokens, completionTokens }: ModelReply) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
}

function stream(
  reply: FastifyReply,
  wanted: Json,
  head: object,
  said: ModelReply,
): Promise<FastifyReply> {
  const withUsage = asObject(wanted.stream_options).include_usage === true
  return streamEvents(reply, async (say, signal) => {
    const chunk = (choices: object[], usage: object | null = null) =>
      say(
        `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...(withUsage ? { usage } : {}) })}\n\n`,
      )
    const choice = (delta: object, finish: string | null = null) => [
      { index: 0, delta, logprobs: null, finish_reason: finish },
    ]
    const { call } = said
    chunk(choice({ role: 'assistant', content: call === null ? '' : null, refusal: null }))
    if (call !== null) {
      const { function: named, ...start } = toolCall(call)
      chunk(
        choice({
          tool_calls: [{ index: 0, ...start, function: { name: named.name, arguments: '' } }],
        }),
      )
      for await (const part of paced(named.arguments.match(/.{1,8}/gsu) ?? [], signal)) {
        chunk(choice({ tool_calls: [{ index: 0, function: { arguments: part } }] }))
      }
    }
    for await (const content of paced(said.pieces, signal)) chunk(choice({ content }))
    chunk(choice({}, toFinishReason(said)))
    if (withUsage) chunk([], toUsage(said))
    say('data: [DONE]\n\n')
  })
}

function requireKey(request: FastifyRequest, reply: FastifyReply): boolean {
  if (/^Bearer \S+$/i.test(request.headers.authorization ?? '')) return true
  const message =
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth."
  refuse(reply, 401, message, 'invalid_api_key', null)
  return false
}

function requireModel({ model }: Json, reply: FastifyReply): boolean {
  if (typeof model === 'string' && model !== '') return true
  refuse(reply, 400, 'you must provide a model parameter', null, 'model')
  return false
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
  const main = html`<h1>Models</h1>
<p>The sandbox simulates vendors without a key, each in its own wire format: <code>openai</code>, <code>anthropic</code> and <code>gemini</code>. Their model quotes the sentences of your documents and messages that match the question, and streams them like a vendor. Its answers name the sandbox.
It calls the first tool with arguments that match the tool's schema, and answers after the tool's result. It also fills JSON schemas and embeds texts by their words.</p>
<div class="card"><h2>Try it</h2>
<pre>curl -N http://localhost:8000/sandbox/openai/v1/chat/completions \\
  -H 'authorization: Bearer any' -H 'content-type: application/json' \\
  -d '{"model":"gpt-sandbox","stream":true,"messages":[
    {"role":"system","content":"Context:\\nThe shop opens at nine. It closes at six."},
    {"role":"user","content":"When does the shop open?"}]}'</pre>
<p class="small quiet">Also <code>/sandbox/openai/v1/responses</code> and <code>/embeddings</code>, <code>/sandbox/anthropic/v1/messages</code>, and <code>/sandbox/gemini/v1beta/models/…:generateContent</code>. Any model name works.</p></div>
<div class="card"><h2>Use a real vendor</h2>
<p>Set <code>OPENAI_API_KEY</code>, <code>ANTHROPIC_API_KEY</code> or <code>GEMINI_API_KEY</code> and restart. <code>OPENAI_BASE_URL</code> accepts Ollama, vLLM or any other server with OpenAI's API.</p></div>
<p class="quiet small">A token is a word with the space before it; long words and numbers have several tokens.</p>`
  return show(reply, { title: 'Models', place: 'model', main })
}
