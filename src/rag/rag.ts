/**
 * Retrieval-augmented generation: each user's own documents, stored as chunks, searched by words and by vectors, and answered from.
 * Every query names its user, and nothing about one user's documents, not even word counts, is shared with another.
 */
import { gatewayProblems } from '#ai/problems.ts'
import type { Db } from '#platform/db/db.ts'
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import { answerRoutes } from './answer/routes.ts'
import { openDeps, type RagNeeds } from './deps.ts'
import { eraseDocuments } from './documents/document-store.ts'
import { sweepChunks } from './documents/documents.ts'
import { collectDocuments } from './documents/export.ts'
import { documentRoutes } from './documents/routes.ts'
import { storageRoute } from './documents/storage.ts'
import { reembed } from './ingest/reembed.ts'
import { ingestRoutes } from './ingest/routes.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { ragProblem } from './problems.ts'
import { searchRoutes } from './search/routes.ts'

export type Rag = Awaited<ReturnType<typeof createRag>>

export async function createRag(platform: Platform, needs: RagNeeds) {
  const { db, jobs, log } = platform
  const deps = await openDeps(platform, needs)

  jobs.handle('rag.sweep', (payload: { userId: string; version: string }) => sweepChunks(deps, payload))
  jobs.handle('rag.renew', async (_, { signal }) => {
    const renewed = await reembed(deps, signal)
    if (renewed > 0) log.info({ documents: renewed, embedder: deps.embedder?.id }, 'documents were embedded again')
  })

  return {
    tags: [
      {
        name: 'rag',
        description: 'Documents: store, search, ask',
        problems: { ...gatewayProblems, ...ragProblem.catalogue },
      },
      { name: 'mcp', description: 'The Model Context Protocol', problems: ragProblem.catalogue },
    ],
    limits: { rag: platform.config.limits.rag },
    deps,
    async routes(app: App) {
      await ingestRoutes(app, deps)
      searchRoutes(app, deps)
      answerRoutes(app, deps)
      documentRoutes(app, deps)
      storageRoute(app, deps)
      mcpRoutes(app, deps)
    },
    /** Looks for documents that another embedder or vector store has left behind. */
    start: () => jobs.enqueue(db, 'rag.renew', {}, { key: 'rag.renew' }),
    async erase(tx: Db, userId: string) {
      await deps.vectors.erase(tx, userId)
      await eraseDocuments(tx, userId)
      deps.shelves.forget(userId)
    },
    collect: collectDocuments,
    async close() {
      await Promise.all([deps.parser.close(), deps.pipeline.close()])
    },
  }
}
