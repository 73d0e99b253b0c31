// Anthropic's messages as its own clients send them. Only the model, `stream` and the limit change.
import type { NativeDialect } from './native.ts'

export const nativeMessages: NativeDialect = {
  api: 'messages',
  speaks: () => true,
  thinks: () => true,
  path: '/v1/messages',
  body: (model, { body, limit }, stream) => ({ ...body, model, stream, max_tokens: limit }),
  counted: { path: '/v1/messages/count_tokens', body: (model, { body }) => ({ ...body, model }) },
  chunks: { name: 'content_block_delta', readText: readDeltaText },
}

const DELTA = '{"type":"content_block_delta","index":'
const [BLANK, BRACE] = [32, 125]
const DELTA_KIND = '"delta":{"type":"'

/** Reads `{"type":"content_block_delta",…,"delta":{"type":"text_delta","text":"Hello"}}`. */
function readDeltaText(data: string): string | null {
  if (data.slice(0, DELTA.length) !== DELTA || !data.endsWith('}')) return null
  let end = data.length - 1
  // Anthropic pads events with blanks to hide the length of the text.
  while (data.charCodeAt(end - 1) === BLANK) end--
  if (data.charCodeAt(end - 1) !== BRACE) return null
  const kind = data.indexOf(DELTA_KIND, DELTA.length)
  if (kind === -1 || data.startsWith('signature', kind + DELTA_KIND.length)) return null
  const words = data.indexOf('":"', kind + DELTA_KIND.length)
  return words === -1 ? null : data.slice(words + 3, end - 2)
}
