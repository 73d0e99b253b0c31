/** What the rules of RAG may touch, opened once: the platform, the readers of files and long texts, and where vectors are kept. */
import './tables.ts'
import type { Gateway } from '#ai/gateway.ts'
import type { Platform } from '#platform/platform.ts'
import type { Embedder } from './embedders/embedder.ts'
import { localEmbedder } from './embedders/local.ts'
import { vendorEmbedder } from './embedders/vendor.ts'
import { createParser } from './parsers/parser.ts'
import { createReader } from './reader.ts'
import { createShelves } from './shelf.ts'
import { openByteVectors } from './stores/bytes.ts'
import { openPgvector } from './stores/pgvector.ts'

export type RagNeeds = { gateway: Gateway }

export type Room = Awaited<ReturnType<typeof openRoom>>

export async function openRoom(platform: Platform, { gateway }: RagNeeds) {
  const { db, clock, jobs, log, config } = platform
  const embedder = embedderOf(config.embedder, gateway)
  return {
    db,
    clock,
    jobs,
    log,
    gateway,
    embedder,
    vectors: (await openPgvector({ db })) ?? openByteVectors({ db }, { coarse: embedder.lexical !== undefined }),
    parser: createParser(),
    reader: createReader(),
    shelves: createShelves({ db }),
    maxTextBytes: config.maxTextBytes,
    maxFileBytes: config.maxFileBytes,
    origins: [config.urls.base, config.urls.frontend].map((url) => new URL(url).origin),
  }
}

/** `local`, or `vendor:model`. */
function embedderOf(setting: string, gateway: Gateway): Embedder {
  const [vendor, ...model] = setting.split(':')
  return vendor === 'openai' || vendor === 'gemini' ? vendorEmbedder(gateway, vendor, model.join(':')) : localEmbedder
}
