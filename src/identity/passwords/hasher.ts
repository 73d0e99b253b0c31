// Password hashing: Argon2id on worker threads, a hash a core at a time, with a bounded queue. When
// it is full a sign- in is refused with 503 at once; the service itself never stalls.
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
   * Compares in the same time whether there is a stored hash or none (`null`: always wrong).
   * `outdated` asks for a fresh hash of the same password. @throws Problem 503 when too many wait.
   */
  verify(password: string, stored: string | null): Promise<{ right: boolean; outdated: boolean }>
  close(): Promise<void>
}

export type HasherOptions = {
  /** OWASP's by default; a stored hash with others is outdated. */
  parameters?: Argon2Parameters
  /** Hashes at once; a core each by default. */
  workersMax?: number
  /** Hashes waiting; past it 503. */
  queueMax?: number
  /** A worker without work ends after this and gives its memory back. */
  idleMs?: number
}

const SALT_BYTES = 16
const HASH_BYTES = 32

export function createHasher({ parameters = PARAMETERS, ...options }: HasherOptions = {}): Hasher {
  /**
   * The hash compared with the password of an unknown account: the same work, and no password
   * matches.
   */
  const nobody = encodePhc({
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
        password: normal(password),
        salt,
        length: HASH_BYTES,
      })
      return encodePhc({ ...parameters, salt, hash })
    },

    async verify(password, stored) {
      const expected = decodePhc(stored ?? nobody)
      if (!expected) throw new Error('a stored password hash is not Argon2id in the PHC form')
      const { memory, passes, parallelism, salt } = expected
      const task = {
        memory,
        passes,
        parallelism,
        password: normal(password),
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

/** One keyboard writes é as one character, another as two (NIST SP 800-63B, 5.1.1.2). */
const normal = (password: string) => password.normalize('NFKC')

type Waiting = { task: HashTask; resolve: (hash: Buffer) => void; reject: (error: Error) => void }
type Thread = { worker: Worker; current: Waiting | null; idleTimer: NodeJS.Timeout | null }

/**
 * Uses threads instead of libuv's pool, where crypto.argon2 would run. That pool also serves files
 * and DNS, which a storm of sign-ins would delay, and its threads have no priorities.
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
