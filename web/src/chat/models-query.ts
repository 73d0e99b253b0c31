import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'

/** The service's own word on which vendors it has and which models they offer, in the order in which to show them. */
export type Models = {
  default_provider: string
  providers: { provider: string; label?: string; configured: boolean; default_model: string }[]
  models: { id: string; provider: string; kind: 'chat' | 'embedding'; output_tokens_max?: number | null }[]
}

/** Unknown while loading, and when it failed: the chat works without it, with what the service takes by itself. */
export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: ({ signal }) => api.get<Models>('/api/ai/models', { signal }),
  staleTime: 10 * 60_000,
})
