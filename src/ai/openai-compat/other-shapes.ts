// Other request shapes that editors such as Cursor send to chat completions: a Responses body
// (`input`), tools without their inner `function`, Anthropic's tools and content blocks. All become
// an ordinary body.
import { asObject } from '#platform/json.ts'
import { invalid } from '#platform/problems.ts'
import { wordSet } from '#platform/words.ts'
import { translateMessage } from '../anthropic-messages/to-chat.ts'
import type { ResponsesBody } from '../openai-responses/body.ts'
import {
  describeTextTool,
  isTextTool,
  readTextInput,
  TEXT_INPUT,
} from '../openai-responses/tools.ts'
import { translate } from '../openai-responses/translation.ts'
import type { ChatMessage, ToolCall } from '../vendors/chat-request.ts'
import type { AnswerChunk, ToolDelta } from '../vendors/chunk.ts'
import { parseObject } from '../vendors/json.ts'
import { VendorError } from '../vendors/vendor-error.ts'

type Json = Record<string, unknown>

/** @throws Problem 400 for a recognized shape whose content a chat completion cannot express */
export function normalizeChatBody(body: unknown): unknown {
  const sent = asObject(body)
  if (sent === null) return body
  const part = sent.messages === undefined && sent.input !== undefined ? 'input' : 'messages'
  try {
    return part === 'input' ? readResponsesShape(sent) : readMixedShape(sent)
  } catch (error) {
    if (error instanceof VendorError)
      throw invalid(['body', part], error.explanation ?? error.message, 'value_error')
    throw error
  }
}

function readResponsesShape(body: Json): Json {
  const { model, stream, stream_options, max_output_tokens: limit, n, stop, seed } = body
  const { wishes: _, ...request } = translate(body as ResponsesBody).request
  return withoutUndefined({
    model,
    stream,
    stream_options,
    max_completion_tokens: limit,
    n,
    stop,
    seed,
    ...request,
  })
}

function readMixedShape(body: Json): Json {
  const tools = Array.isArray(body.tools) ? body.tools.map(readTool) : null
  const textTools = findTextTools(tools)
  const messages = Array.isArray(body.messages)
    ? body.messages.flatMap((message) => readMessage(message, textTools))
    : null
  return {
    ...body,
    ...(tools === null ? {} : { tools }),
    ...(messages === null ? {} : { messages }),
    ...(asObject(body.tool_choice) === null
      ? {}
      : { tool_choice: readChoice(body.tool_choice as Json) }),
  }
}

/** Converts a tool to the form of chat completions. Unknown types pass unchanged to the vendor. */
function readTool(value: unknown): unknown {
  const tool = asObject(value)
  if (
    tool === null ||
    tool.function !== undefined ||
    tool.custom !== undefined ||
    typeof tool.name !== 'string'
  )
    return value
  const {
    type = 'function',
    name,
    description,
    parameters,
    input_schema: schema,
    strict,
    cache_control: mark,
  } = tool
  const own = {
    name,
    ...(typeof description === 'string' ? { description } : {}),
    ...(strict === undefined ? {} : { strict }),
  }
  const outer = { type: 'function', ...(mark === undefined ? {} : { cache_control: mark }) }
  if (type === 'custom' && schema === undefined) {
    const described = describeTextTool(tool, '')
    return {
      ...outer,
      function: {
        ...own,
        ...(described === '' ? {} : { description: described }),
        parameters: TEXT_INPUT,
      },
    }
  }
  if (type !== 'function' && type !== 'custom' && type !== null) return value
  return {
    ...outer,
    function: { ...own, parameters: parameters ?? schema ?? { type: 'object', properties: {} } },
  }
}

function readChoice(choice: Json): unknown {
  const { type, name } = choice
  if (type === 'auto' || type === 'none') return type
  if (type === 'any') return 'required'
  const isNamed =
    typeof name === 'string' && (type === 'tool' || type === 'function' || type === 'custom')
  return isNamed ? { type: 'function', function: { name } } : choice
}

const ANTHROPIC_BLOCKS = wordSet(
  'tool_use tool_result thinking redacted_thinking image document search_result',
  'server_tool_use web_search_tool_result',
)

