import { QueryClient, queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { ApiProblem } from './problem.ts'
import type { ApiKey, Plan, Subscription, User } from './types.ts'

/** Asking again helps when no answer came or the service stumbled; it never helps when the service said no. */
function worthRetrying(failures: number, error: unknown): boolean {
  return failures < 2 && (!(error instanceof ApiProblem) || error.status === 0 || error.status >= 500)
}

export const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: worthRetrying, staleTime: 15_000, networkMode: 'offlineFirst' },
    mutations: { retry: false, networkMode: 'always' },
  },
})

export const userQuery = queryOptions({
  queryKey: ['user'],
  queryFn: ({ signal }) => api.get<User>('/api/auth/me', { signal }),
})

export const subscriptionQuery = queryOptions({
  queryKey: ['subscription'],
  queryFn: ({ signal }) => api.get<Subscription>('/api/billing/subscription', { signal }),
})

export const plansQuery = queryOptions({
  queryKey: ['plans'],
  queryFn: ({ signal }) => api.get<{ plans: Plan[] }>('/api/billing/plans', { signal, anonymous: true }),
  staleTime: 5 * 60_000,
})

export const keysQuery = queryOptions({
  queryKey: ['api-keys'],
  queryFn: ({ signal }) => api.get<ApiKey[]>('/api/api-keys', { signal }),
})

/** What the service says of itself: which parts are real and which the sandbox plays. Null when it does not say. */
export const readinessQuery = queryOptions({
  queryKey: ['readiness'],
  queryFn: async ({ signal }) => {
    const response = await fetch('/readyz', { signal })
    const body: unknown = await response.json().catch(() => null)
    return typeof body === 'object' && body !== null ? body : null
  },
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
})
