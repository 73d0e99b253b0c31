/** Builds the messages of a branch: instructions, as many turns as fit, and the question. */
import { guessTextTokens } from '#ai/estimate.ts'
import type { ChatMessage, ContentPart } from '#ai/vendors/chat-request.ts'
import { removeMarks } from '#rag/answer/prompt.ts'
import type { ImagePart, Part } from '../content.ts'

/** A question or an answer of the branch. */
export type BranchTurn = { role: 'user' | 'assistant'; parts: Part[] }

export type PromptTerms = {
  /** Oldest first; the last one is the question. */
  turns: readonly BranchTurn[]
  /** The system message; empty: none. */
  instructions: string
  contextTokens: number
  /** False: images are replaced by a note. */
  seesImages: boolean
}

/** The share of a model's context for earlier turns; the rest is for sources and the answer. */
const HISTORY_SHARE = 0.4
const HISTORY_TOKENS_MAX = 60_000
const IMAGE_TOKENS = 2_000
const TOKENS_PER_MESSAGE = 8

/** `usedTokens`: an estimate that errs high. */
export function buildMessages({ turns, instructions, contextTokens, seesImages }: PromptTerms): {
  messages: ChatMessage[]
  usedTokens: number
} {
  const [question, ...earlier] = turns.toReversed().map((turn) => toMessage(turn, seesImages))
  if (question === undefined) throw new Error('a branch without a question')
  let usedTokens = guessTextTokens(instructions) + question.tokens
  const budget = Math.min(HISTORY_TOKENS_MAX, contextTokens * HISTORY_SHARE)
  const history: ChatMessage[] = []
  let left = budget
  for (const { message, tokens } of earlier) {
    left -= tokens
    if (left < 0) break
    usedTokens += tokens
    history.unshift(message)
  }
  // Vendors require that a conversation begins with the user.
  while (history[0]?.role === 'assistant') history.shift()
  const system: ChatMessage[] =
    instructions === '' ? [] : [{ role: 'system', content: instructions }]
  return { messages: [...system, ...history, question.message], usedTokens }
}

function toMessage({ role, parts }: BranchTurn, seesImages: boolean) {
  const images = parts.filter((part) => part.type === 'image')
  const text = parts
    .map((part) => writePart(part, seesImages))
    .join('\n\n')
    .trim()
  const written = role === 'assistant' ? removeMarks(text) : text
  const shown = seesImages && role === 'user' ? images : []
  const content: ContentPart[] = [
    ...shown.map(toImage),
    ...(written === '' ? [] : [{ type: 'text', text: written }]),
  ]
  const message: ChatMessage = {
    role,
    // Vendors reject empty messages, such as an answer that failed before its first word.
    content: shown.length > 0 ? content : written === '' ? '(no text)' : written,
  }
  const tokens = guessTextTokens(written) + shown.length * IMAGE_TOKENS + TOKENS_PER_MESSAGE
  return { message, tokens }
}

function writePart(part: Part, seesImages: boolean): string {
  if (part.type === 'text') return part.text
  if (part.type === 'document') return `(Document: ${part.name.replace(/\s+/g, ' ')})`
  return seesImages ? '' : '(An image that this model cannot see.)'
}

function toImage({ media_type, data }: ImagePart): ContentPart {
  return { type: 'image_url', image_url: { url: `data:${media_type};base64,${data}` } }
}
