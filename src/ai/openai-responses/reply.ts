// OpenAI's response, as an object and as a sequence of events. OpenAI's own answers pass through
// unchanged; other vendors' are translated.
import { asObject } from '#platform/json.ts'
import type { Problem } from '#platform/problem.ts'
import type { Completion, CompletionStream } from '../chat-call.ts'
import { addCost, createPassingEncoder } from '../priced.ts'
import type { AnswerEncoder, StreamEncoder } from '../stream-encoder.ts'
import type { AnswerChunk, FinishReason } from '../vendors/chunk.ts'
import { newId } from '../vendors/new-id.ts'
import { interleave } from '../vendors/reasoning.ts'
import type { Answer, Usage } from '../vendors/vendor.ts'
import type { ResponsesBody } from './body.ts'
import { createItems } from './items.ts'
import type { Tools } from './tools.ts'

type Json = Record<string, unknown>

/** Facts about the request; `tools` translates the request on first use. */
export type ResponseNeeds = { body: ResponsesBody; tools(): Tools; nowMs(): number }

export function buildResponseBody(
  needs: ResponseNeeds,
  { answer, model, usage, costUsd, isNative }: Completion,
): Json {
  if (isNative && answer.body !== null) return addCost(answer.body, costUsd)
  const id = newId('')
  const ignore = () => {}
  const items = createItems(id, needs.tools(), ignore, ignore)
  for (const chunk of toChunks(answer)) items.add(chunk)
  items.end(answer.finish)
  return {
    ...buildResponseHead(needs, id, model),
    ...buildResponseEnd(needs, answer.finish),
    output: items.output(),
    usage: buildUsageBody(usage, costUsd),
  }
}

/** Splits a whole answer into chunks: reasoning in its place, text, calls. */
function toChunks({ text, toolCalls, details }: Answer): AnswerChunk[] {
  const empty: AnswerChunk = {
    text: '',
    reasoning: '',
    details: null,
    tools: null,
    finish: null,
    event: null,
  }
  const textChunks = text === '' ? [] : [{ ...empty, text }]
  const callChunks = toolCalls.map(
    ({ id, function: { name, arguments: args }, extra_content }, index): AnswerChunk => ({
      ...empty,
      tools: [
        {
          index,
          id,
          name,
          arguments: args,
          ...(extra_content === undefined ? {} : { extra_content }),
        },
      ],
    }),
  )
  const reasoningChunks = details.map((detail) => ({
    index: typeof detail.index === 'number' ? detail.index : 0,
    item: { ...empty, details: [detail] },
  }))
  return interleave(reasoningChunks, [...textChunks, ...callChunks])
}

export function createResponseEncoder(needs: ResponseNeeds): StreamEncoder {
  const id = newId('')
  /** The number of the next event. */
  let number = 0
  let model = needs.body.model
  /** The latest events of OpenAI that were sent. */
  let lastEvents = ''

  return {
    endsWithDone: false,
    answer(answer) {
      model = answer.model
      if (answer.isNative) {
        const { batch, end } = createPassingEncoder(answer)
        return {
          batch(chunks) {
            const text = batch(chunks)
            if (text !== '') lastEvents = text
            return text
          },
          end,
        }
      }
      return createEventEncoder(needs, id, answer, () => number++)
    },
    failure(problem) {
      if (lastEvents !== '') number = readNextNumber(lastEvents)
      const response = {
        ...buildResponseHead(needs, id, model),
        ...buildFailure(problem),
        output: [],
        usage: null,
      }
      const { message, alias: code } = problem
      const error = { type: 'server_error', code, message, param: null }
      return (
        buildEvent('response.failed', { response }, number++) +
        // OpenAI's clients raise an event with `error`; other clients read `code`.
        buildEvent('error', { code, message, param: null, error }, number++)
      )
    },
  }
}

const SEQUENCE_NUMBER = '"sequence_number":'

