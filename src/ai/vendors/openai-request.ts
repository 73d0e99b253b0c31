// Adapts the parameters of a chat request to one model of OpenAI's dialect: drops or renames what
// the model or server would reject. Only known members are sent, unless the operator configures a
// vendor that accepts all. The trap: some servers select other models, paid searches or whole
// bodies by members of other names; those are rejected.

import { createHash } from 'node:crypto'
import type { OpenAiQuirks } from '#models/catalogue.ts'
import { asObject } from '#platform/json.ts'
import { listWords, wordSet } from '#platform/words.ts'
import {
  type ChatMessage,
  type ChatRequest,
  type ContentPart,
  describeLength,
} from './chat-request.ts'
import { joinReasoningText, type ReasoningDetail } from './reasoning.ts'
import { createRefusal } from './vendor-error.ts'

export function buildAdaptedBody(
  model: string,
  quirks: OpenAiQuirks,
  request: ChatRequest,
  stream: boolean,
  isSandbox: boolean,
): Record<string, unknown> {
  // Built member by member, because serializing an object after `delete` is slower.
  const body: Record<string, unknown> = { model, stream }
  for (const name in request) if (isSent(name, quirks)) body[name] = request[name]
  // The last chunk has the usage (`choices: []`), which the ledger needs even if not requested.
  if (stream && quirks.streamUsage === 'on-request') body.stream_options = { include_usage: true }
  const limit = request.max_completion_tokens ?? request.max_tokens
  if (limit != null) body[quirks.lengthName] = limit

  if (quirks.foreignMembers !== 'taken')
    removeForeignMembers(body, request, quirks.foreignMembers === 'refused')
  const { safetyIdentifier } = request.wishes ?? {}
  // Lets OpenAI act on one abuser instead of the whole account.
  if (safetyIdentifier !== undefined && quirks.foreignMembers === 'openai')
    body.safety_identifier = safetyIdentifier
  if (quirks.earlierReasoning === 'reasoning_content')
    body.messages = keepReasoningContent(body.messages as ChatMessage[], request)
  if (quirks.toolIds === 'nine-characters')
    body.messages = (body.messages as ChatMessage[]).map(shortenIds)
  if (!isSandbox) adaptSampling(quirks, request, body)
  for (const name of quirks.refuses) delete body[name]
  for (const name in quirks.adds) if (body[name] === undefined) body[name] = quirks.adds[name]
  return body
}

/** The gateway's own members, and members that are renamed per model. */
const GATEWAY_MEMBERS = wordSet('wishes max_tokens max_completion_tokens stream_options')

/** @throws VendorError for a member whose price is unknown */
function isSent(name: string, { passes, refuses, unknownMembers }: OpenAiQuirks): boolean {
  if (GATEWAY_MEMBERS.has(name) || refuses.includes(name)) return false
  if (MEMBERS.has(name) || passes.includes(name)) return true
  // Servers written in Go match names in any case, and the last one counts.
  const plain = name.normalize('NFKC').toLowerCase()
  const isOurs =
    GATEWAY_MEMBERS.has(plain) || MEMBERS.has(plain) || plain === 'model' || plain === 'stream'
  if (unknownMembers !== 'refused' && !BILLED_APART.has(plain))
    return unknownMembers === 'taken' && !isOurs
  throw createRefusal(
    `'${name.slice(0, 100)}' may be billed separately by this model's vendor, or select another model: omit it, or have the operator allow it`,
    name.slice(0, 100),
  )
}

/** Members that only change the answer, or that have a price here. */
const MEMBERS = wordSet(
  'messages tools tool_choice parallel_tool_calls functions function_call response_format n',
  'stop seed temperature top_p logit_bias frequency_penalty presence_penalty logprobs',
  'top_logprobs modalities audio prediction reasoning_effort verbosity web_search_options',
  'service_tier store metadata user safety_identifier prompt_cache_key prompt_cache_retention',
  'prompt_cache_options',
  // The gateway's own, for other dialects and servers.
  'cache_control include_reasoning reasoning',
  // For servers other than OpenAI: sampling and visible reasoning.
  'top_k min_p top_a typical_p repetition_penalty length_penalty min_tokens ignore_eos',
  'random_seed safe_prompt prompt_mode reasoning_format thinking enable_thinking think',
  'thinking_budget chat_template_kwargs structured_outputs guided_json guided_regex',
  'guided_choice guided_grammar stop_token_ids skip_special_tokens format keep_alive',
)

