import type { Documents, Message, Part } from './api.ts'
import type { LiveAnswer } from './live/live-answer.ts'

/** What the composer sends. `model` undefined: the default. */
export type Ask = {
  parts: Part[]
  model: string | undefined
  documents: Documents
  collections: string[]
}
/** How an answer is repeated. */
export type AskOptions = Omit<Ask, 'parts'>

/** A conversation that is open, wherever it is kept. Its functions are stable. */
export type Thread = {
  id: string
  /** The shown branch, oldest first, without the answer in progress. */
  messages: Message[]
  live: LiveAnswer | null
  hasEarlier: boolean
  loadEarlier: () => void
  ask: (ask: Ask) => void
  /** Answers a question again. */
  retry: (answer: Message, options: AskOptions) => void
  /** Asks an edited question; the old one stays as a sibling. */
  edit: (question: Message, ask: Ask) => void
  /** Shows the branch of another sibling. */
  choose: (messageId: string) => void
  stop: () => void
}
