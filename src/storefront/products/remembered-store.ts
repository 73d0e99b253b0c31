import { type Clock, SECOND_MS } from '#platform/clock.ts'
import type { FileStore, StoredFile } from './file-store.ts'

const KEPT_MS = 15 * SECOND_MS

/**
 * Keeps what a store says for 15 seconds: every page, range and HEAD asks for the same listings, and a release of 10,000 files takes half
 * a second to walk. A listing that has not changed stays the same array, so that what was computed from it can be kept with it.
 */
export function rememberedStore(store: FileStore, clock: Pick<Clock, 'ms'>): FileStore {
  const known = new Map<string, { untilMs: number; answer: Promise<unknown> }>()

  function remember<T>(question: string, ask: (before: Promise<T> | undefined) => Promise<T>): Promise<T> {
    const nowMs = clock.ms()
    const kept = known.get(question) as { untilMs: number; answer: Promise<T> } | undefined
    if (kept && kept.untilMs > nowMs) return kept.answer
    const answer = ask(kept?.answer)
    known.set(question, { untilMs: nowMs + KEPT_MS, answer })
    // A failure is not an answer.
    answer.catch(() => known.delete(question))
    return answer
  }

  return {
    folders: (under) => remember(`folders ${under}`, () => store.folders(under)),
    text: (path) => remember(`text ${path}`, () => store.text(path)),
    files: (under) =>
      remember<StoredFile[]>(`files ${under}`, async (before) => {
        const [files, earlier] = await Promise.all([store.files(under), before?.catch(() => undefined)])
        return earlier && isSame(earlier, files) ? earlier : files
      }),
  }
}

function isSame(a: StoredFile[], b: StoredFile[]): boolean {
  return a.length === b.length && a.every((file, index) => isSameFile(file, b[index] as StoredFile))
}

function isSameFile(a: StoredFile, b: StoredFile): boolean {
  return a.path === b.path && a.tag === b.tag && a.sizeBytes === b.sizeBytes && a.executable === b.executable
}
