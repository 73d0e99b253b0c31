// The members that a native request may have. Each only shapes the answer, or has a price in
// extras.ts. Any other is rejected by name, since vendors keep adding members that change the
// model, the price or the region of a call.
import { asObject } from '#platform/json.ts'
import { listWords } from '#platform/words.ts'
import type { NativeApi } from './vendor.ts'
import { createRefusal } from './vendor-error.ts'

type Json = Record<string, unknown>

/** A list names the inner members of an object, or of a list's objects; null allows any. */
const MEMBERS: Record<NativeApi, ReadonlyMap<string, readonly string[] | null>> = {
  responses: new Map([
    ...listAny(
      'model input instructions tools tool_choice parallel_tool_calls include truncation',
      'stream store background conversation previous_response_id prompt',
      'max_output_tokens max_tool_calls temperature top_p top_logprobs service_tier',
      'metadata client_metadata user safety_identifier prompt_cache_key prompt_cache_retention',
    ),
    ['prompt_cache_options', ['mode', 'ttl', 'comparison_response_id']],
    ['reasoning', ['effort', 'summary', 'generate_summary', 'context', 'mode']],
    ['text', ['format', 'verbosity']],
    ['stream_options', ['include_obfuscation', 'include_usage']],
    ['context_management', ['type', 'compact_threshold']],
  ]),
  messages: new Map([
    ...listAny(
      'model messages system tools tool_choice max_tokens stop_sequences stream',
      'temperature top_p top_k service_tier speed inference_geo cache_control',
      'metadata diagnostics container mcp_servers output_format',
    ),
    ['output_config', ['effort', 'format', 'task_budget']],
    ['thinking', ['type', 'budget_tokens', 'display', 'block_binding']],
    ['context_management', ['edits']],
  ]),
}

function listAny(...names: string[]): [string, null][] {
  return listWords(...names).map((name) => [name, null])
}

/** `passes`: names that the operator allows, as `reasoning.novelty`. @throws VendorError 400 */
export function requireKnownMembers(api: NativeApi, body: Json, passes: readonly string[]): void {
  for (const name of Object.keys(body)) {
    const value = body[name]
    if (value == null || passes.includes(name)) continue
    const inner = MEMBERS[api].get(name)
    if (inner === undefined) throw createUnknownMemberError(name)
    if (inner === null) continue
    for (const object of Array.isArray(value) ? value : [value]) {
      for (const [innerName, innerValue] of Object.entries(asObject(object) ?? {})) {
        const path = `${name}.${innerName}`
        if (innerValue != null && !inner.includes(innerName) && !passes.includes(path))
          throw createUnknownMemberError(path)
      }
    }
  }
}

function createUnknownMemberError(name: string) {
  const shown = name.slice(0, 100)
  return createRefusal(
    `'${shown}' is not a known member, and may select another model or cost extra: omit it, or have the operator allow it`,
    shown,
  )
}
