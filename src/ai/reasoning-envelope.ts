// Wraps a model's reasoning into one opaque string, for APIs with a field for another vendor's:
// Anthropic's `signature`, OpenAI's `encrypted_content`. The client returns it, and each detail
// goes back to its vendor. The trap: it is neither secret nor signed, so a client can forge one.
import { asObject, parseJson } from '#platform/json.ts'
import type { ToolCall } from './vendors/chat-request.ts'
import type { ReasoningDetail } from './vendors/reasoning.ts'

export type WrappedReasoning = {
  details: ReasoningDetail[]
  /** Members that a vendor expects back with a tool call, by the call's id. */
  calls?: Record<string, NonNullable<ToolCall['extra_content']>>
}

/** No vendor's signature begins with this prefix. */
const MARK = 'latchkey.1.'
const LENGTH_MAX = 4 * 1024 * 1024

/** Appends a streamed detail; consecutive parts of one detail are joined. */
export function addDetail(details: ReasoningDetail[], next: ReasoningDetail): void {
  const last = details.at(-1)
  if (
    last?.type === 'reasoning.text' &&
    next.type === 'reasoning.text' &&
    last.index === next.index
  ) {
    last.text += next.text
    if (next.signature !== undefined) last.signature = next.signature
  } else if (
    last?.type === 'reasoning.summary' &&
    next.type === 'reasoning.summary' &&
    last.index === next.index
  ) {
    last.summary += next.summary
  } else details.push({ ...next })
}

export function wrapReasoning(reasoning: WrappedReasoning): string {
  return MARK + Buffer.from(JSON.stringify(reasoning)).toString('base64url')
}

export function isWrapped(word: unknown): word is string {
  return typeof word === 'string' && word.startsWith(MARK)
}

/** Returns null for any other text: a vendor's own signature goes back unchanged. */
export function unwrapReasoning(word: unknown): WrappedReasoning | null {
  if (!isWrapped(word) || word.length > LENGTH_MAX) return null
  try {
    const read = asObject(
      parseJson(Buffer.from(word.slice(MARK.length), 'base64url').toString('utf8')),
    )
    if (read === null || !Array.isArray(read.details)) return null
    // The content is checked when it is sent to a vendor, like a client's own.
    const calls = asObject(read.calls) as WrappedReasoning['calls'] | null
    return { details: read.details as ReasoningDetail[], ...(calls === null ? {} : { calls }) }
  } catch {
    return null
  }
}
