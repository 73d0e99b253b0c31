/** Types and calls of the conversations' API. */
import { type Options, request } from '../api/client.ts'
import type { Address, Method } from '../api/operation.ts'
import type { Citation, TokenUsage } from '../api/types.ts'

export type Part =
  | { type: 'text'; text: string }
  | { type: 'image'; media_type: string; data: string }
  | { type: 'document'; document_id: string; name: string }

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

export type Outcome = 'running' | 'ok' | 'stopped' | 'interrupted' | 'failed'
export type Usage = Partial<TokenUsage> & { finish_reason?: string | null; cost_usd?: number | null }
export type AnswerProblem = { detail: string; code?: string | null }

export type Message = {
  id: string
  parent_id: string | null
  role: 'user' | 'assistant'
  parts: Part[]
  model: string | null
  outcome: Outcome
  problem?: AnswerProblem | null
  usage: Usage | null
  sources: Source[]
  citations: Citation[]
  tools: ToolCall[]
  /** Messages with the same parent, itself included, oldest first. */
  sibling_ids: string[]
  created_at: string
}

export type ListedConversation = {
  id: string
  title: string
  title_by: 'person' | 'model'
  model: string | null
  pinned_at: string | null
  archived_at: string | null
  created_at: string
  updated_at: string
  is_running: boolean
  matches?: { message_id: string; text: string; marks: [number, number][] }[]
}

export type Conversation = ListedConversation & {
  leaf_id: string | null
  settings: Record<string, unknown>
  collection_ids: string[]
}

export type ConversationPage = {
  conversation: Conversation
  messages: Message[]
  before: string | null
}

export type Documents = 'auto' | 'off' | string[]

export type AskBody = {
  parent_id: string | null
  parts?: Part[]
  model?: string
  documents: Documents
  collections?: string[]
  replaces?: string
}

export type Share = {
  id: string
  conversation_id: string
  leaf_id: string
  with_sources: boolean
  url: string
  expires_at: string | null
  created_at: string
  updated_at: string
}
