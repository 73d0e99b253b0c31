// What a search costs: CPU and wall time as one user's shelf grows, in process beside Tantivy and SQLite's FTS5, and over HTTP, on SQLite and
// (BENCH_DATABASE_URL: a server where databases may be made) PostgreSQL; and what it costs somebody else meanwhile.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { chunkText } from '#rag/ingest/chunker.ts'
import { rank, readQuestion } from '#rag/search/words/ranking.ts'
import { Shelf } from '#rag/search/words/shelf.ts'
import { chunkEvaluation, dataFolder, xquad } from './lib/corpora.ts'
import { freshDatabase } from './lib/postgres.ts'
import { payingUser, type RunningService, startService } from './lib/service.ts'
import { printTable, quantile } from './lib/table.ts'
import { installTantivy, PEERS, TANTIVY } from './peers/install.ts'

export const says = 'CPU and wall time of a search at 100 to 100,000 chunks of a user, beside Tantivy and FTS5'

const CHUNK_SIZE = 320
const SIZES = [100, 2_000, 10_000, 100_000]
const SEARCHES = 400
/** A service runs for days: what its first searches cost, until their code is compiled, is told apart. */
const FIRST_SEARCHES = 200
const WARM_SEARCHES = 2_000
/** Of somebody else, one after the other. */
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
  const asked = Array.from({ length: SEARCHES }, (_, i) => questions[(i * 7) % questions.length] as string)
  installTantivy()
  const rows: string[][] = []
  for (const size of SIZES) {
    const shelf = new Shelf()
    const some = texts.slice(0, size)
    const built = cpuMs(() => {
      for (const text of some) shelf.add(text)
    })
    const open = new Uint8Array(size).fill(1)
    const search = (question: string) => rank(shelf, readQuestion(shelf, question), open, 5)
    const first = cpuMs(() => asked.slice(0, FIRST_SEARCHES).forEach(search)) / FIRST_SEARCHES
    for (let i = 0; i < WARM_SEARCHES; i++) search(asked[i % SEARCHES] as string)
    const cpu = cpuMs(() => asked.forEach(search)) / SEARCHES
    rows.push([
      String(size),
      ...[first, cpu, tantivyMs(some, asked), fts5Ms(some, asked)].map((ms) => `${ms.toFixed(2)} ms`),
      `${built.toFixed(0)} ms`,
      `${(shelf.bytes / 1e6).toFixed(1)} MB`,
    ])
  }
  printTable(
    `In process, chunks of at most ${CHUNK_SIZE} characters: CPU a search`,
    ['chunks', 'the first 200', 'warm', 'Tantivy, stems', 'FTS5, words', 'CPU to build', 'memory'],
    rows,
  )
}

function tantivyMs(texts: string[], questions: string[]): number {
  const python = join(TANTIVY, 'bin/python')
  const input = JSON.stringify({ texts, questions })
  return Number(execFileSync(python, [join(PEERS, 'tantivy-search.py')], { input, encoding: 'utf8' }))
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

async function engine(name: string, url: string | null, texts: string[], questions: string[]): Promise<void> {
  const limits = { RATE_LIMIT_RAG: 'off', RATE_LIMIT_GENERAL: 'off', RATE_LIMIT_AUTH: 'off' }
  const service = await startService({ ...limits, EMBEDDER: 'local', ...(url !== null && { DATABASE_URL: url }) })
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
  const somebody = await shelfOf(service, databaseUrl, texts.slice(0, 100), questions)
  for (const size of [2_000, 100_000]) {
    const { search } = await shelfOf(service, databaseUrl, texts.slice(0, size), questions)
    const firstMs = await wallMs(() => search(0))
    await searchMany(search, 16, WARM_SEARCHES)
    for (const inFlight of [1, 16]) {
      const before = service.cpuMs()
      const times = await searchMany(search, inFlight, SEARCHES)
      rows.push([
        String(size),
        String(inFlight),
        `${((service.cpuMs() - before) / SEARCHES).toFixed(2)} ms`,
        `${quantile(times, 0.5).toFixed(1)} ms`,
        `${quantile(times, 0.99).toFixed(1)} ms`,
        `${firstMs.toFixed(0)} ms`,
        `${Math.round(service.memoryMb())} MB`,
      ])
    }
    await searchMany(somebody.search, 1, OTHERS)
    const told = (times: number[]) => [0.5, 0.99].map((share) => `${quantile(times, share).toFixed(1)} ms`)
    for (const inFlight of [0, 1, 16]) {
      const until = { isOver: false }
      const busy = Promise.all(
        Array.from({ length: inFlight }, async (_, from) => {
          for (let i = from; !until.isOver; i++) await search(i)
        }),
      )
      const times = await searchMany(somebody.search, 1, OTHERS)
      until.isOver = true
      await busy
      beside.push([String(size), String(inFlight), ...told(times)])
    }
  }
  printTable(
    `${name}: over HTTP, with the request, the texts and the record of usage (all threads of the service)`,
    ['chunks', 'in flight', 'CPU a search', 'p50', 'p99', 'first search', 'memory'],
    rows,
  )
  printTable(
    `${name}: a search of somebody else with 100 chunks, beside so many searches in flight without a pause`,
    ['chunks', 'in flight', 'p50', 'p99'],
    beside,
  )
}

/** A user with these chunks. */
async function shelfOf(service: RunningService, databaseUrl: string | null, texts: string[], questions: string[]) {
  const { token } = await payingUser(service, databaseUrl)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const post = async (path: string, body: object) => {
    const reply = await fetch(`${service.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await reply.text()
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${text.slice(0, 200)}`)
  }
  for (let from = 0; from < texts.length; from += 20_000) {
    const content = texts.slice(from, from + 20_000).join('\n\n')
    await post('/api/rag/ingest/text', { content, chunk_size: CHUNK_SIZE, chunk_overlap: 0 })
  }
  return {
    search: (i: number) =>
      post('/api/rag/search', { query: questions[(i * 7) % questions.length] as string, top_k: 5 }),
  }
}

async function searchMany(search: (i: number) => Promise<void>, inFlight: number, count: number): Promise<number[]> {
  const times: number[] = []
  let next = 0
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (next < count) {
        const i = next++
        times.push(await wallMs(() => search(i)))
      }
    }),
  )
  return times.sort((a, b) => a - b)
}

/** Distinct chunks of prose: sentences of all the sets, drawn anew for each. */
function manyTexts(folder: string): string[] {
  const prose = [...chunkEvaluation(folder).map(({ text }) => text), xquad(folder, 'en').paragraphs.join('\n\n')]
  const sentences = prose.flatMap((text) => chunkText(text, { size: 160, overlap: 0 }).map((chunk) => chunk.text))
  let state = 1
  const draw = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return sentences[Math.floor((state / 2 ** 32) * sentences.length)] as string
  }
  return Array.from({ length: Math.max(...SIZES) }, () => `${draw()} ${draw()}`.slice(0, CHUNK_SIZE))
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
