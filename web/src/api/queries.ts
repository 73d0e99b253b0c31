import { QueryClient, queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { ApiProblem } from './problem.ts'

const WAIT_MAX_S = 20

/**
 * Retries after no response, a 5xx, or a 429 with a short `Retry-After`; never after another 4xx.
 */
function canRetry(failures: number, error: unknown): boolean {
  if (!(error instanceof ApiProblem)) return false
  if (error.status === 429)
    return failures < 2 && (error.retryAfterS ?? WAIT_MAX_S + 1) <= WAIT_MAX_S
  return failures < 2 && (error.status === 0 || error.status >= 500)
}

function retryDelayMs(failures: number, error: unknown): number {
  if (error instanceof ApiProblem && error.retryAfterS !== null) return error.retryAfterS * 1000
  return 800 * 2 ** failures
}

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: canRetry,
      retryDelay: retryDelayMs,
      staleTime: 15_000,
      networkMode: 'offlineFirst',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
})

export const userQuery = queryOptions({
  queryKey: ['user'],
  queryFn: ({ signal }) => api.get('/api/auth/me', { signal }),
  // The user may return from another tab, where they have just verified their address.
  refetchOnWindowFocus: ({ state }) => (state.data?.is_verified === false ? 'always' : true),
})

export const subscriptionQuery = queryOptions({
  queryKey: ['subscription'],
  queryFn: ({ signal }) => api.get('/api/billing/subscription', { signal }),
})

export const invoicesQuery = queryOptions({
  queryKey: ['invoices'],
  queryFn: ({ signal }) => api.get('/api/billing/invoices', { signal }),
})

export const plansQuery = queryOptions({
  queryKey: ['plans'],
  queryFn: ({ signal }) => api.get('/api/billing/plans', { signal, anonymous: true }),
  staleTime: 5 * 60_000,
})

export const keysQuery = queryOptions({
  queryKey: ['api-keys'],
  queryFn: ({ signal }) => api.get('/api/api-keys', { signal }),
})

/** Vendors and models in display order. */
export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: ({ signal }) => api.get('/api/ai/models', { signal }),
  staleTime: 10 * 60_000,
})
