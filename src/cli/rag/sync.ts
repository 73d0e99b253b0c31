/**
 * Synchronises a user's documents with a folder over the public API. Only new and changed files are
 * uploaded, each with its path as external id. A killed sync can be started again.
 */
import { openAsBlob, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { computeHash, type LocalFile, listFiles } from './folder.ts'
import { openJournal, type Sent } from './journal.ts'
import { createClient, readDetail, type ServiceClient } from './service-client.ts'

export type SyncOptions = {
  folder: string
  url: string
  key: string
  /** Null: the folder's own name. */
  name: string | null
  ignore: readonly string[]
  deletes: boolean
  /** Allows an empty folder to delete all documents. */
  allowsEmpty: boolean
  isTrial: boolean
  /** Null: in the folder. */
  stateFile: string | null
  print(line: string): void
  /** For tests. */
  wait?: (ms: number) => Promise<unknown>
}

const AT_ONCE = 2
const EXTERNAL_ID_MAX = 512
/** The service rejects larger files too, but only after the upload. */
const FILE_BYTES_MAX = 512 * 1024 * 1024
/** Larger files are stored in the background, because proxies time out. */
const LONG_BYTES = 1024 * 1024
const PAGE = 1_000
const POLL_MS = 2_000
const STATE_FILE = '.latchkey-sync.jsonl'

type Counts = Record<'sent' | 'unchanged' | 'deleted' | 'skipped' | 'failed', number>
type Remote = { id: string; external_ids: string[] }

/** @returns 1 when a file could not be stored. @throws Error when nothing more can be done */
export async function syncFolder(options: SyncOptions): Promise<number> {
  const { print, isTrial, deletes } = options
  const folder = resolve(options.folder)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`${folder} is not a folder`)
  const url = options.url.replace(/\/+$/, '')
  const prefix = `${options.name ?? basename(folder)}/`
  const { wait = sleep } = options
  const ask = createClient({ url, key: options.key }, { tell: print, wait })
  const journal = openJournal(options.stateFile ?? join(folder, STATE_FILE), url)

  const files = await listFiles(folder, options.ignore)
  const remote = await listRemote(ask)
  const documentOf = new Map(
    remote.flatMap(({ id, external_ids }) => external_ids.map((name) => [name, id])),
  )
  const counts: Counts = { sent: 0, unchanged: 0, deleted: 0, skipped: 0, failed: 0 }

  await each(files, AT_ONCE, async (file) => {
    const externalId = prefix + file.path
    // For example the __init__.py of a Python package.
    if (file.sizeBytes === 0)
      return reportRefusal(
        file,
        { reason: 'the file is empty', isSkipped: true },
        documentOf.get(externalId) ?? null,
      )
    const hash = await computeHash(join(folder, file.path))
    const last = journal.find(externalId)
    const known = last?.hash === hash ? last : undefined
    const documentId = documentOf.get(externalId) ?? null
    if (known?.refused !== undefined) return reportRefusal(file, known.refused, documentId)
    if (known && known.job === undefined && known.document_id === documentId) {
      counts.unchanged++
      return
    }
    if (isTrial) {
      print(`would send ${file.path}`)
      counts.sent++
      return
    }
    await sendFile(file, { hash, documentId, job: known?.job })
  })

  /** Sends a file, or waits for the job that an earlier run started for it. */
  async function sendFile(
    file: LocalFile,
    { hash, documentId, job }: Pick<Sent, 'hash' | 'job'> & { documentId: string | null },
  ) {
    const externalId = prefix + file.path
    const note = (sent: Partial<Sent>) =>
      journal.note({ external_id: externalId, hash, document_id: documentId, ...sent })
    const resumed = job === undefined ? null : await awaitJob({ ask, wait }, job)
    const outcome =
      resumed ?? (await send({ ask, wait }, folder, file, externalId, (job) => note({ job })))
    if ('documentId' in outcome) {
      note({ document_id: outcome.documentId })
      print(`${documentId === null ? 'stored' : 'replaced'} ${file.path}`)
      counts.sent++
      return
    }
    const { reason, isSkipped, isFinal } = outcome
    if (isFinal) note({ refused: { reason, isSkipped } })
    // No file has an empty hash, so the next run sends this file again.
    else if (journal.find(externalId)?.job !== undefined && !outcome.isRunning) note({ hash: '' })
    reportRefusal(file, { reason, isSkipped }, documentId)
  }

  /** Reports a refused file at each run. Its earlier version stays stored and searchable. */
  function reportRefusal(
    { path }: LocalFile,
    { reason, isSkipped }: Refusal,
    documentId: string | null,
  ) {
    const stays = documentId === null ? '' : ' (the service still has the earlier version)'
    print(`${isSkipped ? 'skipped' : 'FAILED'} ${path}: ${reason}${stays}`)
    counts[isSkipped ? 'skipped' : 'failed']++
  }

  const names = new Set(files.map(({ path }) => prefix + path))
  const isGone = ({ external_ids }: Remote) =>
    external_ids.length > 0 &&
    external_ids.every((name) => name.startsWith(prefix) && !names.has(name))
  // List again: a renamed file now also has its new name, and a sync of another folder may have
  // stored documents meanwhile.
  const isStale = !isTrial && remote.some(isGone)
  const gone = (isStale ? await listRemote(ask) : remote).filter(isGone)
  if (deletes) await deleteGone(ask, options, { gone, counts, isEmpty: files.length === 0 })
  else if (gone.length > 0)
    print(`${gone.length} of the service’s documents are not in the folder; --delete removes them`)

  if (!isTrial) journal.tidy((name) => name.startsWith(prefix), names)
  print(
    `${counts.sent} ${isTrial ? 'to send' : 'sent'}, ${counts.unchanged} unchanged, ${counts.deleted} ${isTrial ? 'to delete' : 'deleted'}, ${counts.skipped} skipped, ${counts.failed} failed`,
  )
  return counts.failed > 0 ? 1 : 0
}

