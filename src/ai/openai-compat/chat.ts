// Guards /v1: OpenAI's own clients work here with an API key, for all vendors, by changing their base address.
// One thing to know: what OpenAI's vendor says passes through word for word; the others are told in OpenAI's words.
import { Type } from 'typebox'
import { ofVendor } from '#models/catalogue.ts'
import { callerOf } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { clientGone } from '#platform/http/client.ts'
import { Nullable, OneOf } from '#platform/http/schema.ts'
import { invalid } from '#platform/problems.ts'
import { type Completion, type CompletionStream, complete, type Gateway, type GatewayCall, stream } from '../gateway.ts'
import { listedModels } from '../model-list.ts'
import { aiProblem } from '../problems.ts'
import { AI_BODY_BYTES_MAX } from '../routes.ts'
import { candidateFor, MODEL_NAME } from '../routing.ts'
import { type AnswerPrinter, type Printer, printAnswer } from '../stream-encoder.ts'
import { type ReasoningDetail, thoughtText } from '../vendors/reasoning.ts'
import type { ChatRequest, EmbeddingInput, Piece, Usage } from '../vendors/vendor.ts'
import { type EmbeddingNeeds, embedForDoor } from './embeddings.ts'

const tags = ['openai-compatible']
const config = { access: 'user-or-key', needs: 'ai', limit: 'ai', scope: 'ai' } as const

const Tokens = Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1, maxItems: 100_000 })

/** What the gateway itself reads is checked; the rest is the vendor's to judge. */
const ChatBody = Type.Object(
  {
    model: Type.String(MODEL_NAME),
    messages: Type.Array(
      Type.Object(
        {
          role: OneOf('system', 'developer', 'user', 'assistant', 'tool'),
          content: Type.Optional(
            Type.Union([
              Type.String(),
              Type.Null(),
              Type.Array(Type.Object({ type: Type.String() }, { additionalProperties: true })),
            ]),
          ),
          tool_calls: Type.Optional(
            Nullable(
              Type.Array(
                Type.Object(
                  {
                    id: Type.String(),
                    function: Type.Optional(
                      Type.Object({ name: Type.String(), arguments: Type.String() }, { additionalProperties: true }),
                    ),
                  },
                  { additionalProperties: true },
                ),
              ),
            ),
          ),
          tool_call_id: Type.Optional(Nullable(Type.String())),
        },
        { additionalProperties: true },
      ),
      { minItems: 1 },
    ),
    temperature: Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 2 }))),
    top_p: Type.Optional(Nullable(Type.Number({ minimum: 0, maximum: 1 }))),
    max_tokens: Type.Optional(Nullable(Type.Integer({ minimum: 1 }))),
    max_completion_tokens: Type.Optional(Nullable(Type.Integer({ minimum: 1 }))),
    n: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 128 }))),
    stream: Type.Optional(Nullable(Type.Boolean())),
    include_reasoning: Type.Optional(Nullable(Type.Boolean())),
    stream_options: Type.Optional(
      Nullable(Type.Object({ include_usage: Type.Optional(Nullable(Type.Boolean())) }, { additionalProperties: true })),
    ),
    tools: Type.Optional(
      Nullable(
        Type.Array(
          Type.Object(
            {
              type: Type.String(),
              function: Type.Optional(Type.Object({ name: Type.String() }, { additionalProperties: true })),
            },
            { additionalProperties: true },
          ),
        ),
      ),
    ),
  },
  { additionalProperties: true },
)

const Chunk = Type.Object(
  { id: Type.String(), object: Type.Literal('chat.completion.chunk') },
  {
    title: 'ChatCompletionChunk',
    additionalProperties: true,
    description: "OpenAI's chunk; a stream that breaks off ends with its `error` instead, and no `[DONE]`.",
  },
)

