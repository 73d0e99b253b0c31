/**
 * Text out of strangers' files, on worker threads that are killed when they take too long or too much memory.
 * A file's name says what it claims to be, its first bytes what it is; both must agree.
 */
import { Piscina } from 'piscina'
import { type Content, inFile } from '#platform/content.ts'
import type { Problem } from '#platform/problem.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { TemporaryFiles } from '#platform/temporary-files.ts'
import { ragProblem } from '../../problems.ts'
import type { Outline } from '../outline.ts'
import type { Warning } from './unreadable.ts'
import type { Format, Outcome, Task } from './worker.ts'

export type Limits = {
  timeMs: number
  heapMb: number
  /** What the thread may hold outside of its heap, as typed arrays: inflated streams do. */
  buffersMb: number
}

export type ParsedFile = {
  /** Never empty; as UTF-8 in a file where it is long, which goes when whoever asked removes it. */
  text: string | Content
  outline: Outline
  warnings: Warning[]
}

const defaults: Limits = { timeMs: 60_000, heapMb: 512, buffersMb: 768 }
const THREADS_MAX = 2
const QUEUE_MAX = 32
const WATCH_MS = 100
/** Files up to here seldom hold a long text; one that does is read twice. */
const SHORT_BYTES = 64 * 1024

type ParserDeps = { temporaryFiles: Pick<TemporaryFiles, 'create'>; log: Pick<Log, 'warn'> }

export type Parser = ReturnType<typeof createParser>

