// What a search costs: CPU and wall time as one user's shelf grows, in process and over HTTP, and how long the first search of all takes.
import { chunkText } from '#rag/ingest/chunker.ts'
import { rank, readQuestion } from '#rag/search/words/ranking.ts'
import { Shelf } from '#rag/search/words/shelf.ts'
import { chunkEvaluation, dataFolder, xquad } from './lib/corpora.ts'
import { payingUser, type RunningService, startService } from './lib/service.ts'
import { printTable, quantile } from './lib/table.ts'

export const says = 'CPU and wall time of a search at 100 to 100,000 chunks of a user'

const CHUNK_SIZE = 320
const SIZES = [100, 2_000, 10_000, 100_000]
const SEARCHES = 200

export async function run(args: string[]): Promise<void> {
  const folder = dataFolder(args)
  if (folder === null) return
  const questions = chunkEvaluation(folder)
    .flatMap((corpus) => corpus.questions)
    .map(({ question }) => question)
  const texts = manyTexts(folder)
  inProcess(texts, questions)
  const service = await startService({ RATE_LIMIT_RAG: 'off', RATE_LIMIT_GENERAL: 'off', EMBEDDER: 'local' })
  try {
    await overHttp(service, texts, questions)
  } finally {
    await service.stop()
  }
}

function inProcess(texts: string[], questions: string[]): void {
  const rows: string[][] = []
  for (const size of SIZES) {
    const shelf = new Shelf()
    const built = cpuMs(() => {
      for (const text of texts.slice(0, size)) shelf.add(text)
    })
    const open = new Uint8Array(size).fill(1)
    const times: number[] = []
    const cpu = cpuMs(() => {
      for (let i = 0; i < SEARCHES; i++) {
        const started = performance.now()
        rank(shelf, readQuestion(shelf, questions[(i * 7) % questions.length] as string), open, 5)
        times.push(performance.now() - started)
      }
    })
    times.sort((a, b) => a - b)
    rows.push([
      String(size),
      `${(cpu / SEARCHES).toFixed(2)} ms`,
      `${quantile(times, 0.5).toFixed(2)} ms`,
      `${quantile(times, 0.99).toFixed(2)} ms`,
      `${built.toFixed(0)} ms`,
      `${(shelf.bytes / 1e6).toFixed(1)} MB`,
    ])
  }
  printTable(
    `In process, chunks of at most ${CHUNK_SIZE} characters`,
    ['chunks', 'CPU a search', 'p50', 'p99', 'CPU to build', 'memory'],
    rows,
  )
}

async function overHttp(service: RunningService, texts: string[], questions: string[]): Promise<void> {
  const rows: string[][] = []
  for (const size of [2_000, 100_000]) {
    const { token } = await payingUser(service)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const post = async (path: string, body: object) => {
      const reply = await fetch(`${service.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      const text = await reply.text()
      if (!reply.ok) throw new Error(`${path}: ${reply.status} ${text.slice(0, 200)}`)
    }
    for (let from = 0; from < size; from += 20_000) {
      const content = texts.slice(from, Math.min(size, from + 20_000)).join('\n\n')
      await post('/api/rag/ingest/text', { content, chunk_size: CHUNK_SIZE, chunk_overlap: 0 })
    }
    const search = (i: number) =>
      post('/api/rag/search', { query: questions[(i * 7) % questions.length] as string, top_k: 5 })
    const firstMs = await wallMs(() => search(0))
    for (const inFlight of [1, 16]) {
      const times: number[] = []
      const before = service.cpuMs()
      let next = 0
      await Promise.all(
        Array.from({ length: inFlight }, async () => {
          while (next < SEARCHES) {
            const i = next++
            times.push(await wallMs(() => search(i)))
          }
        }),
      )
      times.sort((a, b) => a - b)
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
  }
  printTable(
    'Over HTTP, with the request, the texts and the record of usage (all threads of the service)',
    ['chunks', 'in flight', 'CPU a search', 'p50', 'p99', 'first search', 'memory'],
    rows,
  )
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