function readMessage(value: unknown, textTools: ReadonlySet<string>): unknown[] {
  const message = asObject(value)
  if (message === null) return [value]
  const { role, content } = message
  const isAnthropic =
    (role === 'user' || role === 'assistant') &&
    Array.isArray(content) &&
    content.some((part) => ANTHROPIC_BLOCKS.has(String(asObject(part)?.type)))
  const messages = isAnthropic
    ? translateMessage({ role, content } as Parameters<typeof translateMessage>[0])
    : [message]
  return messages.map((one) => wrapTextCalls(one as Json, textTools))
}

/** Clients send a text tool's input back as plain text; vendors expect JSON arguments. */
function wrapTextCalls(message: Json, textTools: ReadonlySet<string>): Json {
  const calls = (message as unknown as ChatMessage).tool_calls
  if (textTools.size === 0 || !Array.isArray(calls)) return message
  return { ...message, tool_calls: calls.map((call) => wrapTextCall(call, textTools)) }
}

function wrapTextCall(call: ToolCall, textTools: ReadonlySet<string>): ToolCall {
  const custom = asObject((call as unknown as Json).custom)
  const name = String(call.function?.name ?? custom?.name)
  const input = call.function?.arguments ?? custom?.input
  if (!textTools.has(name) || typeof input !== 'string') return call
  const args = typeof parseObject(input)?.input === 'string' ? input : JSON.stringify({ input })
  return { id: call.id, type: 'function', function: { name, arguments: args } }
}

/** Returns the names of tools that take one text; their calls carry that text instead of JSON. */
export function findTextTools(tools: readonly unknown[] | null | undefined): ReadonlySet<string> {
  const names = (tools ?? []).flatMap((tool) => {
    const own = asObject(asObject(tool)?.function)
    return own !== null && isTextTool(own) ? [String(own.name)] : []
  })
  return new Set(names)
}

/** Replaces the JSON arguments of text tools by their text. `calls` are those of a whole answer. */
export function showTextCalls<Call extends { function?: { name: string; arguments: string } }>(
  calls: readonly Call[],
  textTools: ReadonlySet<string>,
): Call[] {
  return calls.map((call) => {
    if (call.function === undefined || !textTools.has(call.function.name)) return { ...call }
    return {
      ...call,
      function: { ...call.function, arguments: readTextInput(call.function.arguments) },
    }
  })
}

/** Does the same for a stream, holding arguments until their JSON is complete at the end. */
export class TextCallStream {
  readonly #textTools: ReadonlySet<string>
  readonly #held = new Map<number, string>()

  constructor(textTools: ReadonlySet<string>) {
    this.#textTools = textTools
  }

  show(chunk: AnswerChunk): AnswerChunk {
    if (this.#textTools.size === 0 || (chunk.tools === null && chunk.finish === null)) return chunk
    const shown = (chunk.tools ?? []).flatMap((delta) => this.#show(delta))
    if (chunk.finish !== null) shown.push(...this.#release())
    const tools = shown.length === 0 ? null : shown
    return {
      ...chunk,
      tools,
      event: chunk.event === null ? null : replaceCalls(chunk.event, tools),
    }
  }

  #show(delta: ToolDelta): ToolDelta[] {
    const held = this.#held.get(delta.index)
    if (held !== undefined) {
      this.#held.set(delta.index, held + delta.arguments)
      return []
    }
    if (delta.name === undefined || !this.#textTools.has(delta.name)) return [delta]
    this.#held.set(delta.index, delta.arguments)
    return [{ ...delta, arguments: '' }]
  }

  #release(): ToolDelta[] {
    const released = [...this.#held].map(([index, args]) => ({
      index,
      arguments: readTextInput(args),
    }))
    this.#held.clear()
    return released
  }
}

function replaceCalls(chunk: string, tools: ToolDelta[] | null): string {
  const event = JSON.parse(chunk) as { choices?: { delta?: Json }[] }
  const delta = event.choices?.[0]?.delta
  if (delta === undefined) return chunk
  delete delta.tool_calls
  if (tools !== null) delta.tool_calls = tools.map(describeDelta)
  return JSON.stringify(event)
}

/** Builds a tool delta in the format of a chat completion chunk. */
export function describeDelta({
  index,
  id,
  name,
  arguments: args,
  extra_content,
}: ToolDelta): Json {
  return {
    index,
    ...(id === undefined ? {} : { id, type: 'function' }),
    function: { ...(name === undefined ? {} : { name }), arguments: args },
    ...(extra_content === undefined ? {} : { extra_content }),
  }
}

function withoutUndefined(from: Json): Json {
  return Object.fromEntries(Object.entries(from).filter(([, value]) => value != null))
}
