import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, DAY_MS, SECOND_MS } from '#platform/clock.ts'
import type { FileStore, StoredFile } from './file-store.ts'

const KEPT_MS = 15 * SECOND_MS
/** How long a call waits for a new answer when there is an old one. */
const PATIENCE_MS = 500
/**
 * How long old answers are used while the store is unreachable. Compressed releases can be
 * downloaded without it.
 */
const OUTLIVES_MS = DAY_MS

type Memory<T> = { last: { answer: T; askedMs: number } | null; asking: Promise<T> | null }

/**
 * Caches a store's answers for 15 seconds, because every page, range and HEAD needs the same
 * listings, and listing 10,000 files takes half a second. Afterwards, if the store is slow or
 * fails, its last answer is used for up to a day. An unchanged listing stays the same array, so
 * that callers can cache values computed from it. Calls `tell` for every failure that an old answer
 * hides.
 */
export function rememberedStore(
  store: FileStore,
  { clock, tell }: { clock: Pick<Clock, 'ms'>; tell: (error: unknown) => void },
): FileStore {
  const known = new Map<string, Memory<unknown>>()

  async function remember<T>(
    question: string,
    ask: (before: T | undefined) => Promise<T>,
  ): Promise<T> {
    const memory = (known.get(question) ?? { last: null, asking: null }) as Memory<T>
    known.set(question, memory)
    const { last, asking } = memory
    const nowMs = clock.ms()
    const ageMs = last ? nowMs - last.askedMs : Number.POSITIVE_INFINITY
    if (last && ageMs < KEPT_MS) return last.answer
    // Callers during a running refresh do not wait for it.
    if (asking) return last && ageMs < OUTLIVES_MS ? last.answer : asking

    const fresh = ask(last?.answer)
    memory.asking = fresh
    void fresh
      .then(
        (answer) => {
          memory.last = { answer, askedMs: nowMs }
        },
        // Failures are not cached.
        (error) => last && tell(error),
      )
      .finally(() => {
        memory.asking = null
      })
    if (!last || ageMs >= OUTLIVES_MS) return fresh
    return Promise.race([
      fresh.catch(() => last.answer),
      sleep(PATIENCE_MS, last.answer, { ref: false }),
    ])
  }

  return {
    isSample: store.isSample === true,
    folders: (under) => remember(`folders ${under}`, () => store.folders(under)),
    put: (...file) => store.put(...file),
    remove: (under) => store.remove(under),
    text: (path) => remember(`text ${path}`, () => store.text(path)),
    files: (under) =>
      remember<StoredFile[]>(`files ${under}`, async (before) => {
        const files = await store.files(under)
        return before && isSame(before, files) ? before : files
      }),
  }
}

function isSame(a: StoredFile[], b: StoredFile[]): boolean {
  return a.length === b.length && a.every((file, index) => isSameFile(file, b[index] as StoredFile))
}

function isSameFile(a: StoredFile, b: StoredFile): boolean {
  return (
    a.path === b.path &&
    a.tag === b.tag &&
    a.sizeBytes === b.sizeBytes &&
    a.executable === b.executable
  )
}
