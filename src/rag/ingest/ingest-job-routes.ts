import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, NamedObject, Nullable, OneOf } from '#platform/http/schema.ts'
import { type EventStream, openStream, streamProblem } from '#platform/http/sse.ts'
import type { RagDeps } from '../deps.ts'
import type { Mount } from '../mounts.ts'
import { ragProblem } from '../problems.ts'
import { cancelIngestJob, type IngestJob, listIngestJobs, readIngestJob } from './ingest-jobs.ts'
import { IngestWarnings } from './schemas.ts'

const JobError = NamedObject(
  'IngestError',
  { code: Type.String(), detail: Type.String() },
  {
    description:
      'The reason of the failure, as in the reply to a request; for a running job: of its last attempt.',
  },
)

const fields = {
  id: Type.String(),
  state: OneOf('queued', 'running', 'done', 'failed'),
  stage: Nullable(OneOf('reading', 'storing')),
  done: Type.Integer({ description: 'The number of stored chunks.' }),
  total: Nullable(Type.Integer({ description: 'Null until the document has been read.' })),
  chunks_created: Type.Integer(),
  warnings: IngestWarnings,
  error: Nullable(JobError),
  source: Nullable(Type.String()),
  external_id: Nullable(Type.String()),
  created_at: Instant,
  finished_at: Nullable(Instant),
}
const Job = NamedObject(
  'IngestJob',
  { ...fields, document_ids: Type.Array(Type.String()) },
  { description: 'The progress of storing a document.' },
)
const ListedJob = NamedObject('ListedIngestJob', {
  ...fields,
  document_id: Nullable(Type.String()),
})

/** Pages poll often at little cost, so it does not count against search and ingest. */
const limit = 'general'

const WATCH_MS = 500
/** Per user, in this process. */
const WATCHERS_MAX = 8

export function ingestJobRoutes(
  app: App,
  mount: Mount,
  deps: Pick<RagDeps, 'db' | 'clock' | 'jobs'> & { watchers: Map<string, number> },
): void {
  const { watchers } = deps

  app.get(
    `${mount.prefix}/jobs`,
    {
      schema: {
        operationId: mount.nameOperation('listIngestJobs'),
        tags: [mount.tag],
        summary: 'Jobs that store documents, newest first',
        description: 'Ended jobs are listed for a week.',
        querystring: Type.Object({
          limit: Type.Integer({ default: 100, minimum: 1, maximum: 1_000 }),
        }),
        response: { 200: Type.Array(ListedJob) },
      },
      config: { ...mount.readPolicy, limit },
    },
    (request) => listIngestJobs(deps, requireCaller(request).userId, request.query.limit),
  )

  app.get(
    `${mount.prefix}/jobs/:id`,
    {
      schema: {
        operationId: mount.nameOperation('readIngestJob'),
        tags: [mount.tag],
        summary: 'The progress of a job',
        description:
          'With `Accept: text/event-stream`, each change is an event until the job has ended; the last event is `data: [DONE]`.',
        params: Type.Object({ id: Type.String() }),
        response: { 200: Job },
      },
      config: {
        ...mount.readPolicy,
        limit,
        events: {
          message: { ...Job, title: 'IngestJobNow', description: 'The current state of the job' },
        },
      },
    },
    async (request, reply) => {
      const { userId } = requireCaller(request)
      const read = async () => addChunkIds(await readIngestJob(deps, userId, request.params.id))
      const first = await read()
      if (!/\btext\/event-stream\b/.test(request.headers.accept ?? '')) return first
      const open = watchers.get(userId) ?? 0
      if (open >= WATCHERS_MAX) throw ragProblem('watchers_limit_reached', { max: WATCHERS_MAX })
      watchers.set(userId, open + 1)
      const stream = openStream(reply)
      await watch(stream, first, read, request.id).finally(() => {
        const left = (watchers.get(userId) ?? 1) - 1
        if (left === 0) watchers.delete(userId)
        else watchers.set(userId, left)
      })
    },
  )

  app.delete(
    `${mount.prefix}/jobs/:id`,
    {
      schema: {
        operationId: mount.nameOperation('cancelIngestJob'),
        tags: [mount.tag],
        summary: 'Cancel a job',
        description:
          'The job ends as `failed` with the error `ingest_cancelled` and stores nothing. An ended job does not change.',
        params: Type.Object({ id: Type.String() }),
        response: { 200: Job },
      },
      config: { ...mount.policy, limit },
    },
    async (request) =>
      addChunkIds(await cancelIngestJob(deps, requireCaller(request).userId, request.params.id)),
  )
}

function addChunkIds({ document_id, ...job }: IngestJob) {
  const count = document_id === null ? 0 : job.chunks_created
  return {
    ...job,
    document_ids: Array.from({ length: count }, (_, index) => `${document_id}_${index}`),
  }
}

type View = ReturnType<typeof addChunkIds>

async function watch(
  stream: EventStream,
  first: View,
  read: () => Promise<View>,
  requestId: string,
): Promise<void> {
  let last = ''
  try {
    for (let job = first; ; job = await read()) {
      const text = JSON.stringify(job)
      if (text !== last) await stream.data(job)
      last = text
      if (job.state === 'done' || job.state === 'failed') return stream.done()
      await sleep(WATCH_MS, undefined, { signal: stream.signal })
    }
  } catch (error) {
    if (stream.signal.aborted) return
    const { detail, code } = streamProblem(error, requestId)
    await stream.event('error', { detail, code })
    stream.end()
  }
}
