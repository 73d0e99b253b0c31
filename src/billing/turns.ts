/**
 * One work at a time for each key. Whoever asks while one runs is answered by the next, together with all others who asked meanwhile:
 * of twenty events about one customer the first costs a reading, and the rest one more. Within a process; between processes the row's
 * version decides.
 */
export type Turns<W> = <R>(
  key: string,
  wish: W,
  work: (wishes: readonly W[]) => Promise<R>,
) => Promise<R>

export function createTurns<W>(): Turns<W> {
  const last = new Map<string, Promise<unknown>>()
  const waiting = new Map<string, { wishes: W[]; answer: Promise<unknown> }>()

  return <R>(key: string, wish: W, work: (wishes: readonly W[]) => Promise<R>): Promise<R> => {
    const queued = waiting.get(key)
    if (queued) {
      queued.wishes.push(wish)
      return queued.answer as Promise<R>
    }
    const wishes = [wish]
    const begin = () => {
      // From here on it may have read what who asks now wants to see read.
      waiting.delete(key)
      return work(wishes)
    }
    const answer = (last.get(key) ?? Promise.resolve()).then(begin, begin)
    waiting.set(key, { wishes, answer })
    const ended = answer
      .catch(() => {})
      .finally(() => {
        if (last.get(key) === ended) last.delete(key)
      })
    last.set(key, ended)
    return answer
  }
}
