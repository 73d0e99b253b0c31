import { infiniteQueryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'

const PAGE = 50

/** Pages of messages, newest first, with the superusers who can be assigned to them. */
export function inboxQuery(isOpen: boolean) {
  return infiniteQueryOptions({
    queryKey: ['shop', 'inbox', isOpen],
    queryFn: ({ signal, pageParam }) =>
      api.get('/api/admin/contact-messages', {
        query: { open: isOpen, limit: PAGE, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    staleTime: 0,
  })
}
