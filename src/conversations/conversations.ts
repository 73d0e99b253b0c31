/** Conversations: each user's sealed questions and answers, a tree of which one branch is shown. */
import { gatewayProblems } from '#ai/problems.ts'
import { afterCommit, type Db } from '#platform/db/db.ts'
import type { Entitlements } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import type { Room } from '#platform/room.ts'
import type { RagDeps } from '#rag/deps.ts'
import { ModelSpeeds } from './answer/model-speeds.ts'
import { answerRoutes, temporaryRoutes } from './answer/routes.ts'
import { RunningAnswers } from './answer/running-answers.ts'
import { eraseConversations, eraseMessagesSlice, PURGE_JOB, purgeMessages } from './deletion.ts'
import { conversationProblem } from './problems.ts'
import { conversationRoutes } from './routes.ts'
import { ConversationIndexes } from './search/conversation-index.ts'
import { conversationSettingsRoutes } from './settings-routes.ts'
import { shareRoutes } from './shares/routes.ts'
import { collectConversations } from './transfer/export.ts'
import { transferRoutes } from './transfer/routes.ts'

/** Frees the memory of a deleted user on every node. */
const ERASED = 'conversations.erased'

export type ConversationNeeds = {
  rag: RagDeps
  /** @throws Problem 403 where the caller's plan does not grant what a policy needs */
  requireGrant: Entitlements['require']
}

export function createConversations(
  platform: Pick<Platform, 'config' | 'db' | 'clock' | 'jobs' | 'secrets' | 'log' | 'bus'>,
  { rag, requireGrant }: ConversationNeeds,
): Room {
  const answers = new RunningAnswers(platform)
  const askDeps = { ...platform, rag, requireGrant, answers, speeds: new ModelSpeeds() }
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
        problems: { ...gatewayProblems, ...conversationProblem.catalogue },
      },
    ],
    async routes(app: App) {
      temporaryRoutes(app, askDeps)
      if (!platform.config.conversations) return
      conversationRoutes(app, { ...platform, indexes })
      conversationSettingsRoutes(app, platform)
      answerRoutes(app, askDeps)
      await transferRoutes(app, platform)
      shareRoutes(app, { ...platform, callerNow: rag.callerNow })
    },
    open: () => answers.open(),
    stop: () => answers.stopSweeping(),
    drain: (ms) => answers.drain(ms),
    close: () => answers.close(),
    async erase(tx: Db, userId: string) {
      await eraseConversations(tx, userId)
      afterCommit(tx, () => platform.bus.publish(ERASED, { userId }))
    },
    collect: (db: Db, userId: string) => collectConversations(platform, db, userId),
    eraseSlices: [eraseMessagesSlice],
  }
}
