/**
 * Conversations: questions and answers of each user, sealed in the database, as a tree of messages
 * of which one branch is shown.
 */
import { afterCommit, type Db } from '#platform/db/db.ts'
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import type { Room } from '#platform/room.ts'
import { eraseConversations, eraseMessagesSlice, PURGE_JOB, purgeMessages } from './deletion.ts'
import { conversationProblem } from './problems.ts'
import { conversationRoutes } from './routes.ts'
import { ConversationIndexes } from './search/conversation-index.ts'
import { conversationSettingsRoutes } from './settings-routes.ts'
import { shareRoutes } from './shares/routes.ts'
import type { ShareDeps } from './shares/shares.ts'

/** Frees the memory of a deleted user on every node. */
const ERASED = 'conversations.erased'

export function createConversations(
  platform: Pick<Platform, 'config' | 'db' | 'clock' | 'jobs' | 'secrets' | 'bus'>,
  { callerNow }: Pick<ShareDeps, 'callerNow'>,
): Room {
  platform.jobs.handle(
    PURGE_JOB,
    ({ userId }: { userId: string }) => purgeMessages(platform, userId),
    { lane: 'bulk' },
  )
  const indexes = new ConversationIndexes(platform)
  platform.bus.on(ERASED, (payload) => indexes.forget((payload as { userId: string }).userId))
  return {
    tags: [
      {
        name: 'conversations',
        description: 'Conversations with models and documents, kept for the user',
        problems: conversationProblem.catalogue,
      },
    ],
    routes(app: App) {
      if (!platform.config.conversations) return
      conversationRoutes(app, { ...platform, indexes })
      conversationSettingsRoutes(app, platform)
      shareRoutes(app, { ...platform, callerNow })
    },
    async erase(tx: Db, userId: string) {
      await eraseConversations(tx, userId)
      afterCommit(tx, () => platform.bus.publish(ERASED, { userId }))
    },
    eraseSlices: [eraseMessagesSlice],
  }
}
