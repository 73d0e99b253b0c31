/** Reports the embedder and the progress of its change. */
import type { Config } from '#config/config.ts'
import { readRebuildProgress } from '#rag/rebuild/progress.ts'
import { findStoreName } from '#rag/search/stores/pgvector.ts'
import { findEmbedderId } from '#rag/vendor-embedder.ts'
import { createLines, type Line, type OpenPlatform } from './line.ts'

export async function checkEmbedder({ embedder }: Config, platform: OpenPlatform): Promise<Line> {
  const { ok, off } = createLines('Embedder')
  const progress = await platform()
    .then(async ({ db, config }) => {
      const id = findEmbedderId(config, embedder, await findStoreName(db))
      return id === null ? null : readRebuildProgress(db, id)
    })
    .catch(() => null)
  if (progress === null || progress.users === 0) return ok(embedder)
  const { users, done, total } = progress
  const says = `${embedder}; rebuilding vectors: ${done} of ${total} chunks of ${users} user(s) done. Until then their searches compare words only`
  return off(says)
}
