import type { QueryClient, QueryKey } from '@tanstack/react-query'

/** Closes what a query has opened once the cache lets go of it: the query is removed, or holds something newer. */
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
