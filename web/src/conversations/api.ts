/** Types and calls of the conversations' API. */
import type {
  Citation,
  ConversationListed,
  ConversationMessage,
  MessagePart,
  TokenUsage,
} from '../api/types.ts'

export type Part = MessagePart
export type ImageType = Extract<Part, { type: 'image' }>['media_type']

/** A passage that an answer may cite; citations count from 1. */
export type Source = {
  document_id: string
  name: string
  page: number | null
  score: number
  content: string
  chunk_ids: string[]
}

export type ToolCall = {
  name: 'search' | 'list_documents' | 'fetch'
  input: Record<string, unknown>
  found?: number | null
  state: 'running' | 'done'
}

export type Outcome = ConversationMessage['outcome']
export type Usage = Partial<TokenUsage> & {
  finish_reason?: string | null
  cost_usd?: number | null
}
export type AnswerProblem = { detail: string; code?: string | null }

/** The service describes the insides of messages only to people. */
export type Message = Omit<
  ConversationMessage,
  'parts' | 'problem' | 'usage' | 'sources' | 'citations' | 'tools'
> & {
  parts: Part[]
  problem?: AnswerProblem | null
  usage: Usage | null
  sources: Source[]
  citations: Citation[]
  tools: ToolCall[]
}

export type Reasoning = NonNullable<Message['reasoning']>

export type ListedConversation = ConversationListed

export type Documents = 'auto' | 'off' | string[]
