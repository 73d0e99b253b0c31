/** Links to frozen copies of conversations: create, list, publish newer turns, end, open, copy. */
import { randomUUID } from 'node:crypto'
import type { Selectable } from 'kysely'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Caller } from '#platform/http/access-control.ts'
import type { Platform } from '#platform/platform.ts'
import { invalid } from '#platform/problems.ts'
import {
  type Conversation,
  findConversation,
  readConversations,
  type StoreDeps,
  tryLockConversation,
} from '../conversation-store.ts'
import { conversationProblem } from '../problems.ts'
import { openJson, sealJson } from '../sealing.ts'
import type { ConversationSharesTable } from '../tables.ts'
import { type Frozen, freezeBranch } from './frozen.ts'
import { createShareToken, readShareToken, type ShareKey } from './token.ts'

export type ShareDeps = StoreDeps &
  Pick<Platform, 'config'> & {
    /** Returns null when the user no longer exists. */
    callerNow(asker: Pick<Caller, 'userId' | 'keyId'>): Promise<Caller | null>
  }
type Row = Selectable<ConversationSharesTable>

export type Share = Omit<Row, 'user_id' | 'content_sealed'> & {
  token: string
  url: string
  title: string
  /** True when the conversation shows another message at its end. */
  hasNewer: boolean
}

/** In the order of creation; the list is not paged. */
const SHARES_MAX = 500

const describePlace = ({ userId, id }: ShareKey) => ({ userId, name: `share ${id}` })

export type ShareChange = {
  leafId?: string
  withSources?: boolean
  expiresAt?: string | null
}

/** @throws Problem 404; 409 answer_running, share_limit_reached; 413; 422 for an end in the past */
export async function createShare(
  deps: ShareDeps,
  userId: string,
  conversationId: string,
  wanted: Required<ShareChange>,
): Promise<Share> {
  requireFuture(deps, wanted.expiresAt)
  const conversation = await findConversation(deps, userId, conversationId)
  if (conversation === null) throw conversationProblem('conversation_not_found')
  const content = await freezeBranch(deps, userId, conversation, wanted)
  const key = { userId, id: randomUUID() }
  const now = deps.clock.now()
  const row = {
    id: key.id,
    conversation_id: conversationId,
    leaf_id: wanted.leafId,
    is_citing: wanted.withSources,
    expires_at: wanted.expiresAt,
    created_at: now,
    updated_at: now,
  }
  await transaction(deps.db, async (tx) => {
    // A deletion of the conversation ends its shares, also this one.
    if (!(await tryLockConversation(tx, userId, conversationId)))
      throw conversationProblem('conversation_not_found')
    await requireShareRoom(tx, userId)
    await tx
      .insertInto('conversation_shares')
      .values({
        ...row,
        user_id: userId,
        content_sealed: sealJson(deps.secrets, describePlace(key), content),
      })
      .execute()
  })
  return viewShare(deps, userId, row, conversation)
}

async function requireShareRoom(tx: Db, userId: string): Promise<void> {
  const rows = await tx
    .selectFrom('conversation_shares')
    .select('id')
    .where('user_id', '=', userId)
    .limit(SHARES_MAX)
    .execute()
  if (rows.length >= SHARES_MAX)
    throw conversationProblem('share_limit_reached', { max: SHARES_MAX })
}

/** Returns the user's shares, the newest first. */
export async function listShares(deps: ShareDeps, userId: string): Promise<Share[]> {
  const rows = await deps.db
    .selectFrom('conversation_shares')
    .select([
      'id',
      'conversation_id',
      'leaf_id',
      'is_citing',
      'expires_at',
      'created_at',
      'updated_at',
    ])
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
  const ids = [...new Set(rows.map((row) => row.conversation_id))]
  const conversations = await readConversations(deps, userId, ids)
  return rows.flatMap((row) => {
    const conversation = conversations.get(row.conversation_id)
    return conversation ? [viewShare(deps, userId, row, conversation)] : []
  })
}

