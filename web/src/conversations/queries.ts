import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { ApiProblem } from '../api/problem.ts'
import { queries, readQuery } from '../api/queries.ts'

const LIST = ['conversations', 'list'] as const
/** Another device may have asked something; a list is small. */
const LIST_EVERY_MS = 15_000

/** Conversations with their days, pinned ones first, then newest. */
export function conversationsQuery({ archived = false } = {}) {
  return infiniteQueryOptions({
    queryKey: [...LIST, archived],
    queryFn: ({ pageParam, signal }) =>
      api.get('/api/conversations', {
        query: { archived, ...(pageParam !== null && { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: LIST_EVERY_MS,
  })
}

/** Conversations that contain words, best first, with the lines that match. */
export function searchQuery(q: string) {
  return queryOptions({
    ...readQuery(['conversations', 'search', q], '/api/conversations', { query: { q } }),
    enabled: q !== '',
    placeholderData: (previous) => previous,
  })
}

/** The shown branch of a conversation: the last messages first, earlier ones in further pages. */
export function conversationQuery(id: string) {
  return infiniteQueryOptions({
    queryKey: ['conversations', 'opened', id],
    queryFn: ({ pageParam, signal }) =>
      api.get('/api/conversations/{id}', {
        path: { id },
        query: pageParam === null ? {} : { before: pageParam },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ before }) => before,
    staleTime: 0,
  })
}

export const sharesQuery = {
  ...readQuery(['conversations', 'shares'], '/api/shares'),
  staleTime: 0,
}

/** Models with price, context and speed. */
export const chatModelsQuery = {
  ...readQuery(['conversations', 'models'], '/api/conversations/models'),
  staleTime: 10 * 60_000,
}

/** Where conversations are kept: in the account, or only in this browser. */
export type Keeping = 'account' | 'browser'

/** `canChange` is false where the operator keeps no conversations. */
export const keepingQuery = queryOptions({
  queryKey: ['conversations', 'settings'],
  queryFn: async ({ signal }): Promise<{ keeping: Keeping; canChange: boolean }> => {
    try {
      const { keeps_conversations } = await api.get('/api/conversations/settings', { signal })
      return { keeping: keeps_conversations ? 'account' : 'browser', canChange: true }
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 404)
        return { keeping: 'browser', canChange: false }
      throw error
    }
  },
  staleTime: 5 * 60_000,
})

const tabs = new BroadcastChannel('latchkey.conversations')
tabs.onmessage = ({ data }) => void refresh(data)

/** Loads the list and one conversation again, in every tab of this browser. */
export async function announceChange(id?: string): Promise<void> {
  tabs.postMessage(id ?? null)
  await refresh(id ?? null)
}

async function refresh(id: unknown): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: LIST }),
    typeof id === 'string' &&
      queries.invalidateQueries({ queryKey: conversationQuery(id).queryKey }),
  ])
}
