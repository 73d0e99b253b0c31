// A client's request in a vendor's own words, as both doors make it: which of its headers that vendor sees, and its translation
// for all others, made once. Headers are named one by one: credentials, whose account it is, cookies and what belongs to the
// connection stay here.
import type { IncomingHttpHeaders } from 'node:http'
import type { NativeApi, NativeRequest } from './vendors/vendor.ts'

const ANTHROPIC_VERSIONS = ['anthropic-version', 'anthropic-beta']
const OPENAI_VERSIONS = ['openai-beta']
/** Vendors' models answer otherwise with these; the others that go to them only say who asks. */
export const VERSION_HEADERS: readonly string[] = [...ANTHROPIC_VERSIONS, ...OPENAI_VERSIONS]

type Passed = { names: ReadonlySet<string>; prefixes: readonly string[] }

const PASSED: Record<NativeApi, Passed> = {
  messages: {
    names: new Set([...ANTHROPIC_VERSIONS, 'x-app', 'x-claude-code-session-id']),
    prefixes: [],
  },
  // Among them by which session OpenAI finds its cache again.
  responses: {
    names: new Set([
      ...OPENAI_VERSIONS,
      'originator',
      'session-id',
      'session_id',
      'thread-id',
      'thread_id',
      'conversation_id',
      'x-client-request-id',
      'x-openai-subagent',
    ]),
    // Codex has new ones with every release.
    prefixes: ['x-codex-', 'x-openai-internal-codex-'],
  },
}

/** `headers`: all of the client's. */
export function createNativeRequest(
  api: NativeApi,
  headers: IncomingHttpHeaders,
  request: Pick<NativeRequest, 'body' | 'limit' | 'translated'>,
): NativeRequest {
  const { body } = request
  const untranslated = Object.keys(body).filter(
    (name) => body[name] != null && !TRANSLATED[api].has(name),
  )
  return { api, headers: pickHeaders(headers, PASSED[api]), untranslated, ...request }
}

/** Said in a translation, read by the gateway, or a hint that changes no answer. */
const TRANSLATED: Record<NativeApi, ReadonlySet<string>> = {
  messages: new Set([
    ...[
      'model',
      'messages',
      'system',
      'tools',
      'tool_choice',
      'max_tokens',
      'stop_sequences',
      'stream',
      'metadata',
    ],
    ...[
      'temperature',
      'top_p',
      'thinking',
      'output_config',
      'output_format',
      'cache_control',
      'diagnostics',
    ],
  ]),
  responses: new Set([
    ...[
      'model',
      'input',
      'instructions',
      'tools',
      'tool_choice',
      'parallel_tool_calls',
      'max_output_tokens',
      'stream',
    ],
    ...[
      'temperature',
      'top_p',
      'reasoning',
      'text',
      'metadata',
      'client_metadata',
      'user',
      'safety_identifier',
    ],
    ...[
      'prompt_cache_key',
      'prompt_cache_retention',
      'prompt_cache_options',
      'service_tier',
      'store',
      'include',
    ],
    ...['background', 'stream_options', 'max_tool_calls'],
  ]),
}

function pickHeaders(
  headers: IncomingHttpHeaders,
  { names, prefixes }: Passed,
): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (typeof value !== 'string') continue
    if (names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))) passed[name] = value
  }
  return passed
}

/** Made when it is first asked for. */
export function once<T extends object>(make: () => T): () => T {
  let made: T | null = null
  return () => {
    made ??= make()
    return made
  }
}