export function openAiDoor(app: App, gateway: Gateway, embeddingNeeds: EmbeddingNeeds) {
  app.post(
    '/v1/chat/completions',
    {
      schema: {
        operationId: 'createChatCompletion',
        tags,
        summary: "OpenAI's chat completions, for all vendors",
        body: ChatBody,
      },
      config: { ...config, events: { message: Chunk } },
      bodyLimit: AI_BODY_BYTES_MAX,
    },
    async (request, reply) => {
      const { model, stream: wantsStream, stream_options: options, ...rest } = request.body
      const caller = callerOf(request)
      const first = candidateFor(gateway.config, caller.tier, model)
      const asked: ChatRequest = {
        ...(withoutNulls(rest) as ChatRequest),
        wishes: { thoughts: rest.include_reasoning !== false, asAsked: true },
      }
      if (ofVendor(gateway.config.vendors, first.vendor).dialect !== 'openai') requireUnderstood(asked)
      const call: GatewayCall = {
        caller,
        route: '/v1/chat/completions',
        first,
        request: asked,
        signal: clientGone(reply),
      }
      if (wantsStream) {
        return printAnswer(
          request,
          reply,
          gateway,
          stream(gateway, call),
          chunkPrinter(options?.include_usage === true),
        )
      }
      const completion = await complete(gateway, call)
      reply.headers(completion.headers)
      return completion.answer.body ?? completionBody(completion)
    },
  )

  app.get(
    '/v1/models',
    {
      schema: {
        operationId: 'listOpenAiModels',
        tags,
        summary: 'The models of all configured vendors, as far as the caller’s plan has them',
      },
      config: { ...config, limit: 'general' },
    },
    async (request) => ({ object: 'list', data: modelViews(gateway, callerOf(request).tier) }),
  )

  app.get(
    '/v1/models/:model',
    {
      schema: {
        operationId: 'getOpenAiModel',
        tags,
        summary: 'One model',
        params: Type.Object({ model: Type.String() }),
      },
      config: { ...config, limit: 'general' },
    },
    async (request) => {
      const { model: id } = request.params
      const found = modelViews(gateway, callerOf(request).tier).find((one) => one.id === id)
      if (!found) throw aiProblem('model_not_listed')
      return found
    },
  )

  app.post(
    '/v1/embeddings',
    {
      schema: {
        operationId: 'createEmbeddings',
        tags,
        summary: "OpenAI's embeddings",
        body: Type.Object(
          {
            model: Type.String(MODEL_NAME),
            input: Type.Union([
              Type.String({ minLength: 1 }),
              Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 2_048 }),
              Tokens,
              Type.Array(Tokens, { minItems: 1, maxItems: 2_048 }),
            ]),
            encoding_format: Type.Optional(Nullable(OneOf('float', 'base64'))),
            dimensions: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 4_096 }))),
          },
          { additionalProperties: true },
        ),
      },
      config,
      bodyLimit: AI_BODY_BYTES_MAX,
    },
    async (request, reply) => {
      const { body } = request
      return embedForDoor(gateway, embeddingNeeds, {
        caller: callerOf(request),
        model: body.model,
        inputs: inputsOf(body.input),
        dimensions: body.dimensions ?? null,
        encoding: body.encoding_format ?? 'float',
        signal: clientGone(reply),
      })
    },
  )
}

/** What OpenAI's vendor alone understands; it judges its own tools by itself. */
function requireUnderstood({ n, tools }: ChatRequest): void {
  if ((n ?? 1) > 1) throw invalid(['body', 'n'], 'Should be 1 for this vendor')
  const other = tools?.findIndex((tool) => tool.function === undefined) ?? -1
  if (other >= 0) throw invalid(['body', 'tools', other], 'Should be a function for this vendor')
}

/** A text or its tokens, one or many. */
function inputsOf(input: string | string[] | number[] | number[][]): EmbeddingInput[] {
  if (typeof input === 'string') return [input]
  return typeof input[0] === 'number' ? [input as number[]] : (input as EmbeddingInput[])
}

/** OpenAI's clients send null for what they leave out. */
function withoutNulls(body: Record<string, unknown>): Record<string, unknown> {
  if (!Object.values(body).includes(null)) return body
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
}

