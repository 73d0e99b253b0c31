// Headers of a client's that OpenAI shall see: which beta it wants, and by which session OpenAI finds its cache again.
// Named one by one: credentials, whose account it is, cookies and what belongs to the connection stay here.
import type { IncomingHttpHeaders } from 'node:http'

const NAMES = new Set([
  'openai-beta',
  'originator',
  'session-id',
  'session_id',
  'thread-id',
  'thread_id',
  'conversation_id',
  'x-client-request-id',
  'x-openai-subagent',
])
/** Codex has new ones with every release. */
const PREFIXES = ['x-codex-', 'x-openai-internal-codex-']

export function passedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (typeof value !== 'string') continue
    if (NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix))) passed[name] = value
  }
  return passed
}
