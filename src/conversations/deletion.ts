// Deletion: a conversation's row goes first, so that nobody reads it; messages follow in slices.
import { sql } from 'kysely'
import { type Db, transaction } from '#platform/db/db.ts'
import { deleteSlice, inSlices, SLICE_ROWS } from '#platform/db/slices.ts'
import type { Platform } from '#platform/platform.ts'
import { bumpRevision, tryLockConversation } from './conversation-store.ts'
import { conversationProblem } from './problems.ts'

/** Deletes the messages of deleted conversations. */
export const PURGE_JOB = 'conversations.purge'

type Deps = Pick<Platform, 'db' | 'jobs'>

/** @throws Problem 404 conversation_not_found */
export async function deleteConversation({ db }: Deps, userId: string, id: string): Promise<void> {
  await transaction(db, async (tx) => {
    if (!(await tryLockConversation(tx, userId, id)))
      throw conversationProblem('conversation_not_found')
    await tx
      .deleteFrom('conversations')
      .where('user_id', '=', userId)
      .where('id', '=', id)
      .execute()
    for (const table of ['conversation_messages', 'conversation_shares'] as const) {
      await tx
        .deleteFrom(table)
        .where('user_id', '=', userId)
        .where('conversation_id', '=', id)
        .execute()
    }
    await bumpRevision(tx, userId)
  })
}

export async function deleteAllConversations({ db, jobs }: Deps, userId: string): Promise<void> {
  await transaction(db, async (tx) => {
    await deleteRows(tx, userId)
    await bumpRevision(tx, userId)
    await jobs.enqueue(tx, PURGE_JOB, { userId }, { key: `${PURGE_JOB}:${userId}` })
  })
}

async function deleteRows(tx: Db, userId: string): Promise<void> {
  await tx.deleteFrom('conversations').where('user_id', '=', userId).execute()
  await tx.deleteFrom('conversation_shares').where('user_id', '=', userId).execute()
}

/** Removes everything but the messages, which `eraseMessagesSlice` removes. */
export async function eraseConversations(tx: Db, userId: string): Promise<void> {
  await deleteRows(tx, userId)
  await tx.deleteFrom('conversation_settings').where('user_id', '=', userId).execute()
}

export function eraseMessagesSlice(db: Db, userId: string): Promise<number> {
  const key = ['conversation_id', 'id']
  return deleteSlice(db, 'conversation_messages', key, sql`user_id = ${userId}`)
}

/** Messages without a conversation; a new one is inserted with its conversation. */
export async function purgeMessages({ db }: Pick<Deps, 'db'>, userId: string): Promise<void> {
  await inSlices(async () => {
    const { numAffectedRows } = await sql`
      delete from conversation_messages where (user_id, conversation_id, id) in (
        select m.user_id, m.conversation_id, m.id from conversation_messages as m
        where m.user_id = ${userId} and not exists (
          select 1 from conversations as c where c.user_id = m.user_id and c.id = m.conversation_id)
        limit ${sql.lit(SLICE_ROWS)})`.execute(db)
    return Number(numAffectedRows ?? 0n)
  })
}
