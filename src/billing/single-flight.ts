/**
 * Runs one task at a time for each key. Callers that arrive meanwhile share the next run: twenty
 * events about one customer cost two reads. Works within a process; between processes the row's
 * version decides.
 */
export type SingleFlight<W> = <R>(
  key: string,
  request: W,
  work: (requests: readonly W[]) => Promise<R>,
) => Promise<R>

export function singleFlight<W>(): SingleFlight<W> {
  const last = new Map<string, Promise<unknown>>()
  const waiting = new Map<string, { requests: W[]; answer: Promise<unknown> }>()

  return <R>(key: string, request: W, work: (requests: readonly W[]) => Promise<R>): Promise<R> => {
    const queued = waiting.get(key)
    if (queued) {
      queued.requests.push(request)
      return queued.answer as Promise<R>
    }
    const requests = [request]
    const begin = () => {
      // A caller that arrives after this point may need data that this run has already read past.
      waiting.delete(key)
      return work(requests)
    }
    const answer = (last.get(key) ?? Promise.resolve()).then(begin, begin)
    waiting.set(key, { requests, answer })
    const ended = answer
      .catch(() => {})
      .finally(() => {
        if (last.get(key) === ended) last.delete(key)
      })
    last.set(key, ended)
    return answer
  }
}
