/**
 * Threads that derive the keys of archives with many files. An idle thread ends after a while, and
 * never keeps the process alive.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { KeyTask } from './key-worker.ts'

const THREADS_MAX = Math.min(4, availableParallelism())
/** Keys of one message: 4 ms of work. */
const BATCH = 16
const IDLE_MS = 10_000

type Waiting = { task: KeyTask; resolve: (key: Buffer) => void; reject: (error: Error) => void }
type Thread = { worker: Worker; current: Waiting[]; idleTimer: NodeJS.Timeout | undefined }

class KeyThreads {
  readonly #queue: Waiting[] = []
  readonly #threads = new Set<Thread>()

  derive(task: KeyTask): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ task, resolve, reject })
      // An archive asks for many keys in a row; they travel together.
      if (this.#queue.length === 1) queueMicrotask(() => this.#feed())
    })
  }

  #feed() {
    while (this.#queue.length > 0) {
      const free =
        [...this.#threads].find(({ current }) => current.length === 0) ??
        (this.#threads.size < THREADS_MAX ? this.#spawn() : null)
      if (!free) return
      clearTimeout(free.idleTimer)
      free.current = this.#queue.splice(0, BATCH)
      free.worker.ref()
      free.worker.postMessage(free.current.map(({ task }) => task))
    }
  }

  #spawn(): Thread {
    const worker = new Worker(new URL('./key-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 },
    })
    const thread: Thread = { worker, current: [], idleTimer: undefined }
    this.#threads.add(thread)
    worker.on('message', (keys: Uint8Array[]) => {
      for (const [index, { resolve }] of thread.current.splice(0).entries())
        resolve(Buffer.from(keys[index] as Uint8Array))
      this.#rest(thread)
      this.#feed()
    })
    const fail = (error: Error) => {
      this.#threads.delete(thread)
      for (const { reject } of thread.current.splice(0)) reject(error)
      this.#feed()
    }
    worker.on('error', (error) => fail(error as Error))
    worker.on('exit', () => fail(new Error('a thread that derives keys ended')))
    return thread
  }

  #rest(thread: Thread) {
    thread.worker.unref()
    thread.idleTimer = setTimeout(() => {
      this.#threads.delete(thread)
      void thread.worker.terminate()
    }, IDLE_MS).unref()
  }
}

export const keyThreads = new KeyThreads()
