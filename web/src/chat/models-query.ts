import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'

export type Model = { id: string; owned_by?: string }

/** The models the service names. Only an aid to typing: the field takes any name, so a failure here is no failure. */
export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: async ({ signal }) => (await api.get<{ data: Model[] }>('/v1/models', { signal })).data,
  staleTime: 10 * 60_000,
  retry: false,
})

export function vendorOf({ id, owned_by }: Model): 'openai' | 'anthropic' | 'gemini' {
  const hint = `${owned_by ?? ''} ${id}`.toLowerCase()
  if (/anthropic|claude/.test(hint)) return 'anthropic'
  if (/gemini|google/.test(hint)) return 'gemini'
  return 'openai'
}
