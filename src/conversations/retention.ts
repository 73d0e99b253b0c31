import { sql } from 'kysely'
import type { Config } from '#config/config.ts'
import { transaction } from '#platform/db/db.ts'
import { SLICE_ROWS } from '#platform/db/slices.ts'
import type { Aged } from '#platform/retention.ts'
import { bumpRevision } from './conversation-store.ts'

/** Removes conversations by the age of their last message. Without a setting they are kept. */
export function agedConversations({ retention }: Pick<Config, 'retention'>): Aged[] {
  const days = retention.conversationsDays
  if (days === null) return []
  return [
    {
      what: 'conversations',
      table: 'conversations',
      days,
      setting: 'RETENTION_DAYS',
      /** Messages go first, so that each transaction removes few rows. */
      async removeSlice(db, before) {
        return await transaction(db, async (tx) => {
          const messages = await sql`
            delete from conversation_messages where (user_id, conversation_id, id) in (
              select m.user_id, m.conversation_id, m.id from conversations as c
              join conversation_messages as m on m.user_id = c.user_id and m.conversation_id = c.id
              where c.updated_at < ${before} limit ${sql.lit(SLICE_ROWS)})`.execute(tx)
          const removed = Number(messages.numAffectedRows ?? 0n)
          if (removed === SLICE_ROWS) return removed
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
