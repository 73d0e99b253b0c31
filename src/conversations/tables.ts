import type { Json } from '#platform/db/tables.ts'

export type TitleBy = 'person' | 'model'
export type Role = 'user' | 'assistant'
export type Outcome = 'running' | 'ok' | 'stopped' | 'interrupted' | 'failed'

/** Tokens and cost of an answer; the cost is null when the user may not see it. */
export type MessageUsage = {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  cost_usd: number | null
  /** Why the answer is incomplete. */
  finish_reason?: 'length' | 'content_filter'
}

type ConversationsTable = {
  user_id: string
  id: string
  title_sealed: Uint8Array
  title_by: TitleBy
  /** The model of the last question; null before the first. */
  model: string | null
  settings_sealed: Uint8Array
  /** The collections that its questions search. */
  collection_ids_json: Json<string[]>
  pinned_at: string | null
  archived_at: string | null
  /** The last message of the branch that is shown. */
  leaf_id: string | null
  /** Hash of the id in the file that it was imported from. */
  source_hash: string | null
  /** The user's revision of its last change. */
  revision: number
  created_at: string
  /** The time of the last message. */
  updated_at: string
}

type ConversationMessagesTable = {
  user_id: string
  conversation_id: string
  id: string
  parent_id: string | null
  role: Role
  model: string | null
  outcome: Outcome
  usage_json: Json<MessageUsage> | null
  created_at: string
  /** By the database's clock, so that any node can find answers of dead nodes. */
  updated_at: string
  /** The last column: SQLite reads columns behind a large value only through all of its pages. */
  parts_sealed: Uint8Array
}

/** One row per user: their choice, and a revision that increases with each change of a text. */
type ConversationSettingsTable = { user_id: string; is_keeping: boolean; revision: number }

/** A link to a frozen copy; its token is computed from the key. */
type ConversationSharesTable = {
  user_id: string
  id: string
  conversation_id: string
  leaf_id: string
  /** Whether the copy has the cited sentences. */
  is_citing: boolean
  expires_at: string | null
  created_at: string
  updated_at: string
  content_sealed: Uint8Array
}

declare module '#platform/db/tables.ts' {
  interface Tables {
    conversations: ConversationsTable
    conversation_messages: ConversationMessagesTable
    conversation_settings: ConversationSettingsTable
    conversation_shares: ConversationSharesTable
  }
}

export type { ConversationMessagesTable, ConversationSharesTable, ConversationsTable }
