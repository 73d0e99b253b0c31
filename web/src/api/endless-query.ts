import { infiniteQueryOptions, type QueryKey } from '@tanstack/react-query'

type Page = { next_cursor: string | null }

/** A list that is read page by page and shows its last rows while others load. */
export function endlessQuery<P extends Page>(
  queryKey: QueryKey,
  readPage: (cursor: string | undefined, signal: AbortSignal) => Promise<P>,
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ pageParam, signal }) => readPage(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: (previous) => previous,
    staleTime: 0,
  })
}
