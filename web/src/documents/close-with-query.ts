import type { QueryClient, QueryKey } from '@tanstack/react-query'

/** Calls `close` when the cache drops a query's data: the query is removed or has newer data. */
export function closeWithQuery(
  client: QueryClient,
  queryKey: QueryKey,
  data: object,
  close: () => void,
): void {
  const cache = client.getQueryCache()
  const query = cache.find({ queryKey, exact: true })
  let wasHeld = false
  const stop = cache.subscribe((event) => {
    if (event.query !== query) return
    const isHeld = event.type !== 'removed' && query?.state.data === data
    if (isHeld) wasHeld = true
    else if (event.type === 'removed' || wasHeld) {
      stop()
      close()
    }
  })
}
