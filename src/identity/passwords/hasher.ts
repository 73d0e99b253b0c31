// Password hashing with Argon2id on worker threads, one hash per core at a time, with a bounded
// queue. When the queue is full, a sign-in is rejected with 503 at once, and the service does not
// stall.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Problem } from '#platform/problem.ts'
import { identityProblem } from '../problems.ts'
import type { HashTask } from './hash-worker.ts'
import { type Argon2Parameters, decodePhc, encodePhc, isOutdated, PARAMETERS } from './phc.ts'

export type Hasher = {
  /** @throws Problem 503 when too many wait. */
  hash(password: string): Promise<string>
  /**
   * Takes the same time with and without a stored hash (`null` never matches). `outdated`: hash the
   * same password again with the current parameters. @throws Problem 503 when the queue is full.
   */
  verify(password: string, stored: string | null): Promise<{ right: boolean; outdated: boolean }>
  close(): Promise<void>
}

export type HasherOptions = {
  /** Default: OWASP's. A stored hash with other parameters is outdated. */
  parameters?: Argon2Parameters
  /** Maximum of hashes at once. Default: one per core. */
  workersMax?: number
  /** Maximum of waiting hashes; further calls fail with 503. */
  queueMax?: number
  /** An idle worker ends after this time, to release its memory. */
  idleMs?: number
}

const SALT_BYTES = 16
const HASH_BYTES = 32

export function createHasher({ parameters = PARAMETERS, ...options }: HasherOptions = {}): Hasher {
  /**
   * Compared with the password of an unknown account, so that the work is the same. No password
   * matches.
   */
  const unknownAccountHash = encodePhc({
    ...parameters,
    salt: Buffer.alloc(SALT_BYTES),
    hash: Buffer.alloc(HASH_BYTES),
  })
  const pool = createPool({
    workersMax: options.workersMax ?? availableParallelism(),
    queueMax: options.queueMax ?? 50 * availableParallelism(),
    idleMs: options.idleMs ?? 30_000,
  })

  return {
    async hash(password) {
      const salt = randomBytes(SALT_BYTES)
      const hash = await pool.run({
        ...parameters,
        password: normalize(password),
        salt,
        length: HASH_BYTES,
      })
      return encodePhc({ ...parameters, salt, hash })
    },

    async verify(password, stored) {
      const expected = decodePhc(stored ?? unknownAccountHash)
      if (!expected) throw new Error('a stored password hash is not Argon2id in the PHC form')
      const { memory, passes, parallelism, salt } = expected
      const task = {
        memory,
        passes,
        parallelism,
        password: normalize(password),
        salt,
        length: expected.hash.length,
      }
      const actual = await pool.run(task)
      return {
        right: timingSafeEqual(actual, expected.hash) && stored !== null,
        outdated: isOutdated(expected, parameters),
      }
    },

    close: () => pool.close(),
  }
}

/**
 * Normalizes Unicode, because keyboards write é as one character or as two (NIST SP 800-63B,
 * 5.1.1.2).
 */
const normalize = (password: string) => password.normalize('NFKC')

type Waiting = { task: HashTask; resolve: (hash: Buffer) => void; reject: (error: Error) => void }
type Thread = { worker: Worker; current: Waiting | null; idleTimer: NodeJS.Timeout | null }

/**
 * Uses threads instead of libuv's pool, where crypto.argon2 would run. That pool also serves files
 * and DNS, which many sign-ins would delay, and its threads have no priorities.
 */
function createPool({ workersMax, queueMax, idleMs }: Required<Omit<HasherOptions, 'parameters'>>) {
  const threads = new Set<Thread>()
  const queue: Waiting[] = []
  let closed = false

  return {
    run(task: HashTask): Promise<Buffer> {
      if (closed) return Promise.reject(new Error('the hasher is closed'))
      if (queue.length >= queueMax) return Promise.reject(busy())
      return new Promise((resolve, reject) => {
        queue.push({ task, resolve, reject })
        next()
      })
    },

    async close() {
      closed = true
      for (const waiting of queue.splice(0)) waiting.reject(new Error('the hasher is closed'))
      await Promise.all([...threads].map(({ worker }) => worker.terminate()))
    },
  }

  function next() {
    if (queue.length === 0) return
    const free =
      [...threads].find(({ current }) => current === null) ??
      (threads.size < workersMax ? spawn() : null)
    if (!free) return
    const waiting = queue.shift()
    if (!waiting) return
    if (free.idleTimer) clearTimeout(free.idleTimer)
    free.idleTimer = null
    free.current = waiting
    free.worker.ref()
    free.worker.postMessage(waiting.task)
  }

  function spawn(): Thread {
    const worker = new Worker(new URL('./hash-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 },
    })
    const thread: Thread = { worker, current: null, idleTimer: null }
    threads.add(thread)

    worker.on('message', (hash: Uint8Array) => {
      thread.current?.resolve(Buffer.from(hash))
      thread.current = null
      rest(thread)
      next()
    })
    worker.on('error', (error) => thread.current?.reject(error as Error))
    worker.on('exit', () => {
      threads.delete(thread)
      thread.current?.reject(new Error('a hashing thread ended'))
      thread.current = null
      if (!closed) next()
    })
    return thread
  }

  /** An idle thread does not keep the process alive. While it ends, it gets no work. */
  function rest(thread: Thread) {
    thread.worker.unref()
    thread.idleTimer = setTimeout(() => {
      threads.delete(thread)
      void thread.worker.terminate()
    }, idleMs)
    thread.idleTimer.unref()
  }
}

function busy(): Problem {
  return identityProblem('sign_in_queue_full', { headers: { 'Retry-After': '3' } })
}
