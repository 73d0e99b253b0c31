// Finds the members of a chat request that did not reach a vendor; a header of the reply names
// them. Members that only the gateway reads, and hints that change no answer, are not named.
import { wordSet } from '#platform/words.ts'
import type { ChatRequest } from './chat-request.ts'

/** Members that the gateway reads, or that have no effect on an answer. */
const UNREPORTED = wordSet(
  'messages wishes max_tokens max_completion_tokens stream_options include_reasoning',
  'cache_control metadata user safety_identifier store prompt_cache_key',
  'prompt_cache_retention prompt_cache_options parallel_tool_calls extra_body reasoning',
)

/** Returns true for values that request the default. */
function isDefault(name: string, value: unknown): boolean {
  if (value == null || value === false) return true
  if (name === 'n') return value === 1
  if (name === 'presence_penalty' || name === 'frequency_penalty' || name === 'top_logprobs')
    return value === 0
  if (name === 'service_tier') return value === 'auto' || value === 'default'
  if (name === 'modalities') return Array.isArray(value) && value.every((one) => one === 'text')
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** `isSent` returns true when the vendor received the member, in any form. */
export function findLeftOut(request: ChatRequest, isSent: (name: string) => boolean): string[] {
  return Object.keys(request).filter(
    (name) => !UNREPORTED.has(name) && !isDefault(name, request[name]) && !isSent(name),
  )
}