/** Members that some server bills separately, or that select other models, bodies or addresses. */
const BILLED_APART = wordSet(
  // OpenRouter's.
  'models route provider plugins preset',
  // Searches and tools that a server runs: xAI, DashScope, Groq, Perplexity.
  'search_parameters deferred enable_search search_options forced_search web_search',
  'compound_custom search_settings enable_code_interpreter mcp_servers container',
  // More answers than `n` counts, in vLLM.
  'best_of use_beam_search speed inference_geo data_sources kv_transfer_params vllm_xargs',
  // Other gateways, including LiteLLM.
  'extra_body extra_headers extra_query headers fallbacks context_window_fallbacks guardrails',
  'api_key api_base api_version base_url custom_llm_provider model_list deployment_id targets',
  'provideroptions user_config',
  // Other names for the length, which would exceed the reservation: llama.cpp, TGI.
  'n_predict max_new_tokens max_output_tokens n_cmpl best_of_n',
  // Other weights and addresses: SGLang, llama.cpp, MLX.
  'bootstrap_host bootstrap_port lora lora_path adapters draft_model custom_logit_processor',
  'logits_processors',
)

/** DeepSeek requires reasoning, even empty, in every call with tools, and rejects it without. */
function keepReasoningContent(
  messages: ChatMessage[],
  { messages: original, tools }: ChatRequest,
): ChatMessage[] {
  const usesTools = (tools?.length ?? 0) > 0 || original.some(({ role }) => role === 'tool')
  return messages.map((message, index) => {
    if (message.role !== 'assistant') return message
    const own = omit(message, 'reasoning_content', 'reasoning', 'reasoning_details')
    const reasoningText = usesTools ? readReasoningText(original[index]) : null
    if (reasoningText === null && !(usesTools && own.tool_calls?.length)) return own
    return { ...own, reasoning_content: reasoningText ?? '' }
  })
}

function readReasoningText(message: ChatMessage | undefined): string | null {
  if (typeof message?.reasoning_content === 'string') return message.reasoning_content
  if (typeof message?.reasoning === 'string') return message.reasoning
  return Array.isArray(message?.reasoning_details)
    ? joinReasoningText(
        message.reasoning_details.filter(
          (detail) => asObject(detail) !== null,
        ) as ReasoningDetail[],
      )
    : null
}

/** Only OpenAI's. Servers that reject them get `verbosity` in words; others change no answer. */
const OPENAI_MEMBERS = listWords(
  'store metadata service_tier safety_identifier user prediction verbosity',
  'prompt_cache_key prompt_cache_retention prompt_cache_options',
)
/** Members of OpenAI's answers and names of speakers; clients send messages back unchanged. */
const OPENAI_MESSAGE_MEMBERS = ['name', 'refusal', 'annotations', 'audio'] as const

/**
 * Removes members that OpenAI's own server rejects: marks for Anthropic's cache, and the reasoning
 * of earlier answers.
 * Other servers know or ignore them; strict ones also reject members that only OpenAI knows.
 */
function removeForeignMembers(
  body: Record<string, unknown>,
  request: ChatRequest,
  isStrict: boolean,
): void {
  const { messages, tools } = request
  // OpenAI rejects `metadata` without `store`; then only the ledger uses it.
  if (body.store !== true) delete body.metadata
  delete body.cache_control
  delete body.include_reasoning
  delete body.reasoning
  if (isStrict) for (const name of OPENAI_MEMBERS) delete body[name]
  const own = messages.map(removeForeignParts)
  body.messages = isStrict ? addSystemText(own.map(toCommonMessage), describeLength(request)) : own
  if (tools) {
    body.tools = tools.map((tool) => {
      const own = omit(tool, 'cache_control')
      return own.function == null ? own : { ...own, function: omit(own.function, 'cache_control') }
    })
  }
}

