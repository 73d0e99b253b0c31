/** A conversation of a file, in the shape that both formats are read into. */
import type { Conversation } from '../conversation-store.ts'
import type { Message } from '../message-store.ts'

/** The members of a conversation that either format uses. Others are skipped without parsing. */
const MEMBERS = [
  'id',
  'title',
  'title_by',
  'model',
  'settings',
  'collection_ids',
  'pinned_at',
  'archived_at',
  'leaf_id',
  'created_at',
  'updated_at',
  'messages',
  'conversation_id',
  'default_model_slug',
  'is_archived',
  'current_node',
  'create_time',
  'update_time',
  'mapping',
] as const

type Member = (typeof MEMBERS)[number]
/** A conversation of a file, parsed but not checked. */
export type ConversationFile = { [name in Member]?: unknown }

const MEMBER_NAMES: ReadonlySet<string> = new Set(MEMBERS)
export const isMember = (name: string): name is Member => MEMBER_NAMES.has(name)

/** Why a conversation was not imported. */
export type SkipReason = 'already_imported' | 'empty' | 'invalid' | 'too_long'

export type ImportedMessage = Omit<Message, 'updated_at' | 'events'>

/** The ids of messages are those of the file. */
export type Imported = Pick<
  Conversation,
  'title' | 'title_by' | 'model' | 'settings' | 'collection_ids' | 'pinned_at' | 'archived_at'
> & {
  /** The id in the file; null: it has none. */
  sourceId: string | null
  leafId: string | null
  createdAt: string
  updatedAt: string
  messages: ImportedMessage[]
}

export type ImportRead = Imported | { title: string; skipped: SkipReason }

const TITLE_MAX = 200
const EARLIEST_MS = Date.UTC(2000, 0)

export function readTitle(value: unknown): string {
  if (typeof value !== 'string') return ''
  return value.replaceAll(/\s+/gu, ' ').trim().slice(0, TITLE_MAX).toWellFormed()
}

/** Returns a time between 2000 and `now`; null for others. `value`: ISO 8601, or seconds. */
export function readTime(value: unknown, now: string): string | null {
  const ms =
    typeof value === 'number'
      ? value * 1_000
      : typeof value === 'string'
        ? Date.parse(value)
        : Number.NaN
  return ms >= EARLIEST_MS && ms <= Date.parse(now) ? new Date(ms).toISOString() : null
}

/** Returns the name of a model as answers store it; null for others. */
export function readModel(value: unknown): string | null {
  return typeof value === 'string' && /^[ -~]{1,200}$/.test(value) ? value : null
}
