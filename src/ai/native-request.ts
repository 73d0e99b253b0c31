// A client's request in a vendor's format, for /v1/responses and /v1/messages, with a translation
// for other vendors. Headers pass by allowlist: credentials, cookies and account headers stay here.

import type { IncomingHttpHeaders } from 'node:http'
import { wordSet } from '#platform/words.ts'
import type { NativeApi, NativeRequest } from './vendors/vendor.ts'

const ANTHROPIC_VERSIONS = ['anthropic-version', 'anthropic-beta']
const OPENAI_VERSIONS = ['openai-beta']
/** These headers change the answers of models; other passed headers only identify the client. */
export const VERSION_HEADERS: readonly string[] = [...ANTHROPIC_VERSIONS, ...OPENAI_VERSIONS]

type Passed = { names: ReadonlySet<string>; prefixes: readonly string[] }

const PASSED: Record<NativeApi, Passed> = {
  messages: {
    names: new Set([...ANTHROPIC_VERSIONS, 'x-app', 'x-claude-code-session-id']),
    prefixes: [],
  },
  // Includes the session headers by which OpenAI finds its cache.
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
    // Codex adds new headers with every release.
    prefixes: ['x-codex-', 'x-openai-internal-codex-'],
  },
}

/** `headers`: all headers of the client. */
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

/** Members that are translated, read by the gateway, or hints that change no answer. */
const TRANSLATED: Record<NativeApi, ReadonlySet<string>> = {
  messages: wordSet(
    'model messages system tools tool_choice max_tokens stop_sequences stream metadata',
    'temperature top_p thinking output_config output_format cache_control diagnostics',
  ),
  responses: wordSet(
    'model input instructions tools tool_choice parallel_tool_calls max_output_tokens stream',
    'temperature top_p reasoning text metadata client_metadata user safety_identifier',
    'prompt_cache_key prompt_cache_retention prompt_cache_options service_tier store include',
    'background stream_options max_tool_calls',
  ),
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

/** Calls `make` on first use and caches its result. */
export function once<T extends object>(make: () => T): () => T {
  let made: T | null = null
  return () => {
    made ??= make()
    return made
  }
}
