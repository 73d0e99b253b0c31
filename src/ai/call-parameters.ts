// Reads the parameters that the ledger stores with a chat call. Only numbers and known words are
// stored, so no text of a prompt is among them.
import { asObject } from '#platform/json.ts'
import type { CallParameters } from '#usage/parameters.ts'
import { type ModelRequest, readTurns } from './model-request.ts'

type Json = Readonly<Record<string, unknown>>

/** Reads a request in the format of chat completions, of responses or of messages. */
export function readParameters(modelRequest: ModelRequest, isStream: boolean): CallParameters {
  const { request, native } = modelRequest
  const body: Json = request ?? native.body
  return {
    messages: countItems(readTurns(modelRequest)),
    stream: isStream,
    ...pick('tools', countItems(body.tools) || null),
    ...pick('temperature', readNumber(body.temperature)),
    ...pick('top_p', readNumber(body.top_p)),
    ...pick(
      'max_tokens',
      readNumber(body.max_completion_tokens ?? body.max_output_tokens ?? body.max_tokens),
    ),
    ...pick('reasoning_effort', readEffort(body)),
  }
}

function pick<Name extends string, Value>(name: Name, value: Value | null) {
  return value === null ? {} : ({ [name]: value } as Record<Name, Value>)
}

/** The whole input of a responses request may be one text. */
function countItems(value: unknown): number {
  return Array.isArray(value) ? value.length : Number(typeof value === 'string')
}

function readNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

const EFFORTS = new Set(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

function readEffort(body: Json): string | null {
  const effort =
    body.reasoning_effort ??
    asObject(body.reasoning)?.effort ??
    asObject(body.output_config)?.effort
  return typeof effort === 'string' && EFFORTS.has(effort) ? effort : null
}
