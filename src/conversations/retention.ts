import { sql } from 'kysely'
import type { Config } from '#config/config.ts'
import { transaction } from '#platform/db/db.ts'
import { SLICE_ROWS } from '#platform/db/slices.ts'
import { type Aged, byAge } from '#platform/retention.ts'
import { bumpRevision } from './conversation-store.ts'

/** Tables with rows of a conversation, and their keys. */
const OF_CONVERSATION = [
  ['conversation_messages', 'user_id', 'conversation_id', 'id'],
  ['conversation_shares', 'user_id', 'id'],
] as const

/** Until then, the owner sees in their list that a link has ended. */
const EXPIRED_SHARES_DAYS = 30

/** Removes conversations by the age of their last message. Without a setting they are kept. */
export function agedConversations({ retention }: Pick<Config, 'retention'>): Aged[] {
  const days = retention.conversationsDays
  const expired = byAge({
    what: 'expired links',
    table: 'conversation_shares',
    key: ['user_id', 'id'],
    at: 'expires_at',
    days: EXPIRED_SHARES_DAYS,
    setting: null,
  })
  if (days === null) return [expired]
  return [
    expired,
    {
      what: 'conversations',
      table: 'conversations',
      days,
      setting: 'RETENTION_DAYS',
      /** Messages and links go first, so that each transaction removes few rows. */
      async removeSlice(db, before) {
        return await transaction(db, async (tx) => {
          let removed = 0
          for (const [table, ...columns] of OF_CONVERSATION) {
            const key = sql.join(columns.map((column) => sql.ref(`m.${column}`)))
            const { numAffectedRows } = await sql`
              delete from ${sql.table(table)} where (${sql.join(columns.map((column) => sql.ref(column)))}) in (
                select ${key} from conversations as c
                join ${sql.table(table)} as m on m.user_id = c.user_id and m.conversation_id = c.id
                where c.updated_at < ${before} limit ${sql.lit(SLICE_ROWS - removed)})`.execute(tx)
            removed += Number(numAffectedRows ?? 0n)
            if (removed === SLICE_ROWS) return removed
          }
          const { rows } = await sql<{ user_id: string }>`
            delete from conversations where (user_id, id) in (
              select c.user_id, c.id from conversations as c where c.updated_at < ${before}
              and not exists (select 1 from conversation_messages as m
                where m.user_id = c.user_id and m.conversation_id = c.id)
              limit ${sql.lit(SLICE_ROWS - removed)}) returning user_id`.execute(tx)
          // Searches drop them from memory.
          const users = [...new Set(rows.map(({ user_id }) => user_id))].sort()
          for (const userId of users) await bumpRevision(tx, userId)
          return removed + rows.length
        })
      },
    },
  ]
}