function viewShare(
  { secrets, config }: Pick<ShareDeps, 'secrets' | 'config'>,
  userId: string,
  row: Omit<Row, 'user_id' | 'content_sealed'>,
  { title, leaf_id }: Conversation,
): Share {
  const token = createShareToken(secrets, { userId, id: row.id })
  const url = `${config.urls.frontend}/s/${token}`
  return { ...row, token, url, title, hasNewer: leaf_id !== row.leaf_id }
}

/**
 * Publishes the messages up to `leafId` at the same address, with or without sources, or changes the
 * end of the link. An empty change publishes the branch that the conversation shows.
 * @throws Problem as `createShare`, and 404 share_not_found
 */
export async function updateShare(
  deps: ShareDeps,
  key: ShareKey,
  { leafId, withSources, expiresAt }: ShareChange,
): Promise<Share> {
  if (expiresAt !== undefined) requireFuture(deps, expiresAt)
  const row = await findShare(deps.db, key)
  const conversation = row && (await findConversation(deps, key.userId, row.conversation_id))
  if (!row || !conversation) throw conversationProblem('share_not_found')
  const { content_sealed, ...before } = row
  const isEmpty = leafId === undefined && withSources === undefined && expiresAt === undefined
  const selection = {
    leafId: leafId ?? (isEmpty ? conversation.leaf_id : null) ?? row.leaf_id,
    withSources: withSources ?? row.is_citing,
  }
  const isPublished = isEmpty || leafId !== undefined || withSources !== undefined
  const content = isPublished
    ? await freezeBranch(deps, key.userId, conversation, selection)
    : openJson<Frozen>(deps.secrets, describePlace(key), content_sealed)
  const change = {
    leaf_id: selection.leafId,
    is_citing: selection.withSources,
    expires_at: expiresAt === undefined ? row.expires_at : expiresAt,
    updated_at: isPublished ? deps.clock.now() : row.updated_at,
  }
  const { numUpdatedRows } = await deps.db
    .updateTable('conversation_shares')
    .set({ ...change, content_sealed: sealJson(deps.secrets, describePlace(key), content) })
    .where('user_id', '=', key.userId)
    .where('id', '=', key.id)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw conversationProblem('share_not_found')
  return viewShare(deps, key.userId, { ...before, ...change }, conversation)
}

/** @throws Problem 404 share_not_found */
export async function endShare({ db }: Pick<StoreDeps, 'db'>, key: ShareKey): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom('conversation_shares')
    .where('user_id', '=', key.userId)
    .where('id', '=', key.id)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw conversationProblem('share_not_found')
}

function findShare(db: Db, { userId, id }: ShareKey): Promise<Row | undefined> {
  return db
    .selectFrom('conversation_shares')
    .selectAll()
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export type SharedConversation = Frozen & {
  createdAt: string
  updatedAt: string
  withSources: boolean
}

/** @throws Problem 404 for a token that never was one; 410 share_ended */
export async function openShare(deps: ShareDeps, token: string): Promise<SharedConversation> {
  return (await openShareRow(deps, token)).shared
}

/** Returns the share's key as well. @throws Problem as `openShare` */
export async function openShareRow(deps: ShareDeps, token: string) {
  const key = readShareToken(deps.secrets, token)
  if (key === null) throw conversationProblem('share_not_found')
  const row = await findShare(deps.db, key)
  if (row === undefined || (row.expires_at !== null && row.expires_at <= deps.clock.now()))
    throw conversationProblem('share_ended')
  const owner = await deps.callerNow({ userId: key.userId, keyId: null })
  if (!owner?.isActive) throw conversationProblem('share_ended')
  const shared: SharedConversation = {
    ...openJson<Frozen>(deps.secrets, describePlace(key), row.content_sealed),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    withSources: row.is_citing,
  }
  return { key, shared }
}

function requireFuture({ clock }: Pick<StoreDeps, 'clock'>, expiresAt: string | null): void {
  if (expiresAt !== null && Date.parse(expiresAt) <= clock.ms())
    throw invalid(['body', 'expires_at'], 'Should be in the future')
}
