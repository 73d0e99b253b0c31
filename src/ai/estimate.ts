// Estimates tokens that no vendor has counted: before a call, and after a call that was cut.
// The estimate before a call errs high, because budgets depend on it.

import { MEDIA, type Medium } from '#models/catalogue.ts'
import { wordSet } from '#platform/words.ts'
import { countPdfPages, createInflateBudget, type InflateBudget } from './pdf-pages.ts'
import type { ChatRequest, ContentPart } from './vendors/chat-request.ts'

/** A token has about four characters in English; three bytes leave room for code and others. */
const CHARACTERS_PER_TOKEN = 4
const PROMPT_BYTES_PER_TOKEN = 3
const TOKENS_PER_MESSAGE = 8
/** OpenAI 85 to 1,500, Anthropic up to 4,800 at high resolution, Gemini 258 to 2,240. */
const IMAGE_TOKENS = { least: 1_200, most: 4_800, bytesPerToken: 100 }
/** A page is read as text and as an image; Anthropic documents 1,500 to 3,000 for the text. */
const PDF_PAGE_TOKENS = 3_000
/** Lower bound by size, for counted pages that contain unusually much. */
const PDF_PAGE_BYTES_PER_TOKEN = 100
/** Where pages cannot be counted: compressed text has about three characters per byte. */
const PDF_BYTES_PER_TOKEN = 1
/** Office files are zipped XML. */
const OFFICE_BYTES_PER_TOKEN = 2
/** Gemini counts 32 tokens a second (OpenAI 10) of 8,000 bytes, or 3,000 in MP3 or Opus. */
const AUDIO_BYTES_PER_TOKEN = { wav: 250, other: 90 }
/** Gemini counts about 300 tokens a second; video has 100 kB a second or more. */
const VIDEO_BYTES_PER_TOKEN = 300
/** A file that the vendor stores; neither name nor address reveals its size. */
const REMOTE_FILE_TOKENS = 30_000

/** Estimates the tokens of a text that no vendor counted. */
export function guessTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN)
}

/** Estimates the tokens of a text to be read; errs high. */
export function guessTextTokens(text: string): number {
  return tokensOfBytes(Buffer.byteLength(text))
}

export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / PROMPT_BYTES_PER_TOKEN)
}

/** Estimates the tokens of a prompt; errs high. */
export function estimatePromptTokens(request: ChatRequest, budget = createInflateBudget()): number {
  let tokens = request.messages.length * TOKENS_PER_MESSAGE
  let bytes = 0
  for (const message of request.messages) {
    bytes += countTextBytes(message)
    if (!Array.isArray(message.content)) continue
    for (const part of message.content)
      if (!isText(part)) tokens += estimatePartTokens(part, budget)
  }
  // The model also reads the tools with their schemas, the answer's schema, and the predicted text.
  const { tools, functions, response_format: format, prediction } = request
  for (const member of [tools, functions, format, prediction]) bytes += countJsonBytes(member)
  return tokens + tokensOfBytes(bytes)
}

function countTextBytes(message: ChatRequest['messages'][number]): number {
  const { content, tool_calls: calls, reasoning_details, reasoning_content, reasoning } = message
  let bytes = 0
  if (typeof content === 'string') bytes += Buffer.byteLength(content)
  else {
    for (const part of content ?? [])
      if (isText(part)) bytes += Buffer.byteLength(String(part[part.type] ?? ''))
  }
  // Reasoning is sent back to the model in whichever field its client stores it.
  bytes += countJsonBytes(reasoning_details)
  bytes += countJsonBytes(reasoning_content)
  bytes += countJsonBytes(reasoning)
  for (const call of calls ?? []) {
    // OpenAI has calls of other types than functions, too.
    const { function: called } = call
    bytes +=
      called === undefined
        ? countJsonBytes(call)
        : Buffer.byteLength(called.name + called.arguments)
  }
  return bytes
}

function isText(part: ContentPart): part is ContentPart & { type: 'text' | 'refusal' } {
  return part.type === 'text' || part.type === 'refusal'
}

