/** What rag's rules may touch, opened once; each rule picks its own of it. */
import './tables.ts'
import type { Gateway } from '#ai/gateway.ts'
import type { Embedder } from '#embeddings/embedder.ts'
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { createIngestPipeline } from './ingest/ingest-pipeline.ts'
import { createParser } from './ingest/parsers/parser.ts'
import { createCorpusStats } from './search/corpus-stats.ts'
import { openByteVectors } from './search/stores/bytes.ts'
import { openPgvector } from './search/stores/pgvector.ts'
import type { VectorStore } from './search/stores/vector-store.ts'
import { type MeteredEmbedder, vendorEmbedder } from './vendor-embedder.ts'

export type RagNeeds = {
  gateway: Gateway
  localEmbedder: Embedder
  /** Of this service. */
  version: string
}

export type RagDeps = Awaited<ReturnType<typeof openDeps>>

export async function openDeps(platform: Platform, needs: RagNeeds) {
  const { db, clock, jobs, log, config } = platform
  const embedder = embedderOf(config.embedder, needs)
  return {
    db,
    clock,
    jobs,
    log,
    gateway: needs.gateway,
    embedder,
    vectors: await openVectors(db, embedder),
    parser: createParser(),
    pipeline: createIngestPipeline(),
    corpusStats: createCorpusStats({ db }),
    maxTextBytes: config.maxTextBytes,
    maxFileBytes: config.maxFileBytes,
    urls: config.urls,
    brand: config.brand,
    version: needs.version,
  }
}

/** `local`, or `vendor:model`; a model's name may hold colons of its own. */
function embedderOf(setting: string, { gateway, localEmbedder }: RagNeeds): MeteredEmbedder {
  const [vendor = '', ...model] = setting.split(':')
  return model.length > 0 ? vendorEmbedder(gateway, vendor, model.join(':')) : localEmbedder
}

/**
 * pgvector, where the server has it, for vendors' vectors. The local embedder's only choose candidates and are small as bytes: there each would be
 * 4 KB beside its table, and a search would fetch them all.
 */
async function openVectors(db: Db, { lexical }: Embedder): Promise<VectorStore> {
  const pgvector = await openPgvector({ db })
  const bytes = openByteVectors({ db }, { coarse: lexical !== undefined })
  if (pgvector === undefined) return bytes
  if (lexical === undefined) return pgvector
  return {
    ...bytes,
    // What a vendor's embedder left there goes with its documents.
    async remove(tx, userId, version, indexes) {
      await pgvector.remove(tx, userId, version, indexes)
    },
    async erase(tx, userId) {
      await bytes.erase(tx, userId)
      await pgvector.erase(tx, userId)
    },
  }
}
