/** The content of a message: one sealed value in its row. */
import type { Citation } from '#rag/answer/citations.ts'

export type TextPart = { type: 'text'; text: string }
/** `data`: base64. */
export type ImagePart = { type: 'image'; media_type: string; data: string }
export type DocumentPart = { type: 'document'; document_id: string; name: string }
export type Part = TextPart | ImagePart | DocumentPart

/** A passage that an answer may cite; `[n]` cites the n-th. */
export type Source = {
  document_id: string
  name: string
  page: number | null
  score: number
  content: string
  chunk_ids: string[]
}

/** A search or another tool that the answer used. `found`: the number of results. */
export type ToolUse = {
  name: string
  input: Record<string, unknown>
  state: 'running' | 'done'
  found?: number
}

/** The visible reasoning of an answer's model. `ms`: how long the model thought. */
export type Reasoning = { text: string; ms: number }

export type MessageContent = {
  parts: Part[]
  sources: Source[]
  citations: Citation[]
  tools: ToolUse[]
  /** Null where the model showed none. */
  reasoning: Reasoning | null
  /** The events of the answer's stream with their places, so that any node can continue it. */
  events?: { at: number; name: string; data?: unknown; count?: number }[]
  /** Why the answer failed; null for others. */
  problem: { code: string; detail: string } | null
}

export type ConversationOptions = {
  instructions?: string
  temperature?: number
  max_tokens?: number
  documents?: 'auto' | 'off' | string[]
}

export function createContent(parts: Part[]): MessageContent {
  return { parts, sources: [], citations: [], tools: [], reasoning: null, problem: null }
}

/** Returns the texts of a message, without images and documents. */
export function joinText({ parts }: Pick<MessageContent, 'parts'>): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
}

const TITLE_WORDS_MAX = 60

/** Returns the first words of a text, as a title. */
export function cutTitle(text: string): string {
  const line = text.replaceAll(/\s+/gu, ' ').trim()
  if (line.length <= TITLE_WORDS_MAX) return line
  const cut = line.slice(0, TITLE_WORDS_MAX + 1)
  const end = cut.lastIndexOf(' ')
  const words = end > TITLE_WORDS_MAX / 2 ? cut.slice(0, end) : cut.slice(0, TITLE_WORDS_MAX)
  // A cut surrogate pair is no character.
  return `${words.toWellFormed().replace(/\ufffd$/, '')}…`
}