/** Inside a text, its quotes would be escaped. */
function readNextNumber(events: string): number {
  const at = events.lastIndexOf(SEQUENCE_NUMBER)
  return at === -1 ? 0 : Number.parseInt(events.slice(at + SEQUENCE_NUMBER.length), 10) + 1
}

function createEventEncoder(
  needs: ResponseNeeds,
  id: string,
  answer: CompletionStream,
  next: () => number,
): AnswerEncoder {
  const head = buildResponseHead(needs, id, answer.model)
  let text = ''
  let isBegun = false
  const emit = (type: string, data: Json) => {
    text += buildEvent(type, data, next())
  }
  const items = createItems(id, needs.tools(), emit, (start, words) => {
    text += `event: response.output_text.delta\ndata: ${start},"delta":${JSON.stringify(words)},"logprobs":[],"sequence_number":${next()}}\n\n`
  })
  const flush = () => {
    const events = text
    text = ''
    return events
  }
  const begin = () => {
    isBegun = true
    const response = { ...head, status: 'in_progress', output: [], usage: null }
    emit('response.created', { response })
    emit('response.in_progress', { response })
  }
  return {
    batch(chunks) {
      if (!isBegun) begin()
      for (const chunk of chunks) items.add(chunk)
      return flush()
    },
    end() {
      const finish = answer.finish()
      if (!isBegun) begin()
      items.end(finish)
      const end = buildResponseEnd(needs, finish)
      const response = {
        ...head,
        ...end,
        output: items.output(),
        usage: buildUsageBody(answer.usage(), answer.costUsd()),
      }
      emit(`response.${end.status}`, { response })
      return flush()
    },
  }
}

function buildEvent(type: string, data: Json, number: number): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data, sequence_number: number })}\n\n`
}

/** Repeats the request's members; Open Responses requires each of them with these types. */
function buildResponseHead({ body, nowMs }: ResponseNeeds, id: string, model: string): Json {
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: toSeconds(nowMs()),
    completed_at: null,
    model,
    status: 'in_progress',
    background: false,
    error: null,
    frequency_penalty: body.frequency_penalty ?? 0,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    presence_penalty: body.presence_penalty ?? 0,
    previous_response_id: null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    reasoning: { effort: null, summary: null, ...body.reasoning },
    safety_identifier: body.safety_identifier ?? null,
    service_tier: body.service_tier ?? 'default',
    store: false,
    temperature: body.temperature ?? 1,
    text: { ...body.text, format: describeFormat(body.text?.format) },
    tool_choice: body.tool_choice ?? 'auto',
    tools: (body.tools ?? []).map(describeTool),
    top_logprobs: body.top_logprobs ?? 0,
    top_p: body.top_p ?? 1,
    truncation: 'disabled',
    user: body.user ?? null,
  }
}

/** Describes a function as applied: other vendors enforce a schema only with `strict`. */
function describeTool(tool: Json): Json {
  return tool.type === 'function'
    ? { description: null, parameters: null, ...tool, strict: tool.strict === true }
    : tool
}

function describeFormat(format: unknown): Json {
  const { type = 'text', ...rest } = asObject(format) ?? {}
  return type === 'json_schema'
    ? { description: null, strict: false, ...rest, type }
    : { ...rest, type }
}

function buildResponseEnd({ nowMs }: ResponseNeeds, finish: FinishReason) {
  const reason =
    finish === 'length' ? 'max_output_tokens' : finish === 'content_filter' ? finish : null
  return {
    status: reason === null ? 'completed' : 'incomplete',
    completed_at: reason === null ? toSeconds(nowMs()) : null,
    incomplete_details: reason === null ? null : { reason },
  }
}

const toSeconds = (ms: number) => Math.floor(ms / 1_000)

function buildFailure({ message, alias: code }: Problem) {
  return { status: 'failed', error: { code, message } }
}

function buildUsageBody(
  { prompt, completion, cached, cacheWrites, reasoning }: Usage,
  costUsd: number,
) {
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrites },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: reasoning ?? 0 },
    total_tokens: prompt + completion,
    cost_usd: costUsd,
  }
}