export function createParser({ temporaryFiles, log }: ParserDeps, limits: Partial<Limits> = {}) {
  const { timeMs, heapMb, buffersMb } = { ...defaults, ...limits }
  const pool = new Piscina<Task, Outcome>({
    filename: new URL('./worker.ts', import.meta.url).href,
    name: 'parse',
    minThreads: 0,
    maxThreads: THREADS_MAX,
    maxQueue: QUEUE_MAX,
    idleTimeout: 10_000,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  })

  return {
    /** @throws Problem 415 (format), 422 (cannot be read, with the reason), 503 (too many at once) */
    async read(name: string, { sizeBytes, place, read }: Content, signal: AbortSignal): Promise<ParsedFile> {
      const format = formatOf(name, await read(0, Math.min(sizeBytes, HEAD_BYTES)))
      const told = new Int32Array(new SharedArrayBuffer(4))
      const task = { ...format, place, threadId: told }
      // A short file has no need of a disk, but where it unpacks to a long text.
      const outcome = sizeBytes <= SHORT_BYTES ? await run({ ...task, longPath: null }, signal) : null
      return outcome === null || 'needsFile' in outcome ? readLong(task, signal) : parsed(outcome)
    },
    close: () => pool.destroy(),
  }

  async function readLong(task: Omit<Task, 'longPath'>, signal: AbortSignal): Promise<ParsedFile> {
    const long = temporaryFiles.create()
    try {
      const outcome = await run({ ...task, longPath: long.path }, signal)
      const file = parsed(outcome, long.path)
      if (typeof file.text === 'string') long.remove()
      return file
    } catch (error) {
      long.remove()
      throw error
    }
  }

  async function run(task: Task, signal: AbortSignal): Promise<Outcome> {
    const killed = new AbortController()
    let reason = ''
    const kill = (why: string) => {
      reason = why
      killed.abort()
    }
    const timer = setTimeout(
      () => kill('The file takes too long to read. Split it, or save it anew, and send it again.'),
      timeMs,
    )
    const watch = setInterval(async () => {
      const thread = pool.threads.find(({ threadId }) => threadId === task.threadId[0])
      const memory = await thread?.getHeapStatistics().catch(() => undefined)
      if ((memory?.external_memory ?? 0) > buffersMb * 1024 * 1024) kill(tooMuchMemory)
    }, WATCH_MS)

    try {
      return await pool.run(task, { signal: AbortSignal.any([signal, killed.signal]) })
    } catch (error) {
      if (reason !== '') throw unreadable(reason)
      if (signal.aborted) throw error
      if ((error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY') throw unreadable(tooMuchMemory)
      if (pool.queueSize >= QUEUE_MAX) {
        throw ragProblem('parser_busy', { headers: { 'Retry-After': '5' } })
      }
      // Damage that no parser foresaw, or a fault of the parser's own.
      log.warn({ err: error, format: task.format }, 'a file could not be read')
      throw unreadable('The file is damaged and cannot be read.', error)
    } finally {
      clearTimeout(timer)
      clearInterval(watch)
    }
  }
}

/** @throws Problem 422 */
function parsed(outcome: Outcome, longPath = ''): ParsedFile {
  if ('unreadable' in outcome) throw unreadable(outcome.unreadable)
  if ('needsFile' in outcome) throw new Error('a long text has no file')
  const { outline, warnings } = outcome
  return { text: 'text' in outcome ? outcome.text : inFile(longPath, outcome.utf8Bytes), outline, warnings }
}

const tooMuchMemory = 'The file takes too much memory to read: it is damaged, or unpacks to far more than it seems.'

function unreadable(msg: string, cause?: unknown): Problem {
  return ragProblem('file_unreadable', { issues: [{ loc: ['body', 'file'], msg, type: 'unreadable_file' }], cause })
}

const endings: Record<Exclude<Format, 'ole'>, string> = {
  text: 'txt text md markdown mdx rst',
  code: 'json jsonl ndjson xml yaml yml toml ini conf cfg properties log srt vtt tex bib adoc org py pyi ipynb js mjs cjs jsx ts mts cts tsx vue svelte css scss less java kt kts scala groovy gradle c h cc cpp cxx hpp cs fs go rs swift m mm php rb pl pm lua r jl dart ex exs erl hs clj elm zig nim sql graphql proto sh bash zsh fish ps1 bat cmd mk cmake tf hcl diff patch',
  csv: 'csv tsv tab',
  html: 'html htm xhtml',
  pdf: 'pdf',
  docx: 'docx docm',
  xlsx: 'xlsx xlsm',
  pptx: 'pptx pptm',
  epub: 'epub',
}
const formats = new Map(
  Object.entries(endings).flatMap(([format, all]) => all.split(' ').map((ending) => [ending, format as Format])),
)
/** What a ZIP is that is named so. */
const packages: Partial<Record<Format, string>> = {
  docx: 'a Word document',
  xlsx: 'an Excel workbook',
  pptx: 'a PowerPoint presentation',
  epub: 'an EPUB',
}

/** Readers accept bytes before a PDF's header, within the first 1,024 (PDF 1.7, annex H.3.4.1). */
const HEAD_BYTES = 1024

/** What it is read as, by its name and its first bytes. @throws Problem 415, 422 */
function formatOf(name: string, head: Uint8Array): Pick<Task, 'format' | 'ending'> {
  const ending = /\.([^./\\]{1,16})$/.exec(name)?.[1]?.toLowerCase() ?? ''
  const claimed = formats.get(ending)
  if (claimed === undefined) {
    throw ragProblem('file_type_unsupported')
  }
  if (head.length === 0) throw unreadable('The file is empty.')

  const actual = magicOf(head)
  const kind = packages[claimed]
  if (actual === 'ole' && kind !== undefined && claimed !== 'epub') return { format: 'ole', ending }
  const isOther = actual === 'zip' || actual === 'ole' || (actual === 'pdf' && head[0] === 0x25)
  if (claimed === 'pdf') {
    if (actual !== 'pdf') throw unreadable('The file is named .pdf but is not a PDF.')
  } else if (kind !== undefined) {
    if (actual !== 'zip') throw unreadable(`The file is named .${ending} but is not ${kind}.`)
  } else if (isOther) throw unreadable(`The file is named .${ending} but is not a text file.`)
  return { format: claimed, ending }
}

function magicOf(bytes: Uint8Array): 'pdf' | 'zip' | 'ole' | undefined {
  const starts = (...magic: number[]) => magic.every((byte, i) => bytes[i] === byte)
  if (starts(0x50, 0x4b, 0x03, 0x04) || starts(0x50, 0x4b, 0x05, 0x06)) return 'zip'
  if (starts(0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1)) return 'ole'
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes('%PDF-') ? 'pdf' : undefined
}
