// Kills the service with kill -9 while documents are stored in the background, replaced, deleted
// and re-indexed, and restarts it. No document may be incomplete or lost.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { payingKey, type RunningService, startService } from './lib/service.ts'
import { printTable } from './lib/table.ts'

export const description =
  'kill -9 at 100 random moments of ingest, replace, delete and re-index: no document incomplete or lost'

/**
 * A job whose process was killed waits for its lease, which takes about ten kills. With this many
 * users, one document is always being written.
 */
const USERS = 16
const NAMES = 3
const CHUNKS_MAX = 900
/** A service without an answer for this long hangs. */
const ANSWER_MS = 30_000
const MODELS = ['text-embedding-3-small', 'text-embedding-3-large']
const OFF = { RATE_LIMIT_GENERAL: 'off', RATE_LIMIT_RAG: 'off', RATE_LIMIT_AI: 'off' }

type User = { key: string; userId: string }
/**
 * The last acknowledged text of a name, and texts that were sent since without an answer. Each may
 * be stored.
 */
type Wanted = { text: string | null; maybe: (string | null)[] }
/** Keyed by user and name. */
type AllWanted = Map<string, Wanted & { user: User; name: string }>

export async function run([count = '100']: string[]): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-ingest-kills-'))
  const vendor = await startVendor()
  const { port } = vendor.address() as { port: number }
  const start = (life: number) =>
    startService(
      {
        ...OFF,
        LOG_LEVEL: 'fatal',
        OPENAI_API_KEY: 'bench',
        OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
        EMBEDDER: `openai:${MODELS[life % 4 < 2 ? 0 : 1]}`,
      },
      { dataDir },
    )
  const expected: AllWanted = new Map()
  const wrong: string[] = []
  let acknowledged = 0
  let cut = 0
  let service = await start(0)
  try {
    const users: User[] = []
    for (let i = 0; i < USERS; i++) users.push(await payingKey(service))
    for (let life = 1; life <= Number(count); life++) {
      const killed = sleep(100 + Math.random() * 2_400).then(() => service.child.kill('SIGKILL'))
      acknowledged += await change(service, users, expected, life)
      await killed
      await ended(service)
      wrong.push(...findIncomplete(dataDir).map((text) => `after kill ${life}: ${text}`))
      cut += begunJobs(dataDir)
      service = await start(life)
      if (life % 10 === 0)
        console.log(
          `  ${life} kills, ${acknowledged} acknowledged, ${cut} interrupted, ${wrong.length} faults`,
        )
    }
    await waitUntilIdle(service, users, dataDir)
    wrong.push(...findIncomplete(dataDir), ...lost(dataDir, expected), ...findOrphans(dataDir))
  } finally {
    await service.stop()
    vendor.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
  printTable(
    `${count} kills`,
    ['acknowledged', 'jobs half-written at a kill', 'faults'],
    [[String(acknowledged), String(cut), [...new Set(wrong)].slice(0, 10).join('; ') || 'none']],
  )
  console.log(
    `\n  ${wrong.length === 0 ? 'No document is incomplete or lost.' : `${wrong.length} FAULTS`}`,
  )
  if (wrong.length > 0) process.exitCode = 1
}

async function ended({ child }: RunningService): Promise<void> {
  if (child.exitCode === null && child.signalCode === null)
    await new Promise((resolve) => child.once('exit', resolve))
}

/**
 * Sends changes until the service dies. Returns the number of acknowledged ones. @throws Error when
 * the service does not answer
 */
async function change(
  service: RunningService,
  users: User[],
  expected: AllWanted,
  life: number,
): Promise<number> {
  let done = 0
  try {
    for (let turn = 0; ; turn++) {
      const user = users[Math.floor(Math.random() * users.length)] as User
      const name = `name-${Math.floor(Math.random() * NAMES)}`
      const known = expected.get(`${user.userId} ${name}`) ?? { user, name, text: null, maybe: [] }
      expected.set(`${user.userId} ${name}`, known)
      if (Math.random() < 0.25) await remove(service, known)
      else await store(service, known, buildText(`${name} of life ${life}, turn ${turn}`))
      done++
      await sleep(Math.random() * 60)
    }
  } catch (error) {
    if ((error as Error).name === 'TimeoutError')
      throw new Error(`life ${life}: no answer within ${ANSWER_MS} ms`)
    await ended(service)
    return done
  }
}

