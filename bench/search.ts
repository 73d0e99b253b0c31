// Measures CPU and wall time of a search by the number of a user's chunks. In process, it compares
// with Tantivy, FTS5, LanceDB and sqlite-vec. Over HTTP, it uses SQLite and PostgreSQL
// (BENCH_DATABASE_URL: a server where databases can be created). Also measures the effect on
// another user's searches.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { chunkText } from '#rag/ingest/chunker.ts'
import { nearestRows } from '#rag/search/stores/nearest.ts'
import { rank, readQuestion } from '#rag/search/words/ranking.ts'
import { WordIndex } from '#rag/search/words/word-index.ts'
import { chunkEvaluation, dataFolder, xquad } from './lib/corpora.ts'
import { freshDatabase } from './lib/postgres.ts'
import { payingKeys, type RunningService, startService } from './lib/service.ts'
import { printTable, quantile } from './lib/table.ts'
import { installTantivy, installVectorPeers, LANCEDB, PEERS, TANTIVY } from './peers/install.ts'
import type { Busy } from './search/busy.ts'

export const description =
  'CPU and wall time of a search with 100 to 100,000 chunks, compared with Tantivy, FTS5, LanceDB and sqlite-vec'

const CHUNK_SIZE = 320
const SIZES = [100, 2_000, 10_000, 100_000]
const SEARCHES = 400
/**
 * The first searches run before their code is compiled, and a service runs for days, so they are
 * reported separately.
 */
const FIRST_SEARCHES = 200
const WARM_SEARCHES = 2_000
const DIMS = 384
/** Searches of another user, one at a time. */
const OTHERS = 300

export async function run(args: string[]): Promise<void> {
  const folder = dataFolder(args)
  if (folder === null) return
  const questions = chunkEvaluation(folder)
    .flatMap((corpus) => corpus.questions)
    .map(({ question }) => question)
  const texts = manyTexts(folder)
  inProcess(texts, questions)
  await engine('SQLite', null, texts, questions)
  const server = process.env.BENCH_DATABASE_URL
  if (server === undefined) {
    console.log('\n  BENCH_DATABASE_URL is not set: PostgreSQL is not measured')
    return
  }
  const database = await freshDatabase(server, 'latchkey_bench_search')
  try {
    await engine('PostgreSQL', database.url, texts, questions)
  } finally {
    await database.drop()
  }
}

function inProcess(texts: string[], questions: string[]): void {
  const queries = Array.from(
    { length: SEARCHES },
    (_, i) => questions[(i * 7) % questions.length] as string,
  )
  installTantivy()
  const sqliteVec = installVectorPeers()
  const rows: string[][] = []
  const vectors: string[][] = []
  for (const size of SIZES) {
    const shelf = new WordIndex()
    const some = texts.slice(0, size)
    const built = cpuMs(() => {
      for (const text of some) shelf.add(text)
    })
    const open = new Uint8Array(size).fill(1)
    const search = (question: string) => rank(shelf, readQuestion(shelf, question), open, 5)
    const first = cpuMs(() => queries.slice(0, FIRST_SEARCHES).forEach(search)) / FIRST_SEARCHES
    for (let i = 0; i < WARM_SEARCHES; i++) search(queries[i % SEARCHES] as string)
    const cpu = cpuMs(() => queries.forEach(search)) / SEARCHES
    rows.push([
      String(size),
      ...[first, cpu, tantivyMs(some, queries), fts5Ms(some, queries)].map(formatMs),
      sqliteVec === null ? '–' : formatMs(lanceDbMs(some, queries)),
      `${built.toFixed(0)} ms`,
      `${(shelf.bytes / 1e6).toFixed(1)} MB`,
    ])
    if (sqliteVec !== null)
      vectors.push([String(size), ...vectorsMs(size, sqliteVec).map(formatMs)])
  }
  printTable(
    `In process, chunks of at most ${CHUNK_SIZE} characters: CPU per search`,
    [
      'chunks',
      'first 200 searches',
      'warm',
      'Tantivy, stemmed',
      'FTS5, words',
      'LanceDB, stemmed',
      'CPU to build',
      'memory',
    ],
    rows,
  )
  if (vectors.length > 0)
    printTable(
      `In process, the exact nearest 5 of vectors with ${DIMS} floats: CPU per search`,
      ['vectors', 'Latchkey', 'sqlite-vec'],
      vectors,
    )
}

const formatMs = (ms: number) => `${ms.toFixed(2)} ms`

function tantivyMs(texts: string[], questions: string[]): number {
  const python = join(TANTIVY, 'bin/python')
  const input = JSON.stringify({ texts, questions })
  return Number(
    execFileSync(python, [join(PEERS, 'tantivy-search.py')], { input, encoding: 'utf8' }),
  )
}

