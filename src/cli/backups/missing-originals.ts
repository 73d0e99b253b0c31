/** Holds the documents of a backup against the files that they were read from, so that a backup without them says so. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '#config/config.ts'
import type { Db } from '#platform/db/db.ts'
import { listClaimed } from '#rag/originals/original-store.ts'
import { originalsFolder } from './contents.ts'
import type { Snapshot } from './rows.ts'

const AT_ONCE = 500

const fileOf = (folder: string, id: string) => join(folder, id.slice(0, 2), id)

/** Returns the ids of files that documents of the snapshot name and the folder does not have. None where originals lie in no folder. */
export async function findMissing(
  snapshot: Snapshot,
  config: Pick<Config, 'originals'>,
): Promise<string[]> {
  const folder = originalsFolder(config)
  const table = (await snapshot.tables()).find(({ name }) => name === 'rag_documents')
  if (folder === null || !table) return []
  const column = table.columns.indexOf('original_id')
  const missing: string[] = []
  for await (const row of snapshot.rows(table)) {
    const id = row[column] ?? null
    if (id !== null && !existsSync(fileOf(folder, id))) missing.push(id)
  }
  return missing
}

/** Returns those that are missing still: documents that were deleted meanwhile have lost their files rightly. */
export async function stillMissing(db: Db, missing: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (let from = 0; from < missing.length; from += AT_ONCE) {
    found.push(...(await listClaimed(db, missing.slice(from, from + AT_ONCE))))
  }
  return found
}

const NAMED_MAX = 5

/** Returns a sentence for the operator. */
export function describeMissing(missing: readonly string[]): string {
  const named = missing.slice(0, NAMED_MAX).map((id) => `originals/${id.slice(0, 2)}/${id}`)
  const more = missing.length > NAMED_MAX ? ', …' : ''
  return `${missing.length} files that users uploaded are missing, and not in this backup: ${named.join(', ')}${more}. Check ORIGINALS_DIR`
}
