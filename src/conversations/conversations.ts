/**
 * Conversations: questions and answers of each user, sealed in the database, as a tree of messages
 * of which one branch is shown.
 */
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import type { Room } from '#platform/room.ts'
import { eraseConversations, eraseMessagesSlice, PURGE_JOB, purgeMessages } from './deletion.ts'
import { conversationProblem } from './problems.ts'
import { conversationRoutes } from './routes.ts'

export function createConversations(
  platform: Pick<Platform, 'config' | 'db' | 'clock' | 'jobs' | 'secrets'>,
): Room {
  platform.jobs.handle(
    PURGE_JOB,
    ({ userId }: { userId: string }) => purgeMessages(platform, userId),
    { lane: 'bulk' },
  )
  return {
    tags: [
      {
        name: 'conversations',
        description: 'Conversations with models and documents, kept for the user',
        problems: conversationProblem.catalogue,
      },
    ],
    routes(app: App) {
      if (platform.config.conversations) conversationRoutes(app, platform)
    },
    erase: eraseConversations,
    eraseSlices: [eraseMessagesSlice],
  }
}
