/** SQL of ingest jobs and of their inputs. */
import '../tables.ts'
import { type Selectable, sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import type { Stored } from '../documents/storage.ts'
import type { RagJobsTable } from '../tables.ts'

export type IngestJobRow = Selectable<RagJobsTable>

const ACTIVE = ['queued', 'running'] as const

export async function insertJob(tx: Db, row: IngestJobRow): Promise<void> {
  await tx.insertInto('rag_jobs').values(row).execute()
}

/** Without the request: it holds metadata of any size, and a page polls every second. */
const SHOWN = [
  ...(['id', 'state', 'stage', 'done', 'total', 'document_id', 'source', 'external_id'] as const),
  ...(['warnings_json', 'error_json', 'created_at', 'finished_at'] as const),
] as const
export type ShownJobRow = Pick<IngestJobRow, (typeof SHOWN)[number]>

function selectJobs(db: Db, userId: string) {
  return db.selectFrom('rag_jobs').where('user_id', '=', userId)
}

export function findJob(db: Db, userId: string, id: string): Promise<ShownJobRow | undefined> {
  return selectJobs(db, userId).select(SHOWN).where('id', '=', id).executeTakeFirst()
}

/** Newest first. */
export function listJobs(db: Db, userId: string, limit: number): Promise<ShownJobRow[]> {
  return selectJobs(db, userId)
    .select(SHOWN)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Counts the user's waiting jobs and their bytes. */
export async function countActive(
  db: Db,
  userId: string,
): Promise<{ jobs: number; bytes: number }> {
  const row = await db
    .selectFrom('rag_jobs')
    .select((e) => [
      e.fn.countAll<number>().as('jobs'),
      e.fn.sum<number>('input_bytes').as('bytes'),
    ])
    .where('user_id', '=', userId)
    .where('state', 'in', ACTIVE)
    .executeTakeFirstOrThrow()
  return { jobs: Number(row.jobs), bytes: Number(row.bytes ?? 0) }
}

/** Less the documents that may be replaced, except those in `beside`: the caller counts them. */
export async function readActiveStorage(
  db: Db,
  userId: string,
  beside: ReadonlySet<string>,
): Promise<Stored> {
  const active = selectJobs(db, userId).where('state', 'in', ACTIVE)
  const waiting = await active
    .select((e) => [
      sql<number>`count(distinct coalesce(external_id, id))`.as('documents'),
      e.fn.sum<number>('characters').as('characters'),
      e.fn.sum<number>('file_bytes').as('file_bytes'),
    ])
    .executeTakeFirstOrThrow()
  if (Number(waiting.documents) === 0)
    return { documents: 0, characters: 0, chunks: 0, file_bytes: 0 }

  let replaced = db
    .selectFrom('rag_documents as d')
    .leftJoin('rag_originals as o', (join) =>
      join.onRef('o.user_id', '=', 'd.user_id').onRef('o.id', '=', 'd.original_id'),
    )
    .select(({ fn }) => [
      fn.countAll<number>().as('documents'),
      fn.sum<number>('d.characters').as('characters'),
      fn.sum<number>('d.chunks').as('chunks'),
      fn.sum<number>('o.bytes').as('file_bytes'),
    ])
    .where('d.user_id', '=', userId)
    .where((e) =>
      e.or([
        e('d.source', 'in', active.where('is_replacing', '=', true).select('source')),
        e(
          'd.id',
          'in',
          e
            .selectFrom('rag_external_ids')
            .select('document_id')
            .where('user_id', '=', userId)
            .where('external_id', 'in', active.select('external_id')),
        ),
      ]),
    )
  if (beside.size > 0) replaced = replaced.where('d.id', 'not in', [...beside])
  const gone = await replaced.executeTakeFirstOrThrow()
  return {
    documents: Number(waiting.documents) - Number(gone.documents),
    characters: Number(waiting.characters) - Number(gone.characters),
    chunks: -Number(gone.chunks),
    file_bytes: Number(waiting.file_bytes) - Number(gone.file_bytes),
  }
}

/** Returns the job that has started, else the oldest one in the queue. */
export async function findNextJob(db: Db, userId: string): Promise<IngestJobRow | undefined> {
  for (const state of ['running', 'queued'] as const) {
    const row = await selectJobs(db, userId)
      .selectAll()
      .where('state', '=', state)
      .orderBy('created_at')
      .orderBy('id')
      .limit(1)
      .executeTakeFirst()
    if (row) return row
  }
  return undefined
}

/** Updates a job that has not ended. @returns false when it has ended or no longer exists */
export async function updateActive(
  tx: Db,
  userId: string,
  id: string,
  set: Partial<IngestJobRow>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('rag_jobs')
    .set(set)
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .where('state', 'in', ACTIVE)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function isActive(tx: Db, userId: string, id: string): Promise<boolean> {
  const job = await findJob(tx, userId, id)
  return job !== undefined && ACTIVE.some((state) => state === job.state)
}

export async function deleteOldJobs(tx: Db, userId: string, before: string): Promise<void> {
  await tx
    .deleteFrom('rag_jobs')
    .where('user_id', '=', userId)
    .where('finished_at', '<', before)
    .execute()
}

export async function insertInput(
  tx: Db,
  userId: string,
  jobId: string,
  part: number,
  bytes: Uint8Array,
) {
  await tx
    .insertInto('rag_job_inputs')
    .values({ user_id: userId, job_id: jobId, part, bytes })
    .execute()
}

/** Yields a job's input, part by part. */
export async function* readInputParts(
  db: Db,
  { user_id: userId, id: jobId, input_bytes }: Pick<IngestJobRow, 'user_id' | 'id' | 'input_bytes'>,
): AsyncGenerator<Uint8Array> {
  let at = 0
  for (let part = 0; at < input_bytes; part++) {
    const row = await db
      .selectFrom('rag_job_inputs')
      .select('bytes')
      .where('user_id', '=', userId)
      .where('job_id', '=', jobId)
      .where('part', '=', part)
      .executeTakeFirst()
    if (row === undefined) throw new Error(`part ${part} of what job ${jobId} reads is not there`)
    at += row.bytes.byteLength
    yield row.bytes
  }
}

export async function deleteInput(tx: Db, userId: string, jobId: string): Promise<void> {
  await tx
    .deleteFrom('rag_job_inputs')
    .where('user_id', '=', userId)
    .where('job_id', '=', jobId)
    .execute()
}

const PARTS_A_SLICE = 16

/** Erases inputs of a deleted user. @returns how many were erased */
export async function eraseInputsSlice(db: Db, userId: string): Promise<number> {
  const parts = await db
    .selectFrom('rag_job_inputs')
    .select(['job_id', 'part'])
    .where('user_id', '=', userId)
    .limit(PARTS_A_SLICE)
    .execute()
  for (const { job_id, part } of parts) {
    await db
      .deleteFrom('rag_job_inputs')
      .where('user_id', '=', userId)
      .where('job_id', '=', job_id)
      .where('part', '=', part)
      .execute()
  }
  return parts.length
}