function lanceDbMs(texts: string[], questions: string[]): number {
  const input = JSON.stringify({ texts, questions: questions.slice(0, 100) })
  return Number(
    execFileSync(LANCEDB, [join(PEERS, 'lancedb-search.py')], { input, encoding: 'utf8' }),
  )
}

/** Measures random unit vectors. Returns the times of Latchkey and of sqlite-vec. */
function vectorsMs(count: number, sqliteVec: string): [number, number] {
  let state = 7
  const draw = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32 - 0.5
  }
  const unit = () => {
    const vector = Float32Array.from({ length: DIMS }, draw)
    const length = Math.hypot(...vector)
    return vector.map((value) => value / length)
  }
  const rows = new Float32Array(count * DIMS)
  const db = new DatabaseSync(':memory:', { allowExtension: true })
  db.loadExtension(sqliteVec)
  db.exec(`create virtual table chunks using vec0(vector float[${DIMS}] distance_metric=cosine)`)
  const insert = db.prepare('insert into chunks (vector) values (?)')
  db.exec('begin')
  for (let row = 0; row < count; row++) {
    const vector = unit()
    rows.set(vector, row * DIMS)
    insert.run(new Uint8Array(vector.buffer))
  }
  db.exec('commit')
  const matrix = { indexes: Int32Array.from({ length: count }, (_, i) => i), rows }
  const select = db.prepare('select rowid from chunks where vector match ? and k = 5')
  const queries = Array.from({ length: 50 }, unit)
  const searches = [
    (vector: Float32Array) => nearestRows(matrix, vector, 5, () => {}),
    (vector: Float32Array) => void select.all(new Uint8Array(vector.buffer)),
  ] as const
  const [ours, theirs] = searches.map((search) => {
    queries.forEach(search)
    return cpuMs(() => queries.forEach(search)) / queries.length
  }) as [number, number]
  db.close()
  return [ours, theirs]
}

function fts5Ms(texts: string[], questions: string[]): number {
  const db = new DatabaseSync(':memory:')
  db.exec("create virtual table chunks using fts5(text, tokenize = 'porter unicode61')")
  const insert = db.prepare('insert into chunks (text) values (?)')
  db.exec('begin')
  for (const text of texts) insert.run(text)
  db.exec('commit')
  const select = db.prepare('select text from chunks where chunks match ? order by rank limit 5')
  const search = (question: string) =>
    select.all((question.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => `"${word}"`).join(' OR '))
  const some = questions.slice(0, texts.length > 10_000 ? 40 : questions.length)
  const cpu = cpuMs(() => some.forEach(search)) / some.length
  db.close()
  return cpu
}

async function engine(
  name: string,
  url: string | null,
  texts: string[],
  questions: string[],
): Promise<void> {
  const limits = { RATE_LIMIT_RAG: 'off', RATE_LIMIT_GENERAL: 'off', RATE_LIMIT_AUTH: 'off' }
  const service = await startService({
    ...limits,
    EMBEDDER: 'local',
    ...(url !== null && { DATABASE_URL: url }),
  })
  try {
    await overHttp(name, url, service, texts, questions)
  } finally {
    await service.stop()
  }
}

