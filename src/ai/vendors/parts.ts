// Reads content parts in OpenAI's format (text, images, files, audio) for vendors with another
// format. Unknown content is rejected.
import { asObject } from '#platform/json.ts'
import type { ContentPart } from './chat-request.ts'
import { createRefusal } from './vendor-error.ts'

/** Base64 bytes with their type, or a URL that the vendor fetches. */
export type Source = { mediaType: string; data: string } | { url: string }

export type Part =
  | { kind: 'text'; text: string }
  | { kind: 'media'; source: Source; name: string | null }

/** @throws VendorError for content that only OpenAI supports */
export function readPart(part: ContentPart): Part {
  switch (part.type) {
    case 'text':
      return { kind: 'text', text: String(part.text ?? '') }
    case 'refusal':
      return { kind: 'text', text: String(part.refusal ?? '') }
    case 'image_url': {
      const url = part.image_url?.url
      if (typeof url === 'string') return { kind: 'media', source: readSource(url), name: null }
      break
    }
    case 'file':
      return readFile(asObject(part.file) ?? {})
    case 'input_audio': {
      const audio = asObject(part.input_audio)
      if (typeof audio?.data !== 'string') break
      return {
        kind: 'media',
        source: { mediaType: `audio/${audio.format ?? 'wav'}`, data: audio.data },
        name: null,
      }
    }
  }
  throw createUnsupportedError(`Content of type '${part.type}'`)
}

function readFile({ file_data: data, file_id: id, filename }: Record<string, unknown>): Part {
  const name = typeof filename === 'string' ? filename : null
  if (typeof data !== 'string') {
    throw createRefusal(
      typeof id === 'string'
        ? "Only OpenAI can read a file by its 'file_id': send its bytes as 'file_data'"
        : "A part of type 'file' needs 'file_data'",
    )
  }
  const source = /^(data|https?):/.test(data)
    ? readSource(data)
    : { mediaType: guessMediaType(data), data }
  return { kind: 'media', source, name }
}

/** Guesses the type of bare base64 by its first bytes: `%PDF-`, otherwise text. */
function guessMediaType(base64: string): string {
  return base64.startsWith('JVBERi0') ? 'application/pdf' : 'text/plain'
}

function readSource(url: string): Source {
  return parseDataUrl(url) ?? { url }
}

/** Every server takes a string, only most a list. A part with a cache mark stays a part. */
export function simplifyText(parts: ContentPart[]): string | ContentPart[] {
  const [first] = parts
  if (first === undefined) return ''
  const isPlain = Object.keys(first).every((name) => name === 'type' || name === 'text')
  return parts.length === 1 && first.type === 'text' && isPlain ? (first.text ?? '') : parts
}

export function createUnsupportedError(what: string) {
  return createRefusal(`${what} is not supported by this model`)
}

/** Splits `data:image/png;base64,…`; null for an ordinary URL. */
function parseDataUrl(url: string): { mediaType: string; data: string } | null {
  const match = /^data:([\w.+-]+\/[\w.+-]+);base64,/.exec(url)
  return match?.[1] ? { mediaType: match[1], data: url.slice(match[0].length) } : null
}