/** A string counts without quotes. */
function countJsonBytes(value: unknown): number {
  if (value == null) return 0
  return Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Estimates a body in the format of any API: all of its texts, and its files by their type. */
export function estimateJsonTokens(body: unknown): number {
  const budget = createInflateBudget()
  let bytes = 0
  let fileTokens = 0
  const walk = (value: unknown): void => {
    if (typeof value === 'string') bytes += Buffer.byteLength(value) + JSON_BYTES_PER_VALUE
    else if (Array.isArray(value)) for (const item of value) walk(item)
    else if (typeof value === 'object' && value !== null) {
      const part = value as ContentPart
      if (isFile(part)) fileTokens += estimatePartTokens(part, budget)
      else {
        for (const name in part) {
          bytes += name.length
          walk(part[name])
        }
      }
    } else bytes += JSON_BYTES_PER_VALUE
  }
  walk(body)
  return tokensOfBytes(bytes) + fileTokens
}

/** Quotes, a comma, or a short number. */
const JSON_BYTES_PER_VALUE = 4

const FILES = wordSet(
  'image image_url input_image document file input_file input_audio audio_url video_url',
)

/** A document may contain text blocks. */
function isFile({ type, source }: ContentPart): boolean {
  return FILES.has(type) && !Array.isArray(toRecord(source).content)
}

/** Returns true when a cache mark anywhere asks for one hour, which costs more. */
export function cachesForHour(body: {
  cache_control?: unknown
  system?: unknown
  messages?: unknown
  tools?: unknown
}): boolean {
  return (
    isHourMark(body) ||
    hasHourMark(body.system) ||
    hasHourMark(body.messages) ||
    hasHourMark(body.tools)
  )
}

function hasHourMark(list: unknown): boolean {
  if (!Array.isArray(list)) return false
  for (const turn of list) {
    const { content, function: called } = toRecord(turn)
    if (isHourMark(turn) || isHourMark(called) || hasHourMark(content)) return true
  }
  return false
}

function isHourMark(marked: unknown): boolean {
  return toRecord(toRecord(marked).cache_control).ttl === '1h'
}

function estimatePartTokens(part: ContentPart, budget: InflateBudget): number {
  const inline = readInlineFile(part)
  if (inline === null) return isImage(part) ? IMAGE_TOKENS.least : REMOTE_FILE_TOKENS
  const { mediaType, base64 } = inline
  const bytes = Math.floor((base64.length * 3) / 4)
  if (mediaType.startsWith('image/')) {
    return clamp(bytes / IMAGE_TOKENS.bytesPerToken, IMAGE_TOKENS.least, IMAGE_TOKENS.most)
  }
  if (mediaType.startsWith('audio/')) {
    return Math.ceil(
      bytes / (/wav/.test(mediaType) ? AUDIO_BYTES_PER_TOKEN.wav : AUDIO_BYTES_PER_TOKEN.other),
    )
  }
  if (mediaType.startsWith('video/')) return Math.ceil(bytes / VIDEO_BYTES_PER_TOKEN)
  if (mediaType === 'application/pdf') {
    const pages = countPdfPages(Buffer.from(base64, 'base64'), budget)
    if (pages !== null)
      return Math.max(pages * PDF_PAGE_TOKENS, Math.ceil(bytes / PDF_PAGE_BYTES_PER_TOKEN))
    return Math.max(PDF_PAGE_TOKENS, Math.ceil(bytes / PDF_BYTES_PER_TOKEN))
  }
  if (/officedocument|zip/.test(mediaType)) return Math.ceil(bytes / OFFICE_BYTES_PER_TOKEN)
  return tokensOfBytes(bytes)
}

/** Returns the medium of a part's file and its approximate tokens; null for text and documents. */
export function guessFile(part: ContentPart): { medium: Medium; tokens: number } | null {
  if (typeof part !== 'object' || part === null || !FILES.has(part.type)) return null
  const mediaType = readInlineFile(part)?.mediaType ?? ''
  const medium = MEDIA.find((one) => mediaType.startsWith(`${one}/`)) ?? REMOTE_MEDIA[part.type]
  return medium === undefined
    ? null
    : { medium, tokens: estimatePartTokens(part, createInflateBudget()) }
}

/** By the part's type, for parts with an address only. */
const REMOTE_MEDIA: Readonly<Record<string, Medium>> = {
  image: 'image',
  image_url: 'image',
  input_image: 'image',
  input_audio: 'audio',
  audio_url: 'audio',
  video_url: 'video',
}

const isImage = ({ type }: ContentPart) =>
  type === 'image_url' || type === 'input_image' || type === 'image'

/** Returns the bytes inside the part; null for a reference. A part may be anything. */
function readInlineFile(part: ContentPart): { mediaType: string; base64: string } | null {
  const audio = toRecord(part.input_audio)
  if (typeof audio.data === 'string')
    return { mediaType: `audio/${String(audio.format ?? 'wav')}`, base64: audio.data }
  const file = toRecord(part.file)
  const source = toRecord(part.source)
  if (typeof source.data === 'string') {
    return {
      mediaType: String(source.media_type ?? 'application/octet-stream'),
      base64: source.data,
    }
  }
  const { image_url: image = null } = part as Record<string, unknown>
  const address = typeof image === 'string' ? image : toRecord(image).url
  const data =
    file.file_data ??
    part.file_data ??
    address ??
    toRecord(part.video_url).url ??
    toRecord(part.audio_url).url
  if (typeof data !== 'string') return null
  const match = /^data:([^;,]*)[^,]*,/.exec(data.slice(0, 200))
  if (match)
    return {
      mediaType: (match[1] || 'text/plain').toLowerCase(),
      base64: data.slice(match[0].length),
    }
  // An address has a scheme; otherwise the text is base64, and the file's name gives its type.
  if (/^[a-z][a-z0-9+.-]*:/i.test(data.slice(0, 30))) return null
  return { mediaType: guessMediaType(String(file.filename ?? part.filename ?? '')), base64: data }
}

function guessMediaType(filename: string): string {
  const ending = filename.slice(filename.lastIndexOf('.') + 1).toLowerCase()
  if (/^(docx|xlsx|pptx|odt|ods|odp|epub)$/.test(ending)) return 'application/zip'
  return /^(txt|md|csv|json|html?|xml|ya?ml)$/.test(ending) ? 'text/plain' : 'application/pdf'
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function clamp(value: number, least: number, most: number): number {
  return Math.ceil(Math.min(most, Math.max(least, value)))
}