/** OpenAI's four fields, and what else is known; a name that two vendors have is the one's that answers to it. */
function modelViews({ config: ai, targets }: Gateway, tier: string) {
  const listed = listedModels(ai, tier).filter(({ vendor }) => vendor.apiKey !== null)
  const names = new Map(listed.toReversed().map((model) => [model.id, model]))
  return listed
    .filter((model) => names.get(model.id) === model)
    .map(({ id, vendor, model, kind, createdSeconds, contextTokens, outputTokensMax, price, isEstimated }) => ({
      id,
      object: 'model',
      created: createdSeconds,
      owned_by: vendor.name,
      context_tokens: contextTokens,
      output_tokens_max: outputTokensMax,
      // US dollars per million tokens.
      price: isEstimated ? null : { input: price.input, output: price.output, cached: price.cached },
      capabilities: kind === 'chat' ? ofVendor(targets, vendor.name).vendor.capabilities(model) : null,
    }))
}

function completionBody({ answer, model, usage }: Completion) {
  return {
    id: newId(),
    object: 'chat.completion',
    created: nowSeconds(),
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: answer.text === '' && answer.toolCalls.length > 0 ? null : answer.text,
          refusal: null,
          ...thoughtsOf(thoughtText(answer.details), answer.details),
          ...(answer.toolCalls.length > 0 ? { tool_calls: answer.toolCalls } : {}),
        },
        logprobs: null,
        finish_reason: answer.finish,
      },
    ],
    usage: usageBody(usage),
  }
}

/** In the words of those who have thoughts: DeepSeek's, which most clients read, and OpenRouter's, which go back unchanged. */
function thoughtsOf(thought: string, details: ReasoningDetail[] | null) {
  return {
    ...(thought === '' ? {} : { reasoning_content: thought }),
    ...(details === null || details.length === 0 ? {} : { reasoning_details: details }),
  }
}

function usageBody({ prompt, completion, cached, cacheWrites, reasoning }: Usage) {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrites },
    ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  }
}

/** `chat.completion.chunk`s: the vendor's own where it has them, else made here around what it said. */
function chunkPrinter(wantsUsage: boolean): Printer {
  return {
    answer: (answer) => answerPrinter(answer, wantsUsage),
    failure: ({ message, alias: code }) =>
      `data: ${JSON.stringify({ error: { message, type: 'server_error', code, param: null } })}\n\n`,
  }
}

function answerPrinter(answer: CompletionStream, wantsUsage: boolean): AnswerPrinter {
  const head = `data: {"id":"${newId()}","object":"chat.completion.chunk","created":${nowSeconds()},"model":${JSON.stringify(answer.model)},`
  let isFirst = true

  const made = (delta: object, finish: string | null) =>
    `${head}"choices":[{"index":0,"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}]}\n\n`

  const chunkOf = ({ text, thought, details, tools, finish }: Piece): string => {
    let chunks = ''
    if (isFirst) chunks += made({ role: 'assistant', content: '' }, null)
    isFirst = false
    if (details !== null) chunks += made(thoughtsOf(thought, details), null)
    if (text !== '') chunks += made({ content: text }, null)
    if (tools !== null) {
      const calls = tools.map(({ index, id, name, arguments: args, extra_content }) => ({
        index,
        ...(id === undefined ? {} : { id, type: 'function' }),
        function: { ...(name === undefined ? {} : { name }), arguments: args },
        ...(extra_content === undefined ? {} : { extra_content }),
      }))
      chunks += made({ tool_calls: calls }, null)
    }
    if (finish !== null) chunks += made({}, finish)
    return chunks
  }

  return {
    batch(pieces) {
      let text = ''
      for (const piece of pieces) text += piece.chunk === null ? chunkOf(piece) : `data: ${piece.chunk}\n\n`
      return text
    },
    end: () => (wantsUsage ? `${head}"choices":[],"usage":${JSON.stringify(usageBody(answer.usage()))}}\n\n` : ''),
  }
}

function newId(): string {
  return `chatcmpl-${crypto.randomUUID().replaceAll('-', '')}`
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1_000)
}
