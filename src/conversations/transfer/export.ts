/** Conversations as JSON: the person's own file, and their part of the export of all data. */
import type { Db } from '#platform/db/db.ts'
import type { Collected } from '#platform/room.ts'
import { type Conversation, openConversation, type StoreDeps } from '../conversation-store.ts'
import {
  groupBySize,
  listEndedNodes,
  type OwnedMessage,
  readGroup,
  type SizedNode,
  streamMessages,
} from '../message-groups.ts'

type Deps = Pick<StoreDeps, 'db' | 'secrets'>

const CONVERSATIONS_PER_READ = 200

/** Yields one JSON document in pieces; only a few messages are in memory. */
export async function* exportConversations(
  deps: Deps,
  userId: string,
  exportedAt: string,
): AsyncGenerator<string> {
  yield `{"format":"conversations","version":1,"exported_at":"${exportedAt}","conversations":[`
  let separator = ''
  for await (const conversation of streamConversations(deps, userId)) {
    const { messages: _, ...head } = { ...exportedConversation(conversation), messages: [] }
    yield `${separator}\n${JSON.stringify(head).slice(0, -1)},"messages":[`
    separator = ','
    let comma = ''
    const nodes = await listEndedNodes(deps.db, userId, [conversation.id])
    for await (const message of streamMessages(deps, userId, nodes)) {
      yield `${comma}\n${JSON.stringify(exportedMessage(message))}`
      comma = ','
    }
    yield ']}'
  }
  yield ']}\n'
}

async function* streamConversations(deps: Deps, userId: string): AsyncGenerator<Conversation> {
  let after = ''
  while (true) {
    const rows = await deps.db
      .selectFrom('conversations')
      .selectAll()
      .where('user_id', '=', userId)
      .where('id', '>', after)
      .orderBy('id')
      .limit(CONVERSATIONS_PER_READ)
      .execute()
    for (const row of rows) yield openConversation(deps, row)
    const last = rows.at(-1)
    if (last === undefined || rows.length < CONVERSATIONS_PER_READ) return
    after = last.id
  }
}

function exportedConversation({ revision, ...conversation }: Conversation) {
  return conversation
}

function exportedMessage({ conversationId, events, updated_at, ...message }: OwnedMessage) {
  return message
}

/** The list, messages in files of a few megabytes, links, and the choice to keep them. */
export async function collectConversations(
  { secrets }: Pick<StoreDeps, 'secrets'>,
  db: Db,
  userId: string,
): Promise<Collected> {
  const deps = { db, secrets }
  const conversations: Conversation[] = []
  for await (const one of streamConversations(deps, userId)) conversations.push(one)
  const nodes: SizedNode[] = []
  for (let from = 0; from < conversations.length; from += CONVERSATIONS_PER_READ) {
    const ids = conversations.slice(from, from + CONVERSATIONS_PER_READ).map(({ id }) => id)
    nodes.push(...(await listEndedNodes(db, userId, ids)))
  }
  const settings = await db
    .selectFrom('conversation_settings')
    .select('is_keeping')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  const shares = await db
    .selectFrom('conversation_shares')
    .select(['id', 'conversation_id', 'leaf_id', 'is_citing', 'expires_at', 'created_at'])
    .select('updated_at')
    .where('user_id', '=', userId)
    .execute()
  const files = groupBySize(nodes).map((group, at) => [
    `conversations/${at + 1}`,
    async () =>
      (await readGroup(deps, userId, group)).map((message) => ({
        conversation_id: message.conversationId,
        ...exportedMessage(message),
      })),
  ])
  return {
    conversations: conversations.map(exportedConversation),
    conversation_settings: { keeps_conversations: settings?.is_keeping ?? true },
    conversation_links: shares,
    ...Object.fromEntries(files),
  }
}
