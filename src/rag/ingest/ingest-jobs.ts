// Ingest in the background. The input is stored, and a job reads, embeds and writes it batch by
// batch, each with its progress in one transaction, so it resumes after a kill. One job per user
// moves to the end of the queue after each document, so users take turns.
import { createHash, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { PlanLimits } from '#catalogue/catalogue.ts'
import { DAY_MS, HOUR_MS, plus, SECOND_MS } from '#platform/clock.ts'
import type { Bytes, Content } from '#platform/content.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { type Caller, requireScope } from '#platform/http/access-control.ts'
import type { JobContext } from '#platform/jobs/runner.ts'
import { Problem } from '#platform/problem.ts'
import { platformProblem } from '#platform/problems.ts'
import type { RagDeps } from '../deps.ts'
import { lockDocuments } from '../documents/document-store.ts'
import { sweepChunks } from '../documents/documents.ts'
import {
  addStored,
  type Incoming,
  isBounded,
  predictStorage,
  readStored,
  requireRoom,
} from '../documents/storage.ts'
import { findMount } from '../mounts.ts'
import { withOriginal } from '../originals/originals.ts'
import { ragProblem } from '../problems.ts'
import type { IngestJobState, IngestRequest, IngestStage } from '../tables.ts'
import { type Checkpoint, ingest } from './ingest.ts'
import {
  countActive,
  deleteInput,
  deleteOldJobs,
  findJob,
  findNextJob,
  type IngestJobRow,
  insertInput,
  insertJob,
  isActive,
  listJobs,
  readActiveStorage,
  readInputParts,
  type ShownJobRow,
  updateActive,
} from './ingest-job-store.ts'
import type { TextHandle } from './ingest-pipeline.ts'
import type { ParsedFile } from './parsers/parser.ts'
import type { Warning } from './parsers/unreadable.ts'
import type { TextMeasure } from './text-worker.ts'

export const INGEST_JOB = 'rag.ingest'

/** Attempts since the last written batch, with these delays; later ones are a tenth of a day. */
const TRIES_MAX = 8
export const INGEST_DELAYS_MS: readonly number[] = [
  2, 10, 30, 120, 300, 900, 1_800, 3_600, 7_200, 7_200, 7_200,
].map((seconds) => seconds * SECOND_MS)

const WAITING_MAX = 1_000
const WAITING_MB = 1_024
const PART_BYTES = 1024 * 1024
const UNCLAIMED_FOR_MS = 6 * HOUR_MS
const KEPT_FOR_MS = 7 * DAY_MS

/** A job in the API, without the ids of its chunks. */
export type IngestJob = {
  id: string
  state: IngestJobState
  stage: IngestStage | null
  done: number
  total: number | null
  document_id: string | null
  chunks_created: number
  warnings: Warning[]
  error: { code: string; detail: string } | null
  source: string | null
  external_id: string | null
  created_at: string
  finished_at: string | null
}

type QueueDeps = Pick<RagDeps, 'db' | 'clock' | 'jobs'>
type AdmissionDeps = QueueDeps & Pick<RagDeps, 'files' | 'planLimits'>
/** `pipeline` and `parser` serve jobs only, so that requests never wait for jobs. */
export type IngestJobDeps = QueueDeps &
  Pick<
    RagDeps,
    | 'secrets'
    | 'files'
    | 'callerNow'
    | 'requireGrant'
    | 'embedder'
    | 'vectors'
    | 'gateway'
    | 'maxTextBytes'
    | 'planLimits'
    | 'version'
    | 'pipeline'
    | 'parser'
    | 'temporaryFiles'
    | 'log'
  >

export type NewIngest = IngestRequest & { source: string | null; externalId: string | null }

/** @throws Problem 413 without room in the plan next to waiting documents; 429 for too many */
export async function queueIngest(
  deps: AdmissionDeps,
  tier: string,
  { source, externalId, ...request }: NewIngest,
  { input, measure }: { input: Bytes; measure: TextMeasure | null },
): Promise<string> {
  const { db, clock, jobs } = deps
  const { userId } = request.caller
  const id = randomUUID()
  const limits = deps.planLimits(tier)
  const { file } = request
  const counts = {
    documents: 1,
    characters: measure?.characters ?? 0,
    chunks: 0,
    file_bytes: file === null || deps.files === null ? 0 : input.sizeBytes,
  }
  // A file that was sent before gives the same document, so its name identifies it here.
  const replacesSource = request.replacesSource || file !== null
  const incoming: Incoming = { id: measure?.id ?? null, externalId, source, replacesSource, counts }
  await requireQueueRoom(db, userId, input.sizeBytes, limits, incoming)
  const isShort = input.sizeBytes <= PART_BYTES
  const whole = isShort ? await input.read(0, input.sizeBytes) : null
  if (whole === null) await storeInput(deps, userId, id, input)
  await transaction(db, async (tx) => {
    // The end of this user's job checks for further documents under the same lock.
    await lockDocuments(tx, userId)
    await requireQueueRoom(tx, userId, input.sizeBytes, limits, incoming)
    if (whole !== null) await insertInput(tx, userId, id, 0, whole)
    await deleteOldJobs(tx, userId, plus(clock.now(), -KEPT_FOR_MS))
    await insertJob(tx, {
      user_id: userId,
      id,
      state: 'queued',
      stage: null,
      attempts: 0,
      source,
      external_id: externalId,
      request_json: request,
      input_bytes: input.sizeBytes,
      characters: counts.characters,
      file_bytes: counts.file_bytes,
      is_replacing: replacesSource,
      fingerprint: null,
      done: 0,
      total: null,
      document_id: null,
      warnings_json: [],
      error_json: null,
      created_at: clock.now(),
      finished_at: null,
    })
    await jobs.enqueue(tx, INGEST_JOB, { userId }, { key: buildJobKey(userId) })
  }).catch(async (error) => {
    await deleteInput(db, userId, id)
    throw error
  })
  return id
}

/** Stores the input part by part, so that no other writer waits long for the lock. */
async function storeInput(
  { db, clock, jobs }: QueueDeps,
  userId: string,
  id: string,
  input: Bytes,
): Promise<void> {
  // Enqueued first: if this process dies half-way, the job deletes the parts.
  await jobs.enqueue(
    db,
    'rag.sweep',
    { userId, version: id },
    { runAt: plus(clock.now(), UNCLAIMED_FOR_MS) },
  )
  for (let from = 0; from < input.sizeBytes; from += PART_BYTES) {
    const bytes = await input.read(from, Math.min(input.sizeBytes, from + PART_BYTES))
    await insertInput(db, userId, id, from / PART_BYTES, bytes)
  }
}

async function requireQueueRoom(
  db: Db,
  userId: string,
  bytes: number,
  limits: PlanLimits,
  incoming: Incoming,
): Promise<void> {
  const waiting = await countActive(db, userId)
  if (waiting.jobs >= WAITING_MAX || waiting.bytes + bytes > WAITING_MB * 1024 * 1024)
    throw ragProblem(
      'ingest_queue_full',
      { jobs: WAITING_MAX, max: WAITING_MB },
      { headers: { 'Retry-After': '30' } },
    )
  if (!isBounded(limits)) return
  const before = await readStored(db, userId)
  const { after, replaced } = await predictStorage(db, userId, before, incoming)
  requireRoom(limits, before, addStored(after, await readActiveStorage(db, userId, replaced)))
}

const buildJobKey = (userId: string) => `${INGEST_JOB}:${userId}`

/** @throws Problem 404 */
export async function readIngestJob(
  { db }: Pick<RagDeps, 'db'>,
  userId: string,
  id: string,
): Promise<IngestJob> {
  const row = await findJob(db, userId, id)
  if (row === undefined) throw ragProblem('ingest_job_not_found')
  return parseJobRow(row)
}

/** Newest first. */
export async function listIngestJobs(
  { db }: Pick<RagDeps, 'db'>,
  userId: string,
  limit: number,
): Promise<IngestJob[]> {
  return (await listJobs(db, userId, limit)).map(parseJobRow)
}

function parseJobRow({ warnings_json, error_json, ...row }: ShownJobRow): IngestJob {
  return {
    ...row,
    chunks_created: row.state === 'done' ? row.done : 0,
    warnings: warnings_json,
    error: error_json,
  }
}

/** A job that has ended does not change. @throws Problem 404 */
export async function cancelIngestJob(
  deps: QueueDeps,
  userId: string,
  id: string,
): Promise<IngestJob> {
  await finish(deps, userId, id, ragProblem('ingest_cancelled'))
  return readIngestJob(deps, userId, id)
}

/** The handler of the job: processes the user's next document. */
export async function runIngestJob(
  deps: IngestJobDeps,
  { userId }: { userId: string },
  context: JobContext,
): Promise<void> {
  const row = await takeNext(deps, userId)
  if (row === null) return
  const { id } = row
  try {
    if (row.attempts > TRIES_MAX) throw createGivenUpProblem(row)
    await run(deps, row, context)
  } catch (error) {
    if (context.signal.aborted) {
      await updateActive(deps.db, userId, id, { attempts: row.attempts - 1 })
      throw error
    }
    if (canRetry(error)) {
      await updateActive(deps.db, userId, id, { error_json: describeError(error) })
      throw error
    }
    // Does not change a job that was cancelled and has therefore ended.
    await finish(deps, userId, id, error as Problem)
  }
  await queueNext(deps, userId)
}

/** Marks the next document as started; null ends the job until the next one arrives. */
async function takeNext({ db, jobs }: QueueDeps, userId: string): Promise<IngestJobRow | null> {
  return transaction(db, async (tx) => {
    await lockDocuments(tx, userId)
    const row = await findNextJob(tx, userId)
    if (row === undefined) {
      await jobs.withdraw(tx, buildJobKey(userId))
      return null
    }
    const begun = { state: 'running', stage: 'reading', attempts: row.attempts + 1 } as const
    await updateActive(tx, userId, row.id, begun)
    return { ...row, ...begun }
  })
}

/** Erases the jobs of a deleted user. */
export async function eraseIngestJobs(
  { jobs }: Pick<RagDeps, 'jobs'>,
  tx: Db,
  userId: string,
): Promise<void> {
  await jobs.withdraw(tx, buildJobKey(userId))
}

/** Moves the user to the end of the queue, because others wait too. */
async function queueNext({ db, jobs }: QueueDeps, userId: string): Promise<void> {
  await transaction(db, async (tx) => {
    await lockDocuments(tx, userId)
    await jobs.withdraw(tx, buildJobKey(userId))
    if ((await findNextJob(tx, userId)) !== undefined)
      await jobs.enqueue(tx, INGEST_JOB, { userId }, { key: buildJobKey(userId) })
  })
}

async function run(deps: IngestJobDeps, row: IngestJobRow, context: JobContext): Promise<void> {
  const caller = await readSender(deps, row.request_json)
  const hash = createHash('sha256')
  const content = await deps.temporaryFiles.take(Readable.from(readInputParts(deps.db, row)), {
    hash,
  })
  try {
    await store(deps, row, context, caller, { content, sha256: hash.digest('hex') })
  } finally {
    content.remove()
  }
}

type Read = Pick<ParsedFile, 'text' | 'outline' | 'warnings'>

async function store(
  deps: IngestJobDeps,
  row: IngestJobRow,
  context: JobContext,
  caller: Caller,
  { content, sha256 }: { content: Content; sha256: string },
): Promise<void> {
  const { user_id: userId, id, request_json: request } = row
  const { signal } = context
  const { file } = request
  const read: Read =
    file === null
      ? { text: content, outline: {}, warnings: [] }
      : await deps.parser.read(file, content, signal)
  let handle: TextHandle | null = null
  try {
    const storing = { stage: 'storing', warnings_json: read.warnings, error_json: null } as const
    if (!(await updateActive(deps.db, userId, id, storing))) throw ragProblem('ingest_cancelled')

    handle = openLongText(deps, read)
    const text = handle ?? (await readWholeText(read))
    const call = {
      caller,
      route: `${findMount(request.prefix).prefix}/ingest/${file === null ? 'text' : 'file'}`,
      signal,
      origin: buildOrigin(request),
    }
    const named = { source: row.source, externalId: row.external_id }
    const write = (originalId: string | null) =>
      ingest(
        deps,
        call,
        { ...request, ...named, text, outline: read.outline, originalId },
        createCheckpoint(deps, row, context),
      )
    if (file === null) await write(null)
    else await withOriginal(deps, userId, { name: file, content, sha256 }, write)
  } finally {
    handle?.close()
    if (typeof read.text !== 'string') read.text.remove()
  }
}

/** Opens a long text on a worker; null for a short one. */
function openLongText(
  { pipeline }: Pick<IngestJobDeps, 'pipeline'>,
  { text, outline }: Read,
): TextHandle | null {
  return typeof text !== 'string' && typeof text.place === 'string'
    ? pipeline.open(text, 'text', outline)
    : null
}

async function readWholeText({ text }: Read): Promise<string> {
  if (typeof text === 'string') return text
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await text.read(0, text.sizeBytes))
}

