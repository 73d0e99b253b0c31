/** What the rules of RAG may touch, opened once: the platform, the readers of files and long texts, and where vectors are kept. */
import './tables.ts'
import type { Gateway } from '#ai/gateway.ts'
import type { Embedder } from '#embeddings/embedder.ts'
import { localEmbedder } from '#embeddings/local.ts'
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { createIngestPipeline } from './ingest/ingest-pipeline.ts'
import { createParser } from './ingest/parsers/parser.ts'
import { createCorpusStats } from './search/corpus-stats.ts'
import { openByteVectors } from './search/stores/bytes.ts'
import { openPgvector } from './search/stores/pgvector.ts'
import type { VectorStore } from './search/stores/vector-store.ts'
import { type MeteredEmbedder, vendorEmbedder } from './vendor-embedder.ts'

export type RagNeeds = { gateway: Gateway }

export type RagDeps = Awaited<ReturnType<typeof openDeps>>

export async function openDeps(platform: Platform, { gateway }: RagNeeds) {
  const { db, clock, jobs, log, config } = platform
  const embedder = embedderOf(config.embedder, gateway)
  return {
    db,
    clock,
    jobs,
    log,
    gateway,
    embedder,
    vectors: await openVectors(db, embedder),
    parser: createParser(),
    pipeline: createIngestPipeline(),
    corpusStats: createCorpusStats({ db }),
    maxTextBytes: config.maxTextBytes,
    maxFileBytes: config.maxFileBytes,
    origins: [config.urls.base, config.urls.frontend].map((url) => new URL(url).origin),
  }
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

/** `local`, or `vendor:model`; a model's name may hold colons of its own. */
function embedderOf(setting: string, gateway: Gateway): MeteredEmbedder {
  const [vendor = '', ...model] = setting.split(':')
  return model.length > 0 ? vendorEmbedder(gateway, vendor, model.join(':')) : localEmbedder
}