/** Reads page by page; a document stored meanwhile may be listed twice. */
async function listRemote(ask: ServiceClient): Promise<Remote[]> {
  const documents = new Map<string, Remote>()
  for (let offset = 0; ; offset += PAGE) {
    const answer = await ask(`/api/rag/documents?limit=${PAGE}&offset=${offset}`)
    if (answer.status !== 200)
      throw new Error(`the documents cannot be listed: ${readDetail(answer)}`)
    const page = JSON.parse(answer.text) as Remote[]
    for (const { id, external_ids } of page) documents.set(id, { id, external_ids })
    if (page.length < PAGE) return [...documents.values()]
  }
}

type Refusal = { reason: string; isSkipped: boolean }
/** `isFinal`: the same bytes would be rejected again. `isRunning`: the job may still store them. */
type Outcome = { documentId: string } | (Refusal & { isFinal: boolean; isRunning: boolean })
type Service = { ask: ServiceClient; wait(ms: number): Promise<unknown> }

const refused = (
  reason: string,
  { isSkipped = false, isFinal = true, isRunning = false } = {},
) => ({ reason, isSkipped, isFinal, isRunning })

async function send(
  { ask, wait }: Service,
  folder: string,
  file: LocalFile,
  externalId: string,
  queued: (job: string) => void,
): Promise<Outcome> {
  if (externalId.length > EXTERNAL_ID_MAX)
    return refused(`its path is longer than ${EXTERNAL_ID_MAX} characters`)
  if (file.sizeBytes > FILE_BYTES_MAX) return refused('it is larger than 512 MB')
  const isLong = file.sizeBytes > LONG_BYTES
  const answer = await ask('/api/rag/ingest/file', {
    method: 'POST',
    headers: isLong ? { prefer: 'respond-async' } : {},
    async body() {
      const form = new FormData()
      form.append('external_id', externalId)
      form.append('source', file.path)
      form.append('file', await openAsBlob(join(folder, file.path)), basename(file.path))
      return form
    },
  })
  if (answer.status === 202) {
    const job = String(answer.body.job_id)
    queued(job)
    return (
      (await awaitJob({ ask, wait }, job)) ?? refused('its job was cancelled', { isFinal: false })
    )
  }
  if (answer.status === 200) return { documentId: readDocumentId(answer.body.document_ids) }
  // Files of that type are never accepted; an empty or damaged file may be repaired.
  const isSkipped = answer.status === 415
  return refused(readDetail(answer), { isSkipped, isFinal: isSkipped || answer.status === 422 })
}

/**
 * Polls a job until it ends; proxies would cut a stream. The job continues when this process ends.
 * Returns null when the service has no such job.
 */
async function awaitJob({ ask, wait }: Service, id: string): Promise<Outcome | null> {
  for (;;) {
    const answer = await ask(`/api/rag/jobs/${id}`)
    if (answer.status === 404) return null
    if (answer.status !== 200)
      return refused(`its job cannot be read: ${readDetail(answer)}`, {
        isFinal: false,
        isRunning: true,
      })
    const { state, document_ids, error } = answer.body as JobAnswer
    if (state === 'done') return { documentId: readDocumentId(document_ids) }
    if (state === 'failed') {
      const isSkipped = error?.code === 'file_type_unsupported'
      const isFinal = isSkipped || error?.code === 'file_unreadable'
      return refused(error?.detail ?? 'it failed', { isSkipped, isFinal })
    }
    await wait(POLL_MS)
  }
}

type JobAnswer = {
  state?: string
  document_ids?: unknown
  error?: { code: string; detail: string } | null
}

/** Chunk ids begin with it. */
function readDocumentId(chunkIds: unknown): string {
  return String((chunkIds as string[])[0] ?? '').split('_')[0] ?? ''
}

type Gone = { gone: Remote[]; counts: Counts; isEmpty: boolean }

async function deleteGone(
  ask: ServiceClient,
  options: SyncOptions,
  { gone, counts, isEmpty }: Gone,
) {
  const { print, isTrial, allowsEmpty } = options
  if (gone.length > 0 && isEmpty && !allowsEmpty) {
    throw new Error(
      'the folder has no files: is it mounted? Nothing was deleted; with --allow-empty everything would be',
    )
  }
  for (const { id, external_ids } of gone) {
    const names = external_ids.join(', ')
    if (!isTrial) {
      const answer = await ask(`/api/rag/documents/${id}`, { method: 'DELETE' })
      if (answer.status !== 200 && answer.status !== 404)
        throw new Error(`${names} cannot be deleted: ${readDetail(answer)}`)
    }
    print(`${isTrial ? 'would delete' : 'deleted'} ${names}`)
    counts.deleted++
  }
}

async function each<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const item of left) await work(item)
    }),
  )
}
