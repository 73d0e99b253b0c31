/**
 * Keeps a user's documents in step with a folder, over the public API: only what is new or has changed by its bytes is sent, each
 * file under an external id that is its path, so that it replaces what it was. May be ended and begun again at any moment.
 */
import { openAsBlob, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { hashOf, type LocalFile, listFiles } from './folder.ts'
import { openJournal } from './journal.ts'
import { createClient, detailOf, type ServiceClient } from './service-client.ts'

export type SyncOptions = {
  folder: string
  url: string
  key: string
  /** Null: the folder's own name. */
  name: string | null
  ignore: readonly string[]
  deletes: boolean
  /** Deletes everything where the folder is empty. */
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
/** The service refuses it, too, but only when it has come. */
const FILE_BYTES_MAX = 512 * 1024 * 1024
/** Longer files are stored in the background: no proxy waits so long for an answer. */
const LONG_BYTES = 1024 * 1024
const PAGE = 1_000
const STATE_FILE = '.latchkey-sync.jsonl'

type Counts = Record<'sent' | 'unchanged' | 'deleted' | 'skipped' | 'failed', number>
type Remote = { id: string; external_ids: string[] }

/** @returns 1 when a file could not be stored. @throws Error when nothing more can be done */
export async function syncFolder(options: SyncOptions): Promise<number> {
  const { print, isTrial, deletes } = options
  const folder = resolve(options.folder)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`${folder} is no folder`)
  const url = options.url.replace(/\/+$/, '')
  const prefix = `${options.name ?? basename(folder)}/`
  const ask = createClient({ url, key: options.key }, { tell: print, ...(options.wait ? { wait: options.wait } : {}) })
  const journal = openJournal(options.stateFile ?? join(folder, STATE_FILE), url)

  const files = await listFiles(folder, options.ignore)
  const remote = await listRemote(ask)
  const documentOf = new Map(remote.flatMap(({ id, external_ids }) => external_ids.map((name) => [name, id])))
  const counts: Counts = { sent: 0, unchanged: 0, deleted: 0, skipped: 0, failed: 0 }

  await each(files, AT_ONCE, async (file) => {
    const externalId = prefix + file.path
    const hash = await hashOf(join(folder, file.path))
    const before = journal.find(externalId)
    if (before?.hash === hash && before.document_id === (documentOf.get(externalId) ?? null)) {
      counts[before.document_id === null ? 'skipped' : 'unchanged']++
      return
    }
    if (isTrial) {
      print(`would send ${file.path}`)
      counts.sent++
      return
    }
    const outcome = await send(ask, folder, file, externalId)
    if ('documentId' in outcome) {
      journal.note({ external_id: externalId, hash, document_id: outcome.documentId })
      print(`${documentOf.has(externalId) ? 'replaced' : 'stored'} ${file.path}`)
      counts.sent++
    } else {
      // What it was is not what it is now, and is not to be found any more under its name.
      if (outcome.isFinal)
        journal.note({ external_id: externalId, hash, document_id: documentOf.get(externalId) ?? null })
      print(`${outcome.isSkipped ? 'skipped' : 'FAILED'} ${file.path}: ${outcome.reason}`)
      counts[outcome.isSkipped ? 'skipped' : 'failed']++
    }
  })

  const kept = new Set(files.map(({ path }) => prefix + path))
  const gone = remote.filter(({ external_ids }) =>
    external_ids.some((name) => name.startsWith(prefix) && !kept.has(name)),
  )
  if (deletes) await deleteGone(ask, options, { gone, kept, prefix, counts, isEmpty: files.length === 0 })
  else if (gone.length > 0)
    print(`${gone.length} of the service’s documents are not in the folder; --delete removes them`)

  if (!isTrial) journal.tidy((name) => name.startsWith(prefix), kept)
  print(
    `${counts.sent} ${isTrial ? 'to send' : 'sent'}, ${counts.unchanged} unchanged, ${counts.deleted} ${isTrial ? 'to delete' : 'deleted'}, ${counts.skipped} skipped, ${counts.failed} failed`,
  )
  return counts.failed > 0 ? 1 : 0
}

/** Page by page; what is stored meanwhile may come twice. */
async function listRemote(ask: ServiceClient): Promise<Remote[]> {
  const documents = new Map<string, Remote>()
  for (let offset = 0; ; offset += PAGE) {
    const answer = await ask(`/api/rag/documents?limit=${PAGE}&offset=${offset}`)
    if (answer.status !== 200) throw new Error(`the documents cannot be listed: ${detailOf(answer)}`)
    const page = JSON.parse(answer.text) as Remote[]
    for (const { id, external_ids } of page) documents.set(id, { id, external_ids })
    if (page.length < PAGE) return [...documents.values()]
  }
}

type Outcome = { documentId: string } | { reason: string; isSkipped: boolean; isFinal: boolean }

async function send(ask: ServiceClient, folder: string, file: LocalFile, externalId: string): Promise<Outcome> {
  const refused = (reason: string, { isSkipped = false, isFinal = true } = {}) => ({ reason, isSkipped, isFinal })
  if (externalId.length > EXTERNAL_ID_MAX) return refused(`its path is longer than ${EXTERNAL_ID_MAX} characters`)
  if (file.sizeBytes > FILE_BYTES_MAX) return refused('it is larger than 512 MB')
  const isLong = file.sizeBytes > LONG_BYTES
  const answer = await ask('/api/rag/ingest/file', {
    method: 'POST',
    headers: isLong ? { prefer: 'respond-async' } : {},
    async body() {
      const form = new FormData()
      form.append('external_id', externalId)
      form.append('file', await openAsBlob(join(folder, file.path)), basename(file.path))
      return form
    },
  })
  if (answer.status === 202) return awaitJob(ask, String(answer.body.job_id))
  if (answer.status === 200) return { documentId: documentIdOf(answer.body.document_ids) }
  // No file of that kind is ever taken; of an empty or damaged one the owner should hear once.
  const isUnsupported = answer.status === 415
  return refused(detailOf(answer), { isSkipped: isUnsupported, isFinal: isUnsupported || answer.status === 422 })
}

/** It goes on in the service, whatever becomes of this process. */
async function awaitJob(ask: ServiceClient, id: string): Promise<Outcome> {
  for (;;) {
    const { status, text, body } = await ask(`/api/rag/jobs/${id}`, { headers: { accept: 'text/event-stream' } })
    if (status !== 200)
      throw new Error(`job ${id} cannot be read: ${detailOf({ status, text, body, headers: new Headers() })}`)
    const events = text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []))
    const job = events.at(-1)
    if (job?.state === 'done') return { documentId: documentIdOf(job.document_ids) }
    if (job?.state === 'failed') {
      const isSkipped = job.error?.code === 'file_type_unsupported'
      const isFinal = isSkipped || job.error?.code === 'file_unreadable'
      return { reason: job.error?.detail ?? 'it failed', isSkipped, isFinal }
    }
  }
}

