import { queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { api } from '../api/client.ts'
import { ApiProblem, formatProblem } from '../api/problem.ts'
import { queries, readQuery } from '../api/queries.ts'
import type { IngestWarning, ListedIngestJob } from '../api/types.ts'
import { type UploadOptions, uploadFile } from '../api/upload.ts'
import { newId } from '../components/new-id.ts'
import { translateProblem } from '../language/problem-text.ts'
import { t } from '../language/text.ts'

/** State of an upload until the service accepts it; the job has the state after that. */
type Sending =
  | { kind: 'waiting' }
  | { kind: 'sending'; sent: number }
  /** Waits for the rate limit. */
  | { kind: 'paused'; seconds: number }
  | { kind: 'taken'; jobId: string }
  | { kind: 'failed'; reason: string; retriable: boolean }

type Upload = { id: string; file: File; how: UploadOptions; state: Sending }

export type RowState =
  | { kind: 'waiting' }
  | { kind: 'sending'; sent: number }
  | { kind: 'paused'; seconds: number }
  | { kind: 'queued' }
  | { kind: 'reading' }
  | { kind: 'storing'; done: number; total: number }
  | { kind: 'done'; chunks: number; warnings: IngestWarning[] }
  | { kind: 'failed'; reason: string; retriable: boolean }

export type Row = { id: string; name: string; sizeBytes: number | null; state: RowState }

/** More parallel uploads would only slow each other down. */
const AT_ONCE = 2
const PAUSE_MAX_S = 120

/** Uploads of this visit with progress and retry, and active jobs of earlier visits. */
export function useUploads() {
  const [list, setList] = useState<Upload[]>([])
  const jobs = useQuery(ingestJobsQuery).data ?? []
  const controllers = useRef(new Map<string, AbortController>())

  useEffect(() => {
    const running = list.filter(
      ({ state }) => state.kind === 'sending' || state.kind === 'paused',
    ).length
    const next = list.find(({ state }) => state.kind === 'waiting')
    if (next && running < AT_ONCE) void start(next)
  })

  // Ended jobs have changed the list of documents.
  const active = jobs.filter(isActive).length
  const wasActive = useRef(0)
  useEffect(() => {
    if (active < wasActive.current) void queries.invalidateQueries({ queryKey: ['documents'] })
    wasActive.current = active
  }, [active])

  // Leaving the page stops uploads; accepted files are stored anyway.
  useEffect(() => {
    const open = controllers.current
    return () => {
      for (const controller of open.values()) controller.abort()
    }
  }, [])

  async function start({ id, file, how }: Upload) {
    const controller = new AbortController()
    controllers.current.set(id, controller)
    set(id, { kind: 'sending', sent: 0 })
    try {
      const jobId = await uploadFile(file, {
        ...how,
        signal: controller.signal,
        onProgress: (sent) => set(id, { kind: 'sending', sent }),
      })
      set(id, { kind: 'taken', jobId })
      void queries.invalidateQueries({ queryKey: ingestJobsQuery.queryKey })
    } catch (error) {
      if (controller.signal.aborted) return
      const seconds = readPause(error)
      if (seconds !== null) {
        set(id, { kind: 'paused', seconds })
        setTimeout(() => controller.signal.aborted || set(id, { kind: 'waiting' }), seconds * 1_000)
        return
      }
      set(id, {
        kind: 'failed',
        reason:
          error instanceof ApiProblem
            ? formatProblem(error)
            : t('The upload was interrupted. Try again.'),
        retriable: canRetry(error),
      })
    }
  }

  function set(id: string, state: Sending) {
    setList((uploads) =>
      uploads.map((upload) => (upload.id === id ? { ...upload, state } : upload)),
    )
  }

  const jobsById = new Map(jobs.map((job) => [job.id, job]))
  const ours = new Set(list.flatMap(({ state }) => (state.kind === 'taken' ? state.jobId : [])))
  const rows: Row[] = [
    ...list.map(({ id, file, state }) => ({
      id,
      name: file.name,
      sizeBytes: file.size,
      state: readUploadState(state, jobsById),
    })),
    ...jobs
      .filter((job) => isActive(job) && !ours.has(job.id))
      .map((job) => ({
        id: job.id,
        name: job.source ?? t('Pasted text'),
        sizeBytes: null,
        state: readJobState(job),
      })),
  ]

  return {
    rows,
    add: (files: File[], how: UploadOptions) =>
      setList((uploads) => [
        ...uploads,
        ...files.map((file): Upload => ({ id: newId(), file, how, state: { kind: 'waiting' } })),
      ]),
    retry: (id: string) => set(id, { kind: 'waiting' }),
    remove: (id: string) => {
      controllers.current.get(id)?.abort()
      const upload = list.find((one) => one.id === id)
      const job = jobsById.get(
        upload === undefined ? id : upload.state.kind === 'taken' ? upload.state.jobId : '',
      )
      if (job && isActive(job)) void cancel(job.id)
      setList((uploads) => uploads.filter((upload) => upload.id !== id))
    },
  }
}

async function cancel(id: string): Promise<void> {
  await api.delete('/api/library/jobs/{id}', undefined, { path: { id } }).catch(() => {})
  await queries.invalidateQueries({ queryKey: ingestJobsQuery.queryKey })
}

function readUploadState(state: Sending, jobOf: ReadonlyMap<string, ListedIngestJob>): RowState {
  if (state.kind !== 'taken') return state
  const job = jobOf.get(state.jobId)
  return job ? readJobState(job) : { kind: 'queued' }
}

function readJobState({
  state,
  stage,
  done,
  total,
  chunks_created,
  warnings,
  error,
}: ListedIngestJob): RowState {
  if (state === 'done') return { kind: 'done', chunks: chunks_created, warnings }
  // A retry helps when the service gave up, not when it rejected the file.
  if (state === 'failed') {
    const retriable = error?.code === 'ingest_given_up'
    const reason = error
      ? translateProblem(error.code, error.detail)
      : t('Couldn’t store this file.')
    return { kind: 'failed', reason, retriable }
  }
  if (state === 'queued') return { kind: 'queued' }
  return stage === 'storing' && total !== null
    ? { kind: 'storing', done, total }
    : { kind: 'reading' }
}

/** Returns the seconds to wait after a 429; null for other errors and for long waits. */
function readPause(error: unknown): number | null {
  const seconds = error instanceof ApiProblem && error.status === 429 ? error.retryAfterS : null
  return seconds !== null && seconds <= PAUSE_MAX_S ? Math.max(1, seconds) : null
}

/** Returns whether a retry can succeed: not after the service has read and rejected the file. */
function canRetry(error: unknown): boolean {
  return !(error instanceof ApiProblem) || ![400, 413, 415, 422].includes(error.status)
}

const EVERY_MS = 2_000

const isActive = ({ state }: ListedIngestJob) => state === 'queued' || state === 'running'

/** Background ingest jobs, newest first. Polled while one is active. */
const ingestJobsQuery = queryOptions({
  ...readQuery(['ingest-jobs'], '/api/library/jobs', { query: { limit: 500 } }),
  staleTime: 0,
  refetchInterval: ({ state }) => (state.data?.some(isActive) ? EVERY_MS : false),
})
