/**
 * Stores settlements that the database did not accept as lines of JSON in a file, and writes them when
 * the database accepts them again. The trap: the process may die after the commit, so a line may be
 * written twice, and `write` must be idempotent.
 */
import { appendFile, readdir, readFile, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { databaseFailure } from '#platform/db/failures.ts'
import { makeFolder } from '#platform/folder.ts'
import { within } from '#platform/readiness.ts'
import { type Log, seldom } from '#platform/telemetry/log.ts'

const NAME = 'usage-spool.jsonl'
/** Names of files that are being replayed. After a crash, the next process replays them. */
const TAKEN = /^usage-spool\.[0-9a-f-]+\.jsonl$/
const REPLAY_MS = 2_000
const LAST_REPLAY_MS = 5_000
const BATCH_MAX = 256
const UNSAVED_MAX = 10_000

/**
 * `write` writes the entries in order and in one transaction, and skips entries that were written
 * before. `onLost` is called for an entry that can never be written.
 */
type Options<T> = {
  dataDir: string
  log: Log
  write: (entries: T[]) => Promise<void>
  onLost?: (entry: T) => Promise<void>
}

export class Spool<T> {
  readonly #options: Options<T>
  readonly #report: (details: object, message: string) => void
  /** Entries that could not be appended to the file either. */
  #unsaved: T[] = []
  #isEmpty = true
  #isFailing = false
  #isStopped = false
  #replaying: Promise<void> | null = null
  #timer: NodeJS.Timeout | undefined
  /** Serializes appending and renaming; never waits for the database. */
  #fileWork: Promise<void> = Promise.resolve()

  constructor(options: Options<T>) {
    this.#options = options
    this.#report = seldom((details, message) => options.log.error(details, message))
  }

  /** True from the first entry until a replay succeeds; until then, callers skip the database. */
  get isFailing(): boolean {
    return this.#isFailing
  }

  /** Resolves when the entry is in the file, or in memory if the file cannot be written. */
  add(entry: T): Promise<void> {
    return this.#withFile(async () => {
      this.#isEmpty = false
      this.#isFailing = true
      try {
        await this.#append([...this.#unsaved, entry])
        this.#unsaved = []
      } catch (err) {
        if (this.#unsaved.length < UNSAVED_MAX) this.#unsaved.push(entry)
        else
          this.#options.log.error(
            { entry },
            'a usage record is lost: neither the database nor the disk accepts it',
          )
        this.#report(
          { err },
          'usage records wait in memory: neither the database nor the disk accepts them',
        )
      }
    })
  }

  /** Replays the file now, and every two seconds. */
  async start(): Promise<void> {
    const names = await readdir(this.#options.dataDir).catch(() => [])
    this.#isEmpty = !names.some((name) => name === NAME || TAKEN.test(name))
    await this.#replayOnce()
    this.#timer ??= setInterval(() => void this.#replayOnce(), REPLAY_MS).unref()
  }

  /** Replays a last time, for at most five seconds; the rest is replayed after the next start. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    const replayLast = async () => {
      await this.#replaying
      if (!this.#isStopped) await this.#replayOnce()
    }
    await within(LAST_REPLAY_MS, replayLast(), undefined)
    this.#isStopped = true
    if (this.#unsaved.length === 0) return
    await this.#withFile(() =>
      this.#append(this.#unsaved).catch((err) => this.#report({ err }, 'usage records are lost')),
    )
  }

  #withFile(work: () => Promise<void>): Promise<void> {
    const run = this.#fileWork.then(work)
    this.#fileWork = run.catch(() => {})
    return run
  }

  async #append(entries: T[]): Promise<void> {
    makeFolder(this.#options.dataDir)
    // The leading line break ends a line that a full disk may have cut off.
    const lines = `\n${entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')}`
    await appendFile(join(this.#options.dataDir, NAME), lines, { mode: 0o600, flush: true })
  }

  /** Starts a replay, or returns the running one. */
  #replayOnce(): Promise<void> {
    this.#replaying ??= this.#replay().finally(() => {
      this.#replaying = null
    })
    return this.#replaying
  }

  async #replay(): Promise<void> {
    if (this.#isEmpty) return
    const { dataDir } = this.#options
    try {
      await this.#withFile(async () => {
        this.#isEmpty = true
        const path = `usage-spool.${crypto.randomUUID()}.jsonl`
        await rename(join(dataDir, NAME), join(dataDir, path)).catch(ignoreMissing)
      })
      for (const name of await readdir(dataDir)) {
        if (!TAKEN.test(name)) continue
        const path = join(dataDir, name)
        await this.#writeAll(this.#parse(await readFile(path, 'utf8')))
        await unlink(path).catch(ignoreMissing)
      }
      const written = new Set(this.#unsaved)
      await this.#writeAll([...written])
      this.#unsaved = this.#unsaved.filter((entry) => !written.has(entry))
      this.#isFailing = false
    } catch (err) {
      this.#isEmpty = false
      this.#isFailing = true
      this.#report({ err }, 'usage records wait in a file until the database accepts them')
    }
  }

  async #writeAll(entries: T[]): Promise<void> {
    for (let from = 0; from < entries.length; from += BATCH_MAX) {
      const batch = entries.slice(from, from + BATCH_MAX)
      try {
        await this.#options.write(batch)
      } catch (error) {
        if (databaseFailure(error) !== null || this.#isStopped) throw error
        // Written one by one, so that a faulty entry does not block the others.
        for (const entry of batch) await this.#writeAlone(entry)
      }
    }
  }

  async #writeAlone(entry: T): Promise<void> {
    const { log, write, onLost } = this.#options
    try {
      await write([entry])
    } catch (err) {
      if (databaseFailure(err) !== null || this.#isStopped) throw err
      log.error(
        { err, entry },
        'a usage record could not be written; add it to the database manually',
      )
      await onLost?.(entry)
    }
  }

  /** Parses the lines. The last one may be incomplete if the disk was full or the process died. */
  #parse(text: string): T[] {
    return text.split('\n').flatMap((line) => {
      if (line === '') return []
      try {
        return [JSON.parse(line) as T]
      } catch {
        this.#options.log.error({ line }, 'an incomplete usage record was found')
        return []
      }
    })
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
