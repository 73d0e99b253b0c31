// A chat request in OpenAI's own wire format, because /v1 clients use it; the other dialects
// translate from it.
import { createRefusal } from './vendor-error.ts'

/**
 * Reasoning counts toward the answer's limit at every vendor. Below this limit, our own routes
 * request little reasoning, so that an answer is not cut before its first word.
 * Callers that control the effort (`keepsEffort`) get the effort that they name, or the model's
 * default.
 */
export const SHORT_ANSWER_TOKENS = 4_096

/** parts.ts reads the known types; OpenAI receives other types unchanged. */
export type ContentPart = {
  type: string
  text?: string
  image_url?: { url: string; detail?: string }
  cache_control?: CacheControl | null
  [other: string]: unknown
}

/** Anthropic's mark on the end of a prefix to cache: `{type: 'ephemeral', ttl?: '5m' | '1h'}`. */
export type CacheControl = Record<string, unknown>

export type ToolCall = {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
  /** Members that a vendor's own OpenAI-compatible API expects back with the call. */
  extra_content?: { google?: { thought_signature?: string } }
}

export type ChatMessage = {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool'
  content?: string | ContentPart[] | null
  name?: string
  tool_calls?: ToolCall[] | null
  tool_call_id?: string | null
  /** The reasoning before this message; read in reasoning.ts. */
  reasoning_details?: unknown
  /** The same as plain text, as other clients store it. */
  reasoning_content?: unknown
  reasoning?: unknown
  cache_control?: CacheControl | null
}

export type ToolDefinition = {
  type: 'function'
  function: {
    name: string
    description?: string
    parameters?: Record<string, unknown> | null
    strict?: boolean | null
    cache_control?: CacheControl | null
  }
  cache_control?: CacheControl | null
}

/** Settings of the gateway's own routes, never sent to a vendor. */
export type Wishes = {
  /** Return the reasoning, where the model makes it visible. */
  reasoning?: boolean
  /** The caller controls the effort: none is chosen, however short its answer may be. */
  keepsEffort?: boolean
  /** Identifies the end user to OpenAI. */
  safetyIdentifier?: string
}

/** OpenAI's /v1/chat/completions without `model` and `stream`, which the gateway decides. */
export type ChatRequest = {
  messages: ChatMessage[]
  temperature?: number | null
  top_p?: number | null
  max_tokens?: number | null
  max_completion_tokens?: number | null
  stop?: string | string[] | null
  tools?: ToolDefinition[]
  tool_choice?: string | { type: string; function?: { name: string } }
  parallel_tool_calls?: boolean
  response_format?: {
    type: string
    json_schema?: { name?: string; schema?: Record<string, unknown>; strict?: boolean }
  }
  reasoning_effort?: string | null
  verbosity?: string | null
  n?: number | null
  cache_control?: CacheControl | null
  wishes?: Wishes
  /** Further members pass to OpenAI unchanged; other vendors do not support them. */
  [other: string]: unknown
}

/** Says `verbosity` in words for models without it; null: the model decides. @throws VendorError */
export function describeLength({ verbosity = null }: ChatRequest): string | null {
  if (verbosity === null || verbosity === 'medium') return null
  if (verbosity === 'low') return 'Answer briefly.'
  if (verbosity === 'high') return 'Answer at length, with all details.'
  throw createRefusal("'verbosity' should be 'low', 'medium' or 'high'", 'verbosity')
}

/** Rejects members that only OpenAI supports. @throws VendorError */
export function requireTranslatable(request: ChatRequest): void {
  const {
    n,
    tools,
    tool_choice: choice,
    modalities,
    messages,
    web_search_options: search,
  } = request
  if ((n ?? 1) > 1) throw createRefusal('More than one choice is not supported by this model')
  if (tools?.some((tool) => tool.function == null))
    throw createRefusal('Tools other than functions are not supported by this model')
  if (messages.some(({ tool_calls }) => tool_calls?.some((call) => call.function == null)))
    throw createRefusal('Calls of tools other than functions are not supported by this model')
  if (typeof choice === 'object' && choice !== null && choice.function == null)
    throw createRefusal(`A tool_choice of type '${choice.type}' is not supported by this model`)
  if (request.functions != null || request.function_call != null)
    throw createRefusal(
      "'functions' and 'function_call' are not supported by this model: send 'tools' and 'tool_choice'",
    )
  if (search != null)
    throw createRefusal("A web search ('web_search_options') is not supported by this model")
  if (Array.isArray(modalities) && modalities.some((one) => one !== 'text'))
    throw createRefusal('Answers other than text are not supported by this model')
}