/** Chunk ids begin with it. */
function documentIdOf(chunkIds: unknown): string {
  return String((chunkIds as string[])[0] ?? '').split('_')[0] ?? ''
}

type Gone = { gone: Remote[]; kept: ReadonlySet<string>; prefix: string; counts: Counts; isEmpty: boolean }

async function deleteGone(ask: ServiceClient, options: SyncOptions, { gone, kept, prefix, counts, isEmpty }: Gone) {
  const { print, isTrial, allowsEmpty } = options
  if (gone.length > 0 && isEmpty && !allowsEmpty) {
    throw new Error(
      'the folder has no files: is it mounted? Nothing was deleted; with --allow-empty everything would be',
    )
  }
  for (const { id, external_ids } of gone) {
    const names = external_ids.join(', ')
    // Another file has the same text, or another folder names it.
    if (external_ids.some((name) => kept.has(name) || !name.startsWith(prefix))) continue
    if (!isTrial) {
      const answer = await ask(`/api/rag/documents/${id}`, { method: 'DELETE' })
      if (answer.status !== 200 && answer.status !== 404)
        throw new Error(`${names} cannot be deleted: ${detailOf(answer)}`)
    }
    print(`${isTrial ? 'would delete' : 'deleted'} ${names}`)
    counts.deleted++
  }
}

async function each<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const item of left) await work(item)
    }),
  )
}
