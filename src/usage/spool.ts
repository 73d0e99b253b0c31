// Settled calls that the database would not take: lines of JSON in a file beside it, written again until it does.
// The trap: a line may be written twice (the process died after the commit), so writing a record must be idempotent.
import { appendFile, readdir, readFile, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { databaseFailure } from '#platform/db/failures.ts'
import { makeFolder } from '#platform/folder.ts'
import { within } from '#platform/readiness.ts'
import { type Log, seldom } from '#platform/telemetry/log.ts'

export type Spool<T> = {
  /** Resolves when the line is in the file; where no file can be written either, it stays in memory. */
  add(entry: T): Promise<void>
  /** From the first entry until a replay succeeds: asking the database would only be waiting for it. */
  isFailing(): boolean
  /** Tries what is there, now and every two seconds. */
  start(): Promise<void>
  /** Tries a last time, and for a while: what the database does not take then is the next start's. */
  stop(): Promise<void>
}

const NAME = 'usage-spool.jsonl'
/** Being written to the database; left behind by a process that died over it. */
const TAKEN = /^usage-spool\.[0-9a-f-]+\.jsonl$/
const REPLAY_MS = 2_000
const LAST_REPLAY_MS = 5_000
const BATCH_MAX = 256
const UNSAVED_MAX = 10_000

/** `onLost` hears of an entry that stands in the log alone from now on. */
type Options<T> = { dataDir: string; log: Log; onLost?: (entry: T) => void }

/** `write` gets entries in their order, in one transaction, and passes over those that are there already. */
export function createSpool<T>(
  { dataDir, log, onLost = () => {} }: Options<T>,
  write: (entries: T[]) => Promise<void>,
): Spool<T> {
  const path = join(dataDir, NAME)
  const say = seldom((details, message) => log.error(details, message))
  let unsaved: T[] = []
  let isEmpty = true
  let isFailing = false
  let isStopped = false
  let replaying: Promise<void> | null = null
  let timer: NodeJS.Timeout | null = null
  /** For the files' names alone: what is added is added before the file is taken, or after. Nobody waits here for the database. */
  let last: Promise<void> = Promise.resolve()
  const inTurn = (work: () => Promise<void>) => {
    const run = last.then(work)
    last = run.catch(() => {})
    return run
  }

  async function append(entries: T[]) {
    makeFolder(dataDir)
    // The empty line before ends what a full disk may have cut off.
    const lines = `\n${entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')}`
    await appendFile(path, lines, { mode: 0o600, flush: true })
  }

  async function add(entry: T) {
    isEmpty = false
    isFailing = true
    try {
      await append([...unsaved, entry])
      unsaved = []
    } catch (err) {
      if (unsaved.length < UNSAVED_MAX) unsaved.push(entry)
      else {
        log.error({ entry }, 'a usage record is lost: neither the database nor its disk takes it')
        onLost(entry)
      }
      say({ err }, 'usage records are kept in memory: neither the database nor its disk takes them')
    }
  }

  /** One at a time, however long the database takes. */
  const replayOnce = () => {
    replaying ??= replay().finally(() => {
      replaying = null
    })
    return replaying
  }

  async function replay() {
    if (isEmpty) return
    try {
      await inTurn(async () => {
        isEmpty = true
        await rename(path, join(dataDir, `usage-spool.${crypto.randomUUID()}.jsonl`)).catch(
          unlessMissing,
        )
      })
      for (const name of await readdir(dataDir)) {
        if (!TAKEN.test(name)) continue
        const taken = join(dataDir, name)
        await writeAll(entriesOf<T>(log, await readFile(taken, 'utf8')))
        await unlink(taken).catch(unlessMissing)
      }
      const kept = new Set(unsaved)
      await writeAll([...kept])
      unsaved = unsaved.filter((entry) => !kept.has(entry))
      isFailing = false
    } catch (err) {
      isEmpty = false
      isFailing = true
      say({ err }, 'usage records wait in a file until the database takes them')
    }
  }

  async function writeAll(entries: T[]) {
    for (let from = 0; from < entries.length; from += BATCH_MAX) {
      const batch = entries.slice(from, from + BATCH_MAX)
      try {
        await write(batch)
      } catch (error) {
        if (databaseFailure(error) !== null || isStopped) throw error
        // It is not the database's state: one of them is at fault, and keeps no other from it.
        for (const entry of batch) await writeAlone(entry)
      }
    }
  }

  async function writeAlone(entry: T) {
    try {
      await write([entry])
    } catch (err) {
      if (databaseFailure(err) !== null || isStopped) throw err
      // The last resort: the operator can enter it by hand.
      log.error({ err, entry }, 'a usage record could not be written')
      onLost(entry)
    }
  }

  return {
    add: (entry) => inTurn(() => add(entry)),
    isFailing: () => isFailing,
    async start() {
      const names = await readdir(dataDir).catch(() => [])
      isEmpty = !names.some((name) => name === NAME || TAKEN.test(name))
      await replayOnce()
      timer ??= setInterval(() => void replayOnce(), REPLAY_MS).unref()
    },
    async stop() {
      if (timer) clearInterval(timer)
      timer = null
      const lastTry = async () => {
        await replaying
        if (!isStopped) await replayOnce()
      }
      await within(LAST_REPLAY_MS, lastTry(), undefined)
      isStopped = true
      if (unsaved.length > 0)
        await inTurn(() => append(unsaved).catch((err) => say({ err }, 'usage records are lost')))
    },
  }
}

/** The last line may be half of one: a disk that filled up, or a process that died over it. */
function entriesOf<T>(log: Log, text: string): T[] {
  return text.split('\n').flatMap((line) => {
    if (line === '') return []
    try {
      return [JSON.parse(line) as T]
    } catch {
      log.error({ line }, 'half a usage record was found')
      return []
    }
  })
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