type Known = Wanted & { user: User; name: string }

async function remove(service: RunningService, known: Known): Promise<void> {
  const { user, name } = known
  const listed = (await (await call(service, user, 'GET', '/api/rag/documents')).json()) as {
    id: string
    external_ids: string[]
  }[]
  const document = listed.find(({ external_ids }) => external_ids.includes(name))
  if (document === undefined) return
  known.maybe.push(null)
  const reply = await call(service, user, 'DELETE', `/api/rag/documents/${document.id}`)
  // A change in progress may be applied after the deletion.
  if (reply.ok) Object.assign(known, { text: null, maybe: [known.text, ...known.maybe] })
}

async function store(service: RunningService, known: Known, content: string): Promise<void> {
  const { user, name } = known
  known.maybe.push(content)
  const sent = { content, external_id: name, chunk_size: 100, chunk_overlap: 0 }
  const reply = await call(service, user, 'POST', '/api/rag/ingest/text', sent)
  // An accepted job is applied after all changes sent before it.
  if (reply.status === 202) Object.assign(known, { text: content, maybe: [] })
}

function call(
  { url }: RunningService,
  { key }: User,
  method: string,
  path: string,
  body?: object,
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body ? { 'content-type': 'application/json', prefer: 'respond-async' } : {}),
    },
    signal: AbortSignal.timeout(ANSWER_MS),
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
}

function buildText(name: string): string {
  const chunks = 1 + Math.floor(Math.random() ** 2 * CHUNKS_MAX)
  return Array.from({ length: chunks }, (_, n) => `${name}: ${n} ${'word '.repeat(10)}`).join(
    '\n\n',
  )
}

type Document = { user_id: string; id: string; version: string; chunks: number }

function read<T>(dataDir: string, ask: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(join(dataDir, 'latchkey.db'), { timeout: 10_000 })
  try {
    return ask(db)
  } finally {
    db.close()
  }
}

const readTexts = (db: DatabaseSync, { user_id, version }: Document) =>
  db
    .prepare(
      'select gap, content from rag_chunks where user_id = ? and version = ? order by chunk_index',
    )
    .all(user_id, version) as { gap: string; content: string }[]

/**
 * Finds documents whose chunk count is wrong, and jobs whose progress differs from their stored
 * chunks.
 */
function findIncomplete(dataDir: string): string[] {
  return read(dataDir, (db) => {
    const documents = db.prepare('select * from rag_documents').all() as Document[]
    const half = documents.filter((document) => readTexts(db, document).length !== document.chunks)
    const jobs = db
      .prepare(
        `select id, done, (select count(*) from rag_chunks c where c.user_id = j.user_id and c.version = j.id) as written
         from rag_jobs j where state = 'running'`,
      )
      .all() as { id: string; done: number; written: number }[]
    // A job from another embedder starts again, so it may have fewer chunks for a moment, but at
    // most one batch more.
    const miscounted = jobs.filter(({ done, written }) => written !== done && done !== 0)
    return [
      ...half.map(({ id }) => `document ${id} is incomplete`),
      ...miscounted.map(
        ({ id, done, written }) => `job ${id} counts ${done} chunks and has ${written}`,
      ),
    ]
  })
}

const begunJobs = (dataDir: string) =>
  read(dataDir, (db) => {
    const row = db
      .prepare(`select count(*) as n from rag_jobs where state = 'running' and done > 0`)
      .get()
    return Number(row?.n ?? 0)
  })

