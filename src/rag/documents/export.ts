import { buffer } from 'node:stream/consumers'
import type { Db } from '#platform/db/db.ts'
import { listCollections } from '../collections/collections.ts'
import { listOriginals, type Original } from '../originals/original-store.ts'
import { type OriginalDeps, readOriginal } from '../originals/originals.ts'
import { ragProblem } from '../problems.ts'
import { readTexts } from './chunk-store.ts'
import { type DocumentView, listDocuments } from './documents.ts'

const DOCUMENTS_MAX = 100_000
/** Small documents share a file, since a ZIP limits its number of files. */
const FILE_CHARACTERS = 4_000_000

/** A ZIP limits its size and its number of files: further originals are downloaded one by one. */
const ORIGINALS_MAX = 20_000
const ORIGINALS_BYTES_MAX = 3_000_000_000

/** The list, the texts in chunks, and the original files, newest first. */
export async function collectDocuments(
  deps: Pick<OriginalDeps, 'secrets' | 'files'>,
  source: Db,
  userId: string,
) {
  const { documents } = await listDocuments(source, userId, { limit: DOCUMENTS_MAX })
  const collections = await listCollections(source, userId)
  const originals = await listOriginals(source, userId)
  return {
    documents,
    collections,
    ...buildTextFiles(source, userId, documents),
    document_files: originals.map(({ id, ...file }) => file),
    ...buildOriginalFiles(deps, originals),
  }
}

function buildOriginalFiles(
  deps: Pick<OriginalDeps, 'secrets' | 'files'>,
  originals: (Original & { document_id: string })[],
): Record<string, () => Promise<Buffer | null>> {
  let bytes = 0
  const fitting = originals.slice(0, ORIGINALS_MAX).filter((original) => {
    bytes += original.bytes
    return bytes <= ORIGINALS_BYTES_MAX
  })
  return Object.fromEntries(
    fitting.map((original) => [
      `documents/files/${original.document_id} ${original.name}`,
      async () => {
        try {
          return await buffer(await readOriginal(deps, original))
        } catch (error) {
          // One missing file does not abort the export.
          if (ragProblem.is(error, 'original_missing')) return null
          throw error
        }
      },
    ]),
  )
}

/** Each text is read when the export reaches its file. */
function buildTextFiles(
  source: Db,
  userId: string,
  documents: DocumentView[],
): Record<string, () => Promise<object>> {
  const files: Record<string, () => Promise<object>> = {}
  let group: string[] = []
  let characters = 0
  const close = () => {
    const ids = group
    if (ids.length > 0)
      files[`documents/${Object.keys(files).length + 1}`] = () => readTexts(source, userId, ids)
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
