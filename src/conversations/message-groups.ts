/** Reads many messages with few of them in memory: images make some messages large. */
import './tables.ts'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import type { StoreDeps } from './conversation-store.ts'
import { type Message, openMessage } from './message-store.ts'

/** A message without its content. `bytes`: the size of the content. */
export type SizedNode = { conversation_id: string; id: string; bytes: number }
export type OwnedMessage = Message & { conversationId: string }

const MESSAGES_PER_READ = 200
const BYTES_PER_READ = 4_000_000

/** Yields messages in the order of `nodes`; deleted ones are left out. */
export async function* streamMessages(
  deps: Pick<StoreDeps, 'db' | 'secrets'>,
  userId: string,
  nodes: readonly SizedNode[],
): AsyncGenerator<OwnedMessage> {
  for (const group of groupBySize(nodes)) yield* await readGroup(deps, userId, group)
}

/** Groups nodes whose contents fit into memory together. A larger message has a separate group. */
export function groupBySize(nodes: readonly SizedNode[]): SizedNode[][] {
  const groups: SizedNode[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const node of nodes) {
    bytes += node.bytes
    if (bytes > BYTES_PER_READ || (groups.at(-1)?.length ?? 0) >= MESSAGES_PER_READ) {
      groups.push([])
      bytes = node.bytes
    }
    groups.at(-1)?.push(node)
  }
  return groups
}

export async function readGroup(
  { db, secrets }: Pick<StoreDeps, 'db' | 'secrets'>,
  userId: string,
  nodes: readonly SizedNode[],
): Promise<OwnedMessage[]> {
  const rows = await db
    .selectFrom('conversation_messages')
    .selectAll()
    .where('user_id', '=', userId)
    .where('conversation_id', 'in', [...new Set(nodes.map((node) => node.conversation_id))])
    .where(
      'id',
      'in',
      nodes.map(({ id }) => id),
    )
    .execute()
  const byId = new Map(
    rows.map((row) => [
      row.id,
      { ...openMessage({ secrets }, row), conversationId: row.conversation_id },
    ]),
  )
  return nodes.flatMap(({ id }) => byId.get(id) ?? [])
}

/** Oldest first in each; a question is as old as its first answer, and comes before it. */
export function listEndedNodes(
  db: Db,
  userId: string,
  conversationIds: readonly string[],
): Promise<SizedNode[]> {
  return db
    .selectFrom('conversation_messages')
    .select(['conversation_id', 'id'])
    .select(sql<number>`length(parts_sealed)`.as('bytes'))
    .where('user_id', '=', userId)
    .where('conversation_id', 'in', conversationIds)
    .where('outcome', '<>', 'running')
    .orderBy('conversation_id')
    .orderBy('created_at')
    .orderBy('role', 'desc')
    .orderBy('id')
    .execute()
}