function removeForeignParts(message: ChatMessage): ChatMessage {
  const own = omit(message, 'reasoning_details', 'reasoning_content', 'reasoning', 'cache_control')
  const hasForeignParts =
    Array.isArray(own.content) && own.content.some((part) => part.cache_control !== undefined)
  const hasForeignCalls = own.tool_calls?.some((call) => call.extra_content !== undefined)
  if (!hasForeignParts && !hasForeignCalls) return own
  return {
    ...own,
    ...(hasForeignParts && Array.isArray(own.content)
      ? { content: own.content.map((part) => omit(part, 'cache_control')) }
      : {}),
    ...(hasForeignCalls
      ? { tool_calls: own.tool_calls?.map((call) => omit(call, 'extra_content')) ?? null }
      : {}),
  }
}

/** Reduces a message to the form that every server of this dialect accepts. */
function toCommonMessage(message: ChatMessage): ChatMessage {
  const { role, content } = message
  // A tool result may need the tool's name.
  const own = role === 'tool' ? message : omit(message, ...OPENAI_MESSAGE_MEMBERS)
  const refused = (message as { refusal?: unknown }).refusal
  const visible = content == null && typeof refused === 'string' ? refused : content
  return {
    ...own,
    role: role === 'developer' ? 'system' : role,
    ...(visible === undefined
      ? {}
      : { content: Array.isArray(visible) ? visible.map(toCommonPart) : visible }),
  }
}

/** Extends the first system message, since some servers accept only one. */
function addSystemText(messages: ChatMessage[], text: string | null): ChatMessage[] {
  if (text === null) return messages
  const at = messages.findIndex(({ role }) => role === 'system')
  const { content = null } = messages[at] ?? {}
  if (at === -1) return [{ role: 'system', content: text }, ...messages]
  const longer =
    typeof content === 'string'
      ? `${content}\n\n${text}`
      : [...(content ?? []), { type: 'text', text }]
  return messages.with(at, { ...messages[at], role: 'system', content: longer })
}

function toCommonPart(part: ContentPart): ContentPart {
  if (part.type === 'refusal') return { type: 'text', text: String(part.refusal ?? '') }
  return omit(part, 'prompt_cache_breakpoint')
}

/** Renames the ids of a call and its result alike; a valid id stays. */
function shortenIds(message: ChatMessage): ChatMessage {
  const { tool_calls: calls, tool_call_id: id } = message
  return {
    ...message,
    ...(calls ? { tool_calls: calls.map((call) => ({ ...call, id: shortenId(call.id) })) } : {}),
    ...(id ? { tool_call_id: shortenId(id) } : {}),
  }
}

function shortenId(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id)
    ? id
    : createHash('sha256').update(id).digest('hex').slice(0, 9)
}

function omit<T extends object>(from: T, ...names: string[]): T {
  if (!names.some((name) => name in from)) return from
  return Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name))) as T
}

/** Rejected by reasoning models at any effort. */
const REFUSED_BY_THINKERS = ['stop', 'logit_bias'] as const
/** Rejected while a model reasons. */
const REFUSED_WHILE_THINKING = listWords(
  'temperature top_p presence_penalty frequency_penalty logprobs top_logprobs',
)

/**
 * Reasoning models reject sampling parameters; models since GPT-5.1 accept them with reasoning off.
 * Our own routes promise a temperature and short answers, so they turn reasoning off where
 * possible.
 * Callers that control the effort keep the reasoning, and lose the parameters that the model
 * rejects.
 */
function adaptSampling(
  { temperature }: OpenAiQuirks,
  request: ChatRequest,
  body: Record<string, unknown>,
) {
  if (temperature === 'taken') return
  for (const name of REFUSED_BY_THINKERS) delete body[name]
  const wantsSampling = request.temperature != null || request.top_p != null
  if (temperature === 'without-reasoning') {
    if (request.wishes?.keepsEffort !== true && request.reasoning_effort == null && wantsSampling)
      body.reasoning_effort = 'none'
    if (body.reasoning_effort === 'none') return
  }
  for (const name of REFUSED_WHILE_THINKING) delete body[name]
}
