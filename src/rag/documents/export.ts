import type { Db } from '#platform/db/db.ts'
import { readTexts } from './chunk-store.ts'
import { type DocumentView, listDocuments } from './documents.ts'

const DOCUMENTS_MAX = 100_000
/** In one file of the export: small documents go together, since a ZIP has an end to its files. */
const FILE_CHARACTERS = 4_000_000

/** For the export of everything we hold: the list of documents, and their texts as they are kept, in chunks. */
export async function collectDocuments(source: Db, userId: string) {
  const { documents } = await listDocuments(source, userId, { limit: DOCUMENTS_MAX })
  return { documents, ...textFiles(source, userId, documents) }
}

/** Each is read when its file's turn comes. */
function textFiles(source: Db, userId: string, documents: DocumentView[]): Record<string, () => Promise<object>> {
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
