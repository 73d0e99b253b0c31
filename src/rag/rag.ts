/**
 * Retrieval-augmented generation: each user's own documents, stored as chunks, searched by words and by vectors, and answered from.
 * Every query names its user, and nothing about one user's documents, not even word counts, is shared with another.
 */
import { gatewayProblems } from '#ai/problems.ts'
import { HOUR_MS } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import { answerRoutes } from './answer/routes.ts'
import { openDeps, type RagNeeds } from './deps.ts'
import { eraseChunksSlice } from './documents/chunk-store.ts'
import { eraseDocuments } from './documents/document-store.ts'
import { collectDocuments } from './documents/export.ts'
import { documentRoutes } from './documents/routes.ts'
import { storageRoute } from './documents/storage.ts'
import { ingestJobRoutes } from './ingest/ingest-job-routes.ts'
import { eraseInputsSlice } from './ingest/ingest-job-store.ts'
import { eraseIngestJobs, INGEST_DELAYS_MS, INGEST_JOB, runIngestJob, sweepIngest } from './ingest/ingest-jobs.ts'
import { createIngestPipeline } from './ingest/ingest-pipeline.ts'
import { createParser } from './ingest/parsers/parser.ts'
import { reembed } from './ingest/reembed.ts'
import { ingestRoutes } from './ingest/routes.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { eraseOriginals, REMOVE_JOB, removeFiles, sweepOriginals } from './originals/originals.ts'
import { ragProblem } from './problems.ts'
import { searchRoutes } from './search/routes.ts'

export type Rag = Awaited<ReturnType<typeof createRag>>

export async function createRag(platform: Platform, needs: RagNeeds) {
  const { db, jobs, log } = platform
  const deps = await openDeps(platform, needs)

  jobs.handle(REMOVE_JOB, (payload: { ids: string[] }) => removeFiles(deps, payload), { lane: 'bulk' })
  const ingestJobDeps = { ...deps, pipeline: createIngestPipeline(), parser: createParser(deps.temporaryFiles) }
  jobs.handle(INGEST_JOB, (payload: { userId: string }, context) => runIngestJob(ingestJobDeps, payload, context), {
    lane: 'long',
    delaysMs: INGEST_DELAYS_MS,
  })
  jobs.handle('rag.sweep', (payload: { userId: string; version: string }) => sweepIngest(deps, payload), {
    lane: 'bulk',
  })
  jobs.handle(
    'rag.renew',
    async (_, context) => {
      const renewed = await reembed(deps, context)
      if (renewed > 0) log.info({ documents: renewed, embedder: deps.embedder?.id }, 'documents were embedded again')
    },
    { lane: 'long' },
  )

  let sweeping: NodeJS.Timeout | undefined
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
      ingestJobRoutes(app, deps)
      searchRoutes(app, deps)
      answerRoutes(app, deps)
      documentRoutes(app, deps)
      storageRoute(app, deps)
      mcpRoutes(app, deps)
    },
    /** Looks for documents that another embedder or vector store has left behind, and for files without a document. */
    async start() {
      const left = deps.temporaryFiles.sweep()
      if (left > 0) log.info({ files: left }, 'uploads that a process left when it died were removed')
      await jobs.enqueue(db, 'rag.renew', {}, { key: 'rag.renew' })
      const sweep = () =>
        sweepOriginals(deps).catch((error) => log.warn({ err: error }, 'files of ingests that died were not removed'))
      void sweep()
      sweeping = setInterval(sweep, HOUR_MS).unref()
    },
    stop: () => clearInterval(sweeping),
    async erase(tx: Db, userId: string) {
      await eraseIngestJobs(deps, tx, userId)
      await eraseOriginals(deps, tx, userId)
      await eraseDocuments(tx, userId)
      deps.shelves.forget(userId)
      deps.vectors.forget(userId)
    },
    eraseSlices: [eraseChunksSlice, eraseInputsSlice, (db: Db, userId: string) => deps.vectors.eraseSlice(db, userId)],
    collect: (db: Db, userId: string) => collectDocuments(deps, db, userId),
    async close() {
      await Promise.all([deps, ingestJobDeps].flatMap(({ parser, pipeline }) => [parser.close(), pipeline.close()]))
      deps.temporaryFiles.close()
    },
  }
}