/** Reads the sender's current rights. @throws Problem 403 without the right to send it */
async function readSender(
  deps: Pick<RagDeps, 'callerNow' | 'requireGrant'>,
  { caller: asker, prefix }: IngestRequest,
) {
  const caller = await deps.callerNow(asker)
  if (caller === null) throw ragProblem('ingest_not_allowed')
  if (!caller.isActive) throw platformProblem('inactive_account')
  const { policy } = findMount(prefix)
  deps.requireGrant(caller, policy)
  if (policy.scope) requireScope(caller, policy.scope)
  return caller
}

/** No client waits for a reply with the cost. */
const buildOrigin = ({ requestId }: IngestRequest) => ({
  requestId,
  endUser: '',
  labels: '',
  timeoutMs: null,
  isAnswered: () => true,
  charge: () => {},
})

function createCheckpoint(
  deps: IngestJobDeps,
  row: IngestJobRow,
  { advanced }: JobContext,
): Checkpoint {
  const { user_id: userId, id } = row
  const { db, clock } = deps
  return {
    version: id,
    caller: () => readSender(deps, row.request_json),
    async begin(fingerprint, total) {
      if (row.fingerprint === fingerprint) return row.done
      // Another release or embedder makes other chunks, so the existing ones do not fit.
      await sweepChunks(deps, { userId, version: id })
      if (!(await updateActive(db, userId, id, { fingerprint, total, done: 0 })))
        throw ragProblem('ingest_cancelled')
      return 0
    },
    async onWritten(tx, done) {
      if (!(await updateActive(tx, userId, id, { done, attempts: 0 })))
        throw ragProblem('ingest_cancelled')
      // In this transaction: on SQLite a separate write would wait for it.
      await advanced(tx)
    },
    async onPublished(tx, documentId) {
      const ended = {
        state: 'done',
        stage: null,
        document_id: documentId,
        finished_at: clock.now(),
      } as const
      await updateActive(tx, userId, id, ended)
      await deleteInput(tx, userId, id)
    },
  }
}

