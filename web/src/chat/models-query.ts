import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import type { Model, ModelList, Provider } from '../api/types.ts'

/** The service's own word on which vendors it has and which models they offer, in the order in which to show them. */
export type Models = Pick<ModelList, 'default_provider'> & {
  providers: (Pick<Provider, 'provider' | 'configured' | 'default_model'> & Partial<Pick<Provider, 'label'>>)[]
  models: Pick<Model, 'id' | 'provider' | 'kind' | 'output_tokens_max'>[]
}

/** Unknown while loading, and when it failed: the chat works without it, with what the service takes by itself. */
export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: ({ signal }) => api.get<Models>('/api/ai/models', { signal }),
  staleTime: 10 * 60_000,
})
