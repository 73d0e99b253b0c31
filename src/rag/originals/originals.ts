/**
 * The files that documents were read from, kept as they came. A row first, then the file, then the document that names it; and backwards: the row goes
 * with the document, a job takes the file. So whatever is killed in between, no file is without a row or a job that knows of it.
 */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { HOUR_MS, plus } from '#platform/clock.ts'
import type { Bytes } from '#platform/content.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { RagDeps } from '../deps.ts'
import { lockDocuments } from '../documents/document-store.ts'
import { ragProblem } from '../problems.ts'
import {
  deleteOriginal,
  eraseOriginalRows,
  insertOriginal,
  isClaimed,
  listOriginalIds,
  listUnclaimed,
  type Original,
} from './original-store.ts'
import { sealed, unsealed } from './sealed.ts'

export type OriginalDeps = Pick<RagDeps, 'db' | 'clock' | 'jobs' | 'secrets' | 'files'>

/** A file as it was uploaded. */
export type Uploaded = { name: string; content: Bytes; sha256: string }

/** @returns its id, for the document; null where none are kept */
export async function keepOriginal(
  { db, clock, secrets, files }: OriginalDeps,
  userId: string,
  { name, content, sha256 }: Uploaded,
): Promise<string | null> {
  if (files === null) return null
  const id = randomUUID()
  await insertOriginal(db, userId, { id, name, bytes: content.sizeBytes, sha256 }, clock.now())
  await files.write(id, sealed(secrets, id, content)).catch((cause) => {
    // The row stays for the sweep, which takes what was written of it.
    throw ragProblem('file_not_kept', { cause, headers: { 'Retry-After': '30' } })
  })
  return id
}

/** Returns the file's bytes. @throws Problem 503 when the file is missing, or its place cannot be read */
export async function readOriginal(
  { secrets, files }: Pick<OriginalDeps, 'secrets' | 'files'>,
  { id }: Pick<Original, 'id'>,
): Promise<Readable> {
  const content = await files?.read(id).catch((cause) => {
    throw ragProblem('original_missing', { cause })
  })
  if (!content) {
    const cause = new Error(
      files === null ? 'ORIGINALS_DIR is off' : `the original ${id} is not in its place`,
    )
    throw ragProblem('original_missing', { cause })
  }
  return Readable.from(unsealed(secrets, id, content))
}

/** Of a document that goes, or of one that was not stored. */
export async function dropOriginal(
  { jobs }: Pick<OriginalDeps, 'jobs'>,
  tx: Db,
  userId: string,
  id: string | null,
): Promise<void> {
  if (id === null || !(await deleteOriginal(tx, userId, id))) return
  await jobs.enqueue(tx, REMOVE_JOB, { ids: [id] })
}

export const REMOVE_JOB = 'rag.originals.remove'
const IDS_A_JOB = 500
/** How long an upload may take from its row to its document. */
const UNCLAIMED_FOR_MS = 6 * HOUR_MS

/** All of a user's. One that is just being written is there after the first job: the second takes it. */
export async function eraseOriginals(
  { jobs, clock }: Pick<OriginalDeps, 'jobs' | 'clock'>,
  tx: Db,
  userId: string,
): Promise<void> {
  const all = await listOriginalIds(tx, userId)
  for (let from = 0; from < all.length; from += IDS_A_JOB) {
    const ids = all.slice(from, from + IDS_A_JOB)
    await jobs.enqueue(tx, REMOVE_JOB, { ids })
    await jobs.enqueue(tx, REMOVE_JOB, { ids }, { runAt: plus(clock.now(), UNCLAIMED_FOR_MS) })
  }
  await eraseOriginalRows(tx, userId)
}

/** Keeps the file while `work` makes a document of it; of what is refused nothing stays. */
export async function withOriginal<T>(
  deps: OriginalDeps,
  userId: string,
  file: Uploaded,
  work: (originalId: string | null) => Promise<T>,
): Promise<T> {
  const originalId = await keepOriginal(deps, userId, file)
  try {
    return await work(originalId)
  } catch (error) {
    if (originalId !== null)
      await transaction(deps.db, (tx) => dropUnclaimed(deps, tx, userId, originalId)).catch(
        () => {},
      )
    throw error
  }
}

/** What failed may have failed behind its commit: a document's stays. */
async function dropUnclaimed(
  { jobs }: Pick<OriginalDeps, 'jobs'>,
  tx: Db,
  userId: string,
  id: string,
): Promise<void> {
  await lockDocuments(tx, userId)
  if (!(await isClaimed(tx, userId, id))) await dropOriginal({ jobs }, tx, userId, id)
}

/** Runs the job. @throws Error where it cannot be known that the files are gone: the job is then tried again */
export async function removeFiles(
  { files }: Pick<OriginalDeps, 'files'>,
  { ids }: { ids: string[] },
): Promise<void> {
  if (files === null)
    throw new Error(`ORIGINALS_DIR is off: set it to where the ${ids.length} files of this job lie`)
  for (const id of ids) await files.remove(id)
}

const UNCLAIMED_AT_ONCE = 200

/** Takes away what ingests left that were killed. @returns how many */
export async function sweepOriginals({ db, clock, jobs }: OriginalDeps): Promise<number> {
  const before = plus(clock.now(), -UNCLAIMED_FOR_MS)
  let swept = 0
  for (;;) {
    const unclaimed = await listUnclaimed(db, before, UNCLAIMED_AT_ONCE)
    if (unclaimed.length === 0) return swept
    for (const { id, user_id } of unclaimed) {
      await transaction(db, (tx) => dropUnclaimed({ jobs }, tx, user_id, id))
      swept++
    }
  }
}
