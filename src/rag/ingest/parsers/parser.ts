// Reads untrusted files on worker threads, which are killed when they use too much CPU time or
// memory. A file's name claims its format and its first bytes prove it; both must agree.
import { setTimeout as sleep } from 'node:timers/promises'
import { Piscina } from 'piscina'
import { type Content, inFile } from '#platform/content.ts'
import type { Problem } from '#platform/problem.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { TemporaryFiles } from '#platform/temporary-files.ts'
import { ragProblem } from '../../problems.ts'
import type { Outline } from '../outline.ts'
import { adviseUpload, type Format, findFormat, findPackage } from './formats.ts'
import type { Warning } from './unreadable.ts'
import { type Outcome, type Task, UNKNOWN } from './worker-task.ts'

export type Limits = {
  /** CPU time of the thread. A file that needs more is refused permanently. */
  cpuMs: number
  /** With the wait for a thread. Beyond it 503: the machine is busy, the file may be good. */
  wallMs: number
  heapMb: number
  /** Memory of the thread outside its heap: typed arrays, such as inflated streams. */
  buffersMb: number
}

export type ParsedFile = {
  /** Never empty. A long text is a UTF-8 file, which the caller removes. */
  text: string | Content
  outline: Outline
  warnings: Warning[]
}

const defaults: Limits = { cpuMs: 60_000, wallMs: 2 * 60_000, heapMb: 512, buffersMb: 768 }
/** No client waits for the reply of a job. */
export const JOB_WALL_MS = 10 * 60_000
const THREADS_MAX = 2
const QUEUE_MAX = 32
const WATCH_MS = 100
/** Files up to this size rarely contain a long text; one that does is read twice. */
const SHORT_BYTES = 64 * 1024

type ParserDeps = { temporaryFiles: Pick<TemporaryFiles, 'create'>; log: Pick<Log, 'warn'> }

