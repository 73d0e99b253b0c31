/** Opens the dependencies of rag once; each function declares the ones that it uses. */
import './tables.ts'
import { join } from 'node:path'
import type { Gateway } from '#ai/gateway.ts'
import { findLimits, type PlanLimits, type Tier } from '#catalogue/catalogue.ts'
import type { Caller, Entitlements } from '#platform/http/access-control.ts'
import type { Platform } from '#platform/platform.ts'
import { createTemporaryFiles } from '#platform/temporary-files.ts'
import { createIngestPipeline, LONG_BYTES } from './ingest/ingest-pipeline.ts'
import { createParser } from './ingest/parsers/parser.ts'
import { openFilePlace } from './originals/file-place.ts'
import { openVectors } from './search/stores/vectors.ts'
import { UserIndexes } from './search/user-index.ts'
import { createEmbedder } from './vendor-embedder.ts'

/** Creates the HNSW index of a user with many vectors. */
export const INDEX_JOB = 'rag.index'

export type RagNeeds = {
  gateway: Gateway
  /** The version of this service. */
  version: string
  /** Returns a job's current user and key; null when either no longer exists. */
  callerNow(asker: Pick<Caller, 'userId' | 'keyId'>): Promise<Caller | null>
  /** @throws Problem 403 where the caller's plan does not grant what a policy needs */
  requireGrant: Entitlements['require']
}

export type RagDeps = Awaited<ReturnType<typeof openDeps>>

export async function openDeps(
  platform: Pick<Platform, 'config' | 'db' | 'clock' | 'jobs' | 'bus' | 'secrets' | 'log'>,
  needs: RagNeeds,
) {
  const { db, clock, jobs, bus, log, config, secrets } = platform
  const searchMemoryBytes =
    config.searchMemoryMb === null ? undefined : config.searchMemoryMb * 1024 * 1024
  const temporaryFiles = createTemporaryFiles(join(config.dataDir, 'tmp'), {
    memoryBytes: LONG_BYTES,
  })
  const vectors = await openVectors(
    { db },
    {
      cacheBytesMax: searchMemoryBytes,
      onLarge: (of) => jobs.enqueue(db, INDEX_JOB, of, { key: `${INDEX_JOB}:${of.userId}` }),
    },
  )
  return {
    db,
    clock,
    jobs,
    bus,
    log,
    secrets,
    /** The storage of originals; null: originals are not stored. */
    files:
      config.originals === null
        ? null
        : await openFilePlace(db, config.originals, config.products.s3),
    gateway: needs.gateway,
    callerNow: needs.callerNow,
    requireGrant: needs.requireGrant,
    /** Null: documents are compared by their words alone. */
    embedder: createEmbedder(needs.gateway, config.embedder, vectors.name),
    /** The model that rewrites follow-up questions; null: none. */
    followUpModel: config.followUpModel,
    /** The model that reranks results; null: none. */
    rerankModel: config.rerankModel,
    vectors,
    /** Holds uploads until they are stored. */
    temporaryFiles,
    parser: createParser({ temporaryFiles, log }),
    pipeline: createIngestPipeline(),
    indexes: new UserIndexes({ db }, { bytesMax: searchMemoryBytes }),
    planLimits: (tier: Tier): PlanLimits => findLimits(config.catalogue, tier),
    maxTextBytes: config.maxTextBytes,
    maxFileBytes: config.maxFileBytes,
    urls: config.urls,
    brand: config.brand,
    version: needs.version,
  }
}