function lost(dataDir: string, expected: AllWanted): string[] {
  return read(dataDir, (db) => {
    const wrong: string[] = []
    for (const { user, name, text, maybe } of expected.values()) {
      const document = db
        .prepare(
          'select d.* from rag_external_ids e join rag_documents d on d.user_id = e.user_id and d.id = e.document_id where e.user_id = ? and external_id = ?',
        )
        .get(user.userId, name) as Document | undefined
      const now = document
        ? readTexts(db, document)
            .map(({ gap, content }) => gap + content)
            .join('')
        : null
      if (![text, ...maybe].some((one) => one?.trim() === now?.trim()))
        wrong.push(`${name} has ${now?.slice(0, 40)}, not ${text?.slice(0, 40)}`)
    }
    const failed = db.prepare(`select error_json from rag_jobs where state = 'failed'`).all()
    return [...wrong, ...failed.map(({ error_json }) => `a job failed: ${error_json}`)]
  })
}

/** Finds chunks and inputs that no document names and no job will delete. */
function findOrphans(dataDir: string): string[] {
  return read(dataDir, (db) => {
    const swept = new Set(
      db
        .prepare(`select payload_json from jobs where kind = 'rag.sweep'`)
        .all()
        .map(
          ({ payload_json }) => (JSON.parse(String(payload_json)) as { version: string }).version,
        ),
    )
    const chunks = db
      .prepare(
        'select distinct version from rag_chunks where version not in (select version from rag_documents)',
      )
      .all()
      .filter(({ version }) => !swept.has(String(version)))
    const inputs = db
      .prepare('select distinct job_id from rag_job_inputs')
      .all()
      .filter(({ job_id }) => !swept.has(String(job_id)))
    return [
      ...chunks.map(({ version }) => `chunks of ${version} belong to no document`),
      ...inputs.map(({ job_id }) => `the input of job ${job_id} was not deleted`),
    ]
  })
}

/**
 * A waiting job may have been tried once per kill: the last delay between two attempts is two
 * hours, the usual one a minute.
 */
const REST_MS = 20 * 60_000

/** Waits until everything is stored, embedded and swept. @throws Error with the remaining jobs */
async function waitUntilIdle(
  service: RunningService,
  users: User[],
  dataDir: string,
): Promise<void> {
  const deadline = Date.now() + REST_MS
  for (let reportedAtMs = Date.now(); Date.now() < deadline; await sleep(500)) {
    const ofUsers = await Promise.all(
      users.map(
        async (user) =>
          (await (await call(service, user, 'GET', '/api/rag/jobs?limit=1000')).json()) as {
            state: string
          }[],
      ),
    )
    const unfinished = ofUsers
      .flat()
      .filter(({ state }) => state === 'queued' || state === 'running').length
    const now = new Date().toISOString()
    const due = read(dataDir, (db) =>
      db
        .prepare(
          `select count(*) as n from jobs where kind like 'rag.%' and status = 'queued' and run_at < ?`,
        )
        .get(now),
    )
    if (unfinished === 0 && due?.n === 0) return
    if (Date.now() - reportedAtMs < 30_000) continue
    reportedAtMs = Date.now()
    console.log(`  waiting for ${unfinished} documents and ${due?.n} due jobs`)
  }
  throw new Error(`work remains: ${JSON.stringify(waiting(dataDir))}`)
}

function waiting(dataDir: string): unknown {
  return read(dataDir, (db) => [
    db
      .prepare(
        `select state, count(*) as n, max(attempts) as attempts from rag_jobs group by state`,
      )
      .all(),
    db
      .prepare(
        `select kind, status, attempts, run_at, last_error from jobs where kind like 'rag.%' and status = 'queued'`,
      )
      .all(),
  ])
}

/** Starts a vendor that returns vectors after a short delay. */
async function startVendor(): Promise<Server> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { input, model } = JSON.parse(Buffer.concat(parts).toString() || '{}') as {
      input: string[]
      model: string
    }
    await sleep(20 + Math.random() * 80)
    const data = [input]
      .flat()
      .map((text, index) => ({ index, embedding: [1, text.length % 7, text.length % 5, 1] }))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ data, model, usage: { prompt_tokens: 1, total_tokens: 1 } }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}
