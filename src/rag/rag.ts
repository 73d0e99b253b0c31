// Retrieval-augmented generation: each user's own documents, searched by words and by vectors, and
// used for answers. Every query names its user, and nothing about documents, not even word counts,
// is shared.
import { gatewayProblems } from '#ai/problems.ts'
import { HOUR_MS, SECOND_MS } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import { answerRoutes } from './answer/routes.ts'
import { collectionRoutes } from './collections/routes.ts'
import { INDEX_JOB, openDeps, type RagNeeds } from './deps.ts'
import { eraseChunksSlice } from './documents/chunk-store.ts'
import { eraseDocuments } from './documents/document-store.ts'
import {
  DROP_INDEXES_JOB,
  dropIndexesIfEmpty,
  forgetEmptied,
  publishEmptied,
} from './documents/emptied.ts'
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
import { LIBRARY, RAG } from './mounts.ts'
import { eraseOriginals, REMOVE_JOB, removeFiles, sweepOriginals } from './originals/originals.ts'
import { ragProblem } from './problems.ts'
import { type RebuildProgress, readRebuildProgress } from './rebuild/progress.ts'
import { isOwnRebuild, rebuildVectors } from './rebuild/rebuild.ts'
import { enqueueRebuild, REBUILD_JOB, type RebuildJob } from './rebuild/store-embedder.ts'
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
  forgetEmptied(deps, [deps.indexes, deps.vectors])

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
    REBUILD_JOB,
    async (job: RebuildJob, context) => {
      if (!isOwnRebuild(deps, job, context.attempt > INGEST_DELAYS_MS.length)) return
      const users = await rebuildVectors(deps, context)
      if (users > 0) log.info({ users, embedder: deps.embedder?.id }, 'vectors were rebuilt')
    },
    { lane: 'long', delaysMs: INGEST_DELAYS_MS },
  )
  jobs.handle(DROP_INDEXES_JOB, (job: { userId: string }) => dropIndexesIfEmpty(deps, job), {
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
  addRebuildMetrics(platform, deps.embedder?.id ?? null)

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
      {
        name: 'library',
        description:
          'The documents of the app: the routes of `rag` for signed-in users, without API keys',
        problems: { ...gatewayProblems, ...ragProblem.catalogue },
      },
      { name: 'mcp', description: 'The Model Context Protocol', problems: ragProblem.catalogue },
    ],
    limits: { rag: platform.config.limits.rag },
    deps,
    async routes(app: App) {
      const watchers = new Map<string, number>()
      for (const mount of [RAG, LIBRARY]) {
        await ingestRoutes(app, mount, deps)
        ingestJobRoutes(app, mount, { ...deps, watchers })
        searchRoutes(app, mount, deps)
        documentRoutes(app, mount, deps)
        collectionRoutes(app, mount, deps)
        storageRoute(app, mount, deps)
      }
      answerRoutes(app, deps)
      mcpRoutes(app, deps)
    },
    // The folder of uploads and of jobs that read them; both may run in the process that has it.
    open: async () => sweepUploads(),
    /** Rebuilds vectors of another embedder or store; removes files without a document. */
    async start() {
      sweepUploads()
      await enqueueRebuild(deps, db)
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
      publishEmptied(deps, tx, userId)
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

/** Between two counts: frequent scrapes must not slow a database that is rebuilding. */
const READ_EVERY_MS = 30 * SECOND_MS

function addRebuildMetrics(
  { db, metrics, clock }: Pick<Platform, 'db' | 'metrics' | 'clock'>,
  embedder: string | null,
): void {
  let read: { atMs: number; progress: Promise<RebuildProgress> } | null = null
  const createReading = (pick: (progress: RebuildProgress) => number) => async () => {
    if (embedder === null) return [{ labels: {}, value: 0 }]
    if (read === null || clock.ms() - read.atMs >= READ_EVERY_MS) {
      read = { atMs: clock.ms(), progress: readRebuildProgress(db, embedder) }
      // The next scrape retries.
      read.progress.catch(() => {
        read = null
      })
    }
    return [{ labels: {}, value: pick(await read.progress) }]
  }
  metrics.readings(
    'latchkey_rag_users_to_rebuild',
    'Users whose searches compare words only until their vectors are rebuilt',
    createReading(({ users }) => users),
  )
  metrics.readings(
    'latchkey_rag_chunks_to_embed',
    'Chunks of these users without vectors of the configured embedder',
    createReading(({ total, done }) => total - done),
  )
}
