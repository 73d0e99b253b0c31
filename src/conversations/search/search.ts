/** Searches a user's conversations: ranks them in memory, then reads the lines of one page. */
import { invalid } from '#platform/problems.ts'
import { joinText } from '../content.ts'
import type { Listed } from '../conversation-list.ts'
import { readConversations, type StoreDeps } from '../conversation-store.ts'
import { listRunning } from '../message-store.ts'
import { readMessage } from '../messages.ts'
import type { ConversationIndexes } from './conversation-index.ts'
import { type Found, findConversations, readQuery, type SearchFilter } from './find.ts'
import { createMarker, findLine, type Marker, type MatchedLine } from './lines.ts'

const PAGE_SIZE = 20

export type Match = MatchedLine & { message_id: string | null }
export type FoundConversation = Listed & { matches: Match[] }
type Deps = Pick<StoreDeps, 'db' | 'secrets'> & { indexes: ConversationIndexes }

/** @throws Problem 422 for an invalid cursor */
export async function searchConversations(
  deps: Deps,
  userId: string,
  { q, cursor, ...filter }: SearchFilter & { q: string; cursor?: string | undefined },
): Promise<{ conversations: FoundConversation[]; next_cursor: string | null }> {
  const from = cursor === undefined ? 0 : readOffset(cursor)
  const { page, count } = await deps.indexes.use(userId, (index) => {
    const found = findConversations(index, readQuery(index.words, q), filter)
    return { page: found.slice(from, from + PAGE_SIZE), count: found.length }
  })
  const rows = await readConversations(
    deps,
    userId,
    page.map(({ conversationId }) => conversationId),
  )
  const running = await listRunning(deps.db, userId)
  const marker = createMarker(q)
  const conversations: FoundConversation[] = []
  for (const found of page) {
    const row = rows.get(found.conversationId)
    // Deleted since the ranking.
    if (row === undefined) continue
    const matches = await readMatches(deps, userId, row.title, found, marker)
    conversations.push({ ...row, isRunning: running.has(row.id), matches })
  }
  const isMore = from + PAGE_SIZE < count
  return { conversations, next_cursor: isMore ? encodeOffset(from + PAGE_SIZE) : null }
}

async function readMatches(
  deps: Deps,
  userId: string,
  title: string,
  { conversationId, messageIds }: Found,
  marker: Marker,
): Promise<Match[]> {
  const matches: Match[] = []
  for (const id of messageIds) {
    const message = id === null ? null : await readMessage(deps, { userId, conversationId, id })
    const text = id === null ? title : message && joinText(message)
    const line = text === null ? null : findLine(text, marker)
    if (line !== null) matches.push({ message_id: id, ...line })
  }
  return matches
}

const encodeOffset = (offset: number) => Buffer.from(`found ${offset}`).toString('base64url')

function readOffset(cursor: string): number {
  const [, digits] = /^found (\d{1,7})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (digits === undefined) throw invalid(['query', 'cursor'], 'Unknown cursor')
  return Number(digits)
}
