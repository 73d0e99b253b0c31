// Guards each user's own store of documents: taking texts and files in, finding chunks, answering from them.
// One thing to know: every query names its user, and nothing about one user's documents, not even word counts, is shared with another.

import type { Db } from '#platform/db/db.ts'
import type { App } from '#platform/http/app.ts'
import type { Platform } from '#platform/platform.ts'
import { openDeps, type RagNeeds } from './deps.ts'
import { reembed, sweep } from './documents/documents.ts'
import { type DocumentListing, eraseStore, listDocuments, readTexts } from './documents/store.ts'
import { mcpRoutes } from './mcp.ts'
import { ragRoutes } from './routes.ts'

export type Rag = Awaited<ReturnType<typeof createRag>>

export async function createRag(platform: Platform, needs: RagNeeds) {
  const { db, jobs, log } = platform
  const deps = await openDeps(platform, needs)
  const { parser, pipeline, corpusStats } = deps

  jobs.handle('rag.sweep', (payload: { userId: string; version: string }) => sweep(deps, payload))
  jobs.handle('rag.renew', async (_, { signal }) => {
    const renewed = await reembed(deps, signal)
    if (renewed > 0) log.info({ documents: renewed, embedder: deps.embedder.id }, 'documents were embedded again')
  })

  return {
    deps,
    async routes(app: App) {
      await ragRoutes(app, deps)
      mcpRoutes(app, deps)
    },
    /** Looks for documents that another embedder or vector store has left behind. */
    start: () => jobs.enqueue(db, 'rag.renew', {}, { key: 'rag.renew' }),
    async erase(tx: Db, userId: string) {
      await deps.vectors.erase(tx, userId)
      await eraseStore(tx, userId)
      corpusStats.forget(userId)
    },
    /** For the export of everything we hold. */
    async collect(source: Db, userId: string) {
      const { rows } = await listDocuments(source, userId, 100_000, 0)
      return {
        documents: rows.map(({ metadata_json, ...row }) => ({ ...row, metadata: metadata_json })),
        ...textFiles(source, userId, rows),
      }
    },
    async close() {
      await Promise.all([parser.close(), pipeline.close()])
    },
  }
}

/** In one file of the export: small documents go together, since a ZIP has an end to its files. */
const FILE_CHARACTERS = 4_000_000

/** The texts themselves, as they are kept: in chunks. Read when their file's turn comes. */
function textFiles(source: Db, userId: string, documents: DocumentListing[]): Record<string, () => Promise<object>> {
  const files: Record<string, () => Promise<object>> = {}
  let group: string[] = []
  let characters = 0
  const close = () => {
    const ids = group
    if (ids.length > 0) files[`documents/${Object.keys(files).length + 1}`] = () => readTexts(source, userId, ids)
    group = []
    characters = 0
  }
  for (const document of documents) {
    if (characters + document.characters > FILE_CHARACTERS) close()
    group.push(document.id)
    characters += document.characters
  }
  close()
  return files
}