/** A job deletes its unclaimed chunks and its input. */
async function finish(
  { db, clock, jobs }: QueueDeps,
  userId: string,
  id: string,
  problem: Problem,
): Promise<void> {
  await transaction(db, async (tx) => {
    await lockDocuments(tx, userId)
    const ended = {
      state: 'failed',
      stage: null,
      error_json: describeError(problem),
      finished_at: clock.now(),
    } as const
    if (await updateActive(tx, userId, id, ended))
      await jobs.enqueue(tx, 'rag.sweep', { userId, version: id })
  })
}

/** Deletes unclaimed data: a version's chunks, and the input of the job with that id. */
export async function sweepIngest(
  deps: Pick<RagDeps, 'db' | 'vectors'>,
  { userId, version }: { userId: string; version: string },
): Promise<void> {
  // The ingest job sweeps when it ends.
  if (await isActive(deps.db, userId, version)) return
  await sweepChunks(deps, { userId, version })
  await deleteInput(deps.db, userId, version)
}

/** A refusal is final; an overload, an outage or an internal error may pass. */
function canRetry(error: unknown): boolean {
  if (ragProblem.is(error, 'ingest_given_up')) return false
  return !(error instanceof Problem) || error.status === 429 || error.status >= 500
}

function describeError(error: unknown): { code: string; detail: string } {
  // A bug's details are not shown to clients.
  if (!(error instanceof Problem)) return { code: 'internal_error', detail: 'Internal error' }
  const { code, detail } = error
  return {
    code,
    detail: (typeof detail === 'string' ? detail : detail.map(({ msg }) => msg).join(' ')).slice(
      0,
      1_000,
    ),
  }
}

function createGivenUpProblem({ error_json }: IngestJobRow): Problem {
  const reason = error_json?.detail ?? 'the process that read it ended'
  return ragProblem('ingest_given_up', { tries: TRIES_MAX, reason })
}
