// OpenAI's responses as its own clients send them. OpenAI stores nothing (`store: false`), so
// reasoning is returned encrypted.
import { asObject } from '#platform/json.ts'
import { listWords } from '#platform/words.ts'
import type { NativeDialect } from './native.ts'
import { OUTPUT_TOKENS_MIN, SEALED } from './responses-request.ts'
import type { NativeRequest } from './vendor.ts'

type Json = Record<string, unknown>

type ModelTest = (model: string) => boolean

/** The tests of a model: has /responses, returns reasoning, is OpenAI's own. */
export function createResponsesDialect(
  speaks: ModelTest,
  thinks: ModelTest,
  isOpenAi: ModelTest,
): NativeDialect {
  return {
    api: 'responses',
    speaks,
    thinks,
    path: '/responses',
    body(model, request, stream) {
      const sent = buildBody(model, request, { stream, thinks: thinks(model) })
      const { safetyIdentifier } = request
      if (safetyIdentifier !== undefined && isOpenAi(model))
        sent.safety_identifier = safetyIdentifier
      return sent
    },
    counted: { path: '/responses/input_tokens', body: buildCountedBody },
    chunks: { name: 'response.output_text.delta', readText: readDeltaText },
  }
}

/** OpenAI stores nothing: reasoning needs its encrypted content, and references are dropped. */
function buildBody(
  model: string,
  { body, limit }: NativeRequest,
  { stream, thinks }: { stream: boolean; thinks: boolean },
): Json {
  const include = Array.isArray(body.include) ? body.include : []
  const sent: Json = { ...body, model, stream, store: false }
  // Models without reasoning reject it.
  if (thinks && !include.includes(SEALED)) sent.include = [...include, SEALED]
  if (limit !== null) sent.max_output_tokens = Math.max(OUTPUT_TOKENS_MIN, limit)
  if (Array.isArray(body.input)) {
    const isLost = (item: unknown) =>
      asObject(item)?.type === 'reasoning' && typeof asObject(item)?.encrypted_content !== 'string'
    sent.input = body.input.some(isLost) ? body.input.filter((item) => !isLost(item)) : body.input
  }
  return sent
}

/** Members that fill a prompt. The token count rejects all others. */
const COUNTED = listWords(
  'input instructions parallel_tool_calls reasoning text tool_choice tools truncation',
)

function buildCountedBody(model: string, request: NativeRequest): Json {
  const body = buildBody(model, request, { stream: false, thinks: false })
  return {
    model,
    ...Object.fromEntries(
      COUNTED.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]])),
    ),
  }
}

const TEXT_DELTA = '{"type":"response.output_text.delta",'
const DELTA = '"delta":"'

/** Reads `{"type":"response.output_text.delta",…,"delta":"Hello",…}`; null for others. */
function readDeltaText(data: string): string | null {
  if (data.slice(0, TEXT_DELTA.length) !== TEXT_DELTA || !data.endsWith('}')) return null
  const from = data.indexOf(DELTA, TEXT_DELTA.length)
  return from === -1
    ? null
    : data.slice(from + DELTA.length, data.indexOf('"', from + DELTA.length))
}
