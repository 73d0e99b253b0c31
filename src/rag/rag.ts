/**
 * Retrieval-augmented generation: each user's own documents, stored as chunks, searched by words and by vectors, and answered from.
 * Every query names its user, and nothing about one user's documents, not even word counts, is shared with another.
 */
import { gatewayProblems } from '#ai/problems.ts'
import { HOUR_MS, SECOND_MS } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import { answerRoutes } from './answer/routes.ts'
import { INDEX_JOB, openDeps, type RagNeeds } from './deps.ts'
import { eraseChunksSlice } from './documents/chunk-store.ts'
import { eraseDocuments } from './documents/document-store.ts'
import { forgetEmptied, letGo } from './documents/emptied.ts'
import { collectDocuments } from './documents/export.ts'
import { documentRoutes } from './documents/routes.ts'
import { storageRoute } from './documents/storage.ts'
import { ingestJobRoutes } from './ingest/ingest-job-routes.ts'
import { eraseInputsSlice } from './ingest/ingest-job-store.ts'
import {
  eraseIngestJobs,
  INGEST_DELAYS_MS,
  INGEST_JOB,
  runIngestJob,
  sweepIngest,
} from './ingest/ingest-jobs.ts'
import { createIngestPipeline } from './ingest/ingest-pipeline.ts'
import { createParser, JOB_WALL_MS } from './ingest/parsers/parser.ts'
import { ingestRoutes } from './ingest/routes.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { eraseOriginals, REMOVE_JOB, removeFiles, sweepOriginals } from './originals/originals.ts'
import { ragProblem } from './problems.ts'
import { type Renewal, renewalOf } from './renewal/progress.ts'
import { renew, requireOwn } from './renewal/renewal.ts'
import {
  RENEW_JOB,
  type RenewJob,
  renewLater,
  TIDY_JOB,
  type TidyJob,
  tidyVectors,
} from './renewal/serving.ts'
import { searchRoutes } from './search/routes.ts'
import { type Indexed, makeIndex } from './search/stores/hnsw.ts'

export type Rag = Awaited<ReturnType<typeof createRag>>

export async function createRag(
  platform: Pick<
    Platform,
    'config' | 'db' | 'clock' | 'jobs' | 'bus' | 'secrets' | 'log' | 'metrics'
  >,
  needs: RagNeeds,
) {
  const { db, jobs, log } = platform
  const deps = await openDeps(platform, needs)
  forgetEmptied(deps, [deps.shelves, deps.vectors])

  jobs.handle(REMOVE_JOB, (payload: { ids: string[] }) => removeFiles(deps, payload), {
    lane: 'bulk',
  })
  const parser = createParser(deps, { wallMs: JOB_WALL_MS })
  const ingestJobDeps = { ...deps, pipeline: createIngestPipeline(), parser }
  jobs.handle(
    INGEST_JOB,
    (payload: { userId: string }, context) => runIngestJob(ingestJobDeps, payload, context),
    { lane: 'long', delaysMs: INGEST_DELAYS_MS },
  )
  jobs.handle(
    'rag.sweep',
    (payload: { userId: string; version: string }) => sweepIngest(deps, payload),
    { lane: 'bulk' },
  )
  jobs.handle(
    RENEW_JOB,
    async (job: RenewJob, context) => {
      if (!requireOwn(deps, job, context.attempt > INGEST_DELAYS_MS.length)) return
      const users = await renew(deps, context)
      if (users > 0)
        log.info({ users, embedder: deps.embedder?.id }, 'documents were embedded anew')
    },
    { lane: 'long', delaysMs: INGEST_DELAYS_MS },
  )
  jobs.handle(TIDY_JOB, (payload: TidyJob, { signal }) => tidyVectors(deps, payload, signal), {
    lane: 'bulk',
  })

  jobs.handle(
    INDEX_JOB,
    async (of: Indexed) => {
      if (!(await makeIndex(db, platform.config.databaseUrl ?? '', of)))
        log.warn({ user: of.userId }, 'there are too many indexes of large users for one more')
    },
    { lane: 'long', atOnce: 1 },
  )
  renewalMetrics(platform, deps.embedder?.id ?? null)

  let sweeping: NodeJS.Timeout | undefined
  function sweepUploads(): void {
    const left = deps.temporaryFiles.sweep(log)
    if (left > 0) log.info({ files: left }, 'uploads that a process left when it died were removed')
  }
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
    // Where uploads arrive, and where jobs read them again: both may be the one process that has this folder.
    open: async () => sweepUploads(),
    /** Looks for documents that another embedder or vector store has left behind, and for files without a document. */
    async start() {
      sweepUploads()
      await renewLater(deps, db)
      const sweep = () =>
        sweepOriginals(deps).catch((error) =>
          log.warn({ err: error }, 'files of ingests that died were not removed'),
        )
      void sweep()
      sweeping = setInterval(sweep, HOUR_MS).unref()
    },
    stop: () => clearInterval(sweeping),
    async erase(tx: Db, userId: string) {
      await eraseIngestJobs(deps, tx, userId)
      await eraseOriginals(deps, tx, userId)
      await eraseDocuments(tx, userId)
      letGo(deps, tx, userId)
    },
    eraseSlices: [
      eraseChunksSlice,
      eraseInputsSlice,
      (db: Db, userId: string) => deps.vectors.eraseSlice(db, userId),
    ],
    collect: (db: Db, userId: string) => collectDocuments(deps, db, userId),
    async close() {
      await Promise.all(
        [deps, ingestJobDeps].flatMap(({ parser, pipeline }) => [parser.close(), pipeline.close()]),
      )
      deps.temporaryFiles.close()
    },
  }
}

/** Read at most every so often: a scrape must not cost a database much that is busy with the change itself. */
const READ_EVERY_MS = 30 * SECOND_MS

function renewalMetrics(
  { db, metrics, clock }: Pick<Platform, 'db' | 'metrics' | 'clock'>,
  embedder: string | null,
): void {
  let read: { atMs: number; renewal: Promise<Renewal> } | null = null
  const reading = (pick: (renewal: Renewal) => number) => async () => {
    if (embedder === null) return [{ labels: {}, value: 0 }]
    if (read === null || clock.ms() - read.atMs >= READ_EVERY_MS) {
      read = { atMs: clock.ms(), renewal: renewalOf(db, embedder) }
      // Asked again at the next scrape.
      read.renewal.catch(() => {
        read = null
      })
    }
    return [{ labels: {}, value: pick(await read.renewal) }]
  }
  metrics.readings(
    'latchkey_rag_users_to_renew',
    'Users whose documents are searched by the embedder before the one that is set, or by words alone',
    reading(({ users }) => users),
  )
  metrics.readings(
    'latchkey_rag_chunks_to_embed',
    'Chunks of these users without vectors of the embedder that is set',
    reading(({ total, done }) => total - done),
  )
}
