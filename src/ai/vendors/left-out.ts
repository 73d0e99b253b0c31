// Which members of a chat request did not reach a vendor. Their names go back in a header of the reply, so that nothing is lost in
// silence. Members that only the gateway reads, and hints that change no answer, are not named.
import type { ChatRequest } from './chat-request.ts'

/** Read here, or of no effect on an answer. */
const UNREPORTED: ReadonlySet<string> = new Set([
  ...[
    'messages',
    'wishes',
    'max_tokens',
    'max_completion_tokens',
    'stream_options',
    'include_reasoning',
    'cache_control',
  ],
  ...[
    'metadata',
    'user',
    'safety_identifier',
    'store',
    'prompt_cache_key',
    'prompt_cache_retention',
  ],
  ...['prompt_cache_options', 'parallel_tool_calls', 'extra_body', 'reasoning'],
])

/** Values that ask for what a model does anyway. */
function isDefault(name: string, value: unknown): boolean {
  if (value == null || value === false) return true
  if (name === 'n') return value === 1
  if (name === 'presence_penalty' || name === 'frequency_penalty' || name === 'top_logprobs')
    return value === 0
  if (name === 'service_tier') return value === 'auto' || value === 'default'
  if (name === 'modalities') return Array.isArray(value) && value.every((one) => one === 'text')
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** `isSent`: whether the vendor was given the member, in whichever words. */
export function findLeftOut(request: ChatRequest, isSent: (name: string) => boolean): string[] {
  return Object.keys(request).filter(
    (name) => !UNREPORTED.has(name) && !isDefault(name, request[name]) && !isSent(name),
  )
}
