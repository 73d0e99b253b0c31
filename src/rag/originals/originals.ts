// The files of documents, stored as uploaded: first the row, then the file, then the document that
// names it. Deletion reverses this by a job. So after a kill at any point, every file has a row or
// a job.
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
import { seal, unseal } from './sealed.ts'

export type OriginalDeps = Pick<RagDeps, 'db' | 'clock' | 'jobs' | 'secrets' | 'files'>

/** A file as uploaded. */
export type Uploaded = { name: string; content: Bytes; sha256: string }

/** @returns the file's id, for the document; null where originals are not stored */
export async function keepOriginal(
  { db, clock, secrets, files }: OriginalDeps,
  userId: string,
  { name, content, sha256 }: Uploaded,
): Promise<string | null> {
  if (files === null) return null
  const id = randomUUID()
  await insertOriginal(db, userId, { id, name, bytes: content.sizeBytes, sha256 }, clock.now())
  await files.write(id, seal(secrets, id, content)).catch((cause) => {
    // The row stays for the sweep, which deletes the written part.
    throw ragProblem('file_not_kept', { cause, headers: { 'Retry-After': '30' } })
  })
  return id
}

/** @throws Problem 503 when the file is missing, or its storage cannot be read */
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
  return Readable.from(unseal(secrets, id, content))
}

/** Deletes the original of a deleted document, or of one that was not stored. */
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
/** The longest time of an upload from its row to its document. */
const UNCLAIMED_FOR_MS = 6 * HOUR_MS

/** A second job deletes a file that is being written during the first. */
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

/** Stores the file while `work` creates its document; a refused file is deleted. */
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

/** A failure may have followed the commit, so a document's original stays. */
async function dropUnclaimed(
  { jobs }: Pick<OriginalDeps, 'jobs'>,
  tx: Db,
  userId: string,
  id: string,
): Promise<void> {
  await lockDocuments(tx, userId)
  if (!(await isClaimed(tx, userId, id))) await dropOriginal({ jobs }, tx, userId, id)
}

/** Runs the job. @throws Error where the files' deletion is uncertain: the job is then retried */
export async function removeFiles(
  { files }: Pick<OriginalDeps, 'files'>,
  { ids }: { ids: string[] },
): Promise<void> {
  if (files === null)
    throw new Error(`ORIGINALS_DIR is off: set it to where the ${ids.length} files of this job lie`)
  for (const id of ids) await files.remove(id)
}

const UNCLAIMED_AT_ONCE = 200

/** Deletes the originals of killed ingests. @returns how many */
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
