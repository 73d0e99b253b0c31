// Proves that a folder is where this database stores originals: both hold the same mark. A node
// with another folder, or whose mount has vanished, is refused instead of losing files.
import '../tables.ts'
import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Db, transaction } from '#platform/db/db.ts'
import { makeFolder } from '#platform/folder.ts'

/** The file in the folder that holds its mark. */
export const MARK_FILE = 'originals.id'

/**
 * Returns the folder's mark. The first node to start creates it.
 * @throws Error with a sentence when the folder has another mark than the database, or cannot be
 * used
 */
export async function claimFolder(db: Db, folder: string): Promise<string> {
  // The other nodes wait here for the node that inserts the row, and find the mark written.
  const mark = await transaction(db, async (tx) => {
    const offered = await offerMark(tx, folder)
    if (offered !== null) await writeMark(folder, offered)
    return (await findMark(tx)) as string
  })
  await requireMark(folder, mark)
  return mark
}

/** @throws Error with a sentence when the folder does not hold this mark. */
export async function requireMark(folder: string, mark: string): Promise<void> {
  const found = await readMark(folder)
  if (found === mark) return
  throw new Error(
    `ORIGINALS_DIR: ${folder} is not the folder where this database keeps the files that users upload (${MARK_FILE} in it ${found === null ? 'is missing' : `says '${found}'`}). ` +
      `Mount the folder that all nodes share, or set ORIGINALS_DIR to it or to s3://bucket/prefix. If you have moved the files here, or they are lost, write ${mark} into ${join(folder, MARK_FILE)}`,
  )
}

/** Returns the mark of a folder in which this database has none yet; null when it has one. */
async function offerMark(tx: Db, folder: string): Promise<string | null> {
  if ((await findMark(tx)) !== null) return null
  const mark = (await readMark(folder)) ?? randomUUID()
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('rag_originals_folder')
    .values({ id: 1, mark })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows ? mark : null
}

/** Returns null before the first start with a folder. */
export async function findMark(db: Db): Promise<string | null> {
  const row = await db.selectFrom('rag_originals_folder').select('mark').executeTakeFirst()
  return row?.mark ?? null
}

async function writeMark(folder: string, mark: string): Promise<void> {
  try {
    makeFolder(folder)
    await writeFile(join(folder, MARK_FILE), `${mark}\n`, { mode: 0o600, flush: true })
  } catch (cause) {
    throw new Error(`ORIGINALS_DIR: ${folder} cannot be written: ${(cause as Error).message}`, {
      cause,
    })
  }
}

async function readMark(folder: string): Promise<string | null> {
  try {
    return (await readFile(join(folder, MARK_FILE), 'utf8')).trim()
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return null
    throw new Error(`ORIGINALS_DIR: ${folder} cannot be read: ${message}`, { cause })
  }
}