export function createParser({ temporaryFiles, log }: ParserDeps, limits: Partial<Limits> = {}) {
  const { cpuMs, wallMs, heapMb, buffersMb } = { ...defaults, ...limits }
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
    /** @throws Problem 415 (format), 422 (unreadable, with the reason), 503 (too many at once) */
    async read(
      name: string,
      { sizeBytes, place, read }: Content,
      signal: AbortSignal,
    ): Promise<ParsedFile> {
      const format = detectFormat(name, await read(0, Math.min(sizeBytes, HEAD_BYTES)))
      const task = { ...format, place, start: new Int32Array(new SharedArrayBuffer(8)) }
      // A short file needs no disk, unless it unpacks to a long text.
      const outcome =
        sizeBytes <= SHORT_BYTES ? await run({ ...task, longPath: null }, signal) : null
      return outcome === null || 'needsFile' in outcome
        ? readLong(task, signal)
        : toParsedFile(outcome)
    },
    close: () => pool.destroy(),
  }

  async function readLong(task: Omit<Task, 'longPath'>, signal: AbortSignal): Promise<ParsedFile> {
    const long = temporaryFiles.create()
    try {
      const outcome = await run({ ...task, longPath: long.path }, signal)
      const file = toParsedFile(outcome, long.path)
      if (typeof file.text === 'string') long.remove()
      return file
    } catch (error) {
      long.remove()
      throw error
    }
  }

  async function run(task: Task, signal: AbortSignal): Promise<Outcome> {
    const killed = new AbortController()
    const timer = setTimeout(() => killed.abort(tooBusy(60)), wallMs)
    watch(task, killed)

    try {
      return await pool.run(task, { signal: AbortSignal.any([signal, killed.signal]) })
    } catch (error) {
      if (killed.signal.aborted) throw killed.signal.reason
      if (signal.aborted) throw error
      if ((error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY')
        throw unreadable(TOO_MUCH_MEMORY)
      if (pool.queueSize >= QUEUE_MAX) throw tooBusy(5)
      // Damage that no parser foresaw, or a bug of the parser.
      log.warn({ err: error, format: task.format }, 'a file could not be read')
      throw unreadable('The file is damaged and cannot be read.', error)
    } finally {
      clearTimeout(timer)
      killed.abort()
    }
  }

  /** Aborts `killed` when the thread has used too much. Both readings interrupt a busy thread. */
  async function watch({ start }: Task, killed: AbortController): Promise<void> {
    for (; !killed.signal.aborted; await sleep(WATCH_MS)) {
      const [id, cpuMsAtStart = UNKNOWN] = start
      const thread = pool.threads.find(({ threadId }) => threadId === id)
      const memory = await thread?.getHeapStatistics().catch(() => undefined)
      // Rejects where the system does not count a thread's CPU time; then only `wallMs` limits it.
      const cpu = await thread?.cpuUsage().catch(() => undefined)
      if ((memory?.external_memory ?? 0) > buffersMb * 1024 * 1024)
        killed.abort(unreadable(TOO_MUCH_MEMORY))
      if (cpu === undefined || cpuMsAtStart === UNKNOWN) continue
      if ((cpu.user + cpu.system) / 1_000 - cpuMsAtStart > cpuMs)
        killed.abort(unreadable(TOO_MUCH_TIME))
    }
  }
}

/** @throws Problem 422 */
function toParsedFile(outcome: Outcome, longPath = ''): ParsedFile {
  if ('unreadable' in outcome) throw unreadable(outcome.unreadable)
  if ('needsFile' in outcome) throw new Error('a long text has no file')
  const { outline, warnings } = outcome
  return {
    text: 'text' in outcome ? outcome.text : inFile(longPath, outcome.utf8Bytes),
    outline,
    warnings,
  }
}

const TOO_MUCH_MEMORY =
  'The file takes too much memory to read: it is damaged, or unpacks to far more than it seems.'
const TOO_MUCH_TIME =
  'The file takes too long to read. Split it, or save it anew, and send it again.'

function tooBusy(seconds: number): Problem {
  return ragProblem('parser_busy', { headers: { 'Retry-After': String(seconds) } })
}

function unreadable(msg: string, cause?: unknown): Problem {
  return ragProblem('file_unreadable', {
    issues: [{ loc: ['body', 'file'], msg, type: 'unreadable_file' }],
    cause,
  })
}

/** Readers accept bytes before a PDF's header, within the first 1,024 (PDF 1.7, annex H.3.4.1). */
const HEAD_BYTES = 1024

/** Formats that an OLE container may hold. */
const OFFICE = new Set<Format>(['docx', 'xlsx', 'pptx'])

/** Detects the format by the file's name and first bytes. @throws Problem 415, 422 */
function detectFormat(name: string, head: Uint8Array): Pick<Task, 'format' | 'ending'> {
  const ending = /\.([^./\\]{1,16})$/.exec(name)?.[1]?.toLowerCase() ?? ''
  const claimed = findFormat(ending)
  if (claimed === undefined) {
    throw ragProblem('file_type_unsupported', { advice: adviseUpload(ending) })
  }
  if (head.length === 0) throw unreadable('The file is empty.')

  const actual = detectMagic(head)
  const kind = findPackage(claimed)
  if (actual === 'ole' && kind !== undefined && OFFICE.has(claimed))
    return { format: 'ole', ending }
  const isOther = actual === 'zip' || actual === 'ole' || (actual === 'pdf' && head[0] === 0x25)
  if (claimed === 'pdf') {
    if (actual !== 'pdf') throw unreadable('The file is named .pdf but is not a PDF.')
  } else if (kind !== undefined) {
    if (actual !== 'zip') throw unreadable(`The file is named .${ending} but is not ${kind}.`)
  } else if (isOther) throw unreadable(`The file is named .${ending} but is not a text file.`)
  return { format: claimed, ending }
}

function detectMagic(bytes: Uint8Array): 'pdf' | 'zip' | 'ole' | undefined {
  const starts = (...magic: number[]) => magic.every((byte, i) => bytes[i] === byte)
  if (starts(0x50, 0x4b, 0x03, 0x04) || starts(0x50, 0x4b, 0x05, 0x06)) return 'zip'
  if (starts(0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1)) return 'ole'
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes('%PDF-')
    ? 'pdf'
    : undefined
}