async function overHttp(
  name: string,
  databaseUrl: string | null,
  service: RunningService,
  texts: string[],
  questions: string[],
): Promise<void> {
  const rows: string[][] = []
  const beside: string[][] = []
  const bodies = questions.map((query) => JSON.stringify({ query, top_k: 5 }))
  const [somebody = NOBODY] = await createUsers(service, databaseUrl, 1, 100, texts)
  const besides = async (shape: string, users: Headers[], spinMs: number) => {
    for (const [what, url, ms] of [
      ['service', `${service.url}/api/rag/search`, [0, 0]],
      ['bare server', await bareServer(), [spinMs, SOMEBODY_MS]],
    ] as const) {
      const buildHeaders = (headers: Headers, who: number) => ({
        ...headers,
        user: String(who),
        ms: String(ms[who]),
      })
      const search = asking(url, [buildHeaders(somebody, 1)], bodies)
      await searchMany(search, 1, OTHERS)
      for (const inFlight of [0, 1, 16]) {
        const headers = users.map((user) => buildHeaders(user, 0))
        const busy = new Worker(new URL('search/busy.ts', import.meta.url), {
          workerData: { url, headers, bodies, inFlight } satisfies Busy,
        })
        await new Promise((resolve) => setTimeout(resolve, 500))
        const times = await searchMany(search, 1, OTHERS, PAUSE_MS)
        await busy.terminate()
        beside.push([
          shape,
          what,
          String(inFlight),
          ...[0.5, 0.99].map((at) => `${quantile(times, at).toFixed(1)} ms`),
        ])
      }
    }
  }
  for (const [users, chunks] of SHAPES) {
    const shape = `${users} × ${chunks}`
    const all = await createUsers(service, databaseUrl, users, chunks, texts)
    const search = asking(`${service.url}/api/rag/search`, all, bodies)
    let firstMs = 0
    for (let i = 0; i < Math.min(users, 20); i++)
      firstMs += (await wallMs(() => search(i))) / Math.min(users, 20)
    await searchMany(search, 16, Math.max(users, WARM_SEARCHES))
    let cpu = 0
    for (const inFlight of [1, 16]) {
      const before = service.cpuMs()
      const times = await searchMany(search, inFlight, SEARCHES)
      cpu = (service.cpuMs() - before) / SEARCHES
      rows.push([
        shape,
        String(inFlight),
        formatMs(cpu),
        `${quantile(times, 0.5).toFixed(1)} ms`,
        `${quantile(times, 0.99).toFixed(1)} ms`,
        `${firstMs.toFixed(0)} ms`,
        `${Math.round(service.memoryMb())} MB`,
      ])
    }
    if (users === 1) await besides(shape, all, cpu)
  }
  printTable(
    `${name}: over HTTP, including request, texts and usage record (all threads of the service)`,
    ['users × chunks', 'in flight', 'CPU per search', 'p50', 'p99', 'first search', 'memory'],
    rows,
  )
  printTable(
    `${name}: another user's search over 100 chunks while one user has searches in flight; also at a bare server
  that blocks its thread as long as each search takes`,
    ['users × chunks', '', 'in flight', 'p50', 'p99'],
    beside,
  )
}

type Headers = Record<string, string>
const NOBODY: Headers = {}
/** CPU time of a search over 100 chunks. */
const SOMEBODY_MS = 0.7
/**
 * Pause between two searches of the other user. After a longer pause the service would have slept.
 */
const PAUSE_MS = 5

const SHAPES = [
  [1, 100_000],
  [1_000, 100],
  [100, 2_000],
  [1, 2_000],
] as const

async function bareServer(): Promise<string> {
  const worker = new Worker(new URL('search/bare.ts', import.meta.url))
  worker.unref()
  const [port] = await once(worker, 'message')
  return `http://127.0.0.1:${port}/`
}

/** Creates users with `chunks` chunks each. Returns the headers of their requests. */
async function createUsers(
  service: RunningService,
  databaseUrl: string | null,
  users: number,
  chunks: number,
  texts: string[],
): Promise<Headers[]> {
  const keys = await payingKeys(service, databaseUrl, users)
  const all = keys.map((key) => ({
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
  }))
  for (const [i, headers] of all.entries()) {
    const start = (i * 977) % (texts.length - chunks + 1)
    for (let from = 0; from < chunks; from += 20_000) {
      const content = texts
        .slice(start + from, start + Math.min(chunks, from + 20_000))
        .join('\n\n')
      const body = JSON.stringify({ content, chunk_size: CHUNK_SIZE, chunk_overlap: 0 })
      await post(`${service.url}/api/rag/ingest/text`, headers, body)
    }
  }
  return all
}

/** Searches as each user in turn, with a different question each time. */
function asking(url: string, users: Headers[], bodies: string[]): (i: number) => Promise<void> {
  return (i) =>
    post(url, users[i % users.length] as Headers, bodies[(i * 7) % bodies.length] as string)
}

async function post(url: string, headers: Headers, body: string): Promise<void> {
  const reply = await fetch(url, { method: 'POST', headers, body })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${url}: ${reply.status} ${text.slice(0, 200)}`)
}

async function searchMany(
  search: (i: number) => Promise<void>,
  inFlight: number,
  count: number,
  pauseMs = 0,
): Promise<number[]> {
  const times: number[] = []
  let next = 0
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (next < count) {
        const i = next++
        times.push(await wallMs(() => search(i)))
        if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    }),
  )
  return times.sort((a, b) => a - b)
}

/** Returns distinct chunks of prose, each from random sentences of all sets. */
function manyTexts(folder: string): string[] {
  const prose = [
    ...chunkEvaluation(folder).map(({ text }) => text),
    xquad(folder, 'en').paragraphs.join('\n\n'),
  ]
  const sentences = prose.flatMap((text) =>
    chunkText(text, { size: 160, overlap: 0 }).map((chunk) => chunk.text),
  )
  let state = 1
  const draw = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return sentences[Math.floor((state / 2 ** 32) * sentences.length)] as string
  }
  return Array.from({ length: Math.max(...SIZES) }, () =>
    `${draw()} ${draw()}`.slice(0, CHUNK_SIZE),
  )
}

function cpuMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

async function wallMs(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}
