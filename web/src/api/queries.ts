import { QueryClient, type QueryKey, queryOptions } from '@tanstack/react-query'
import { call, type OptionsLast } from './client.ts'
import type { Address, Reply } from './operation.ts'
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

/** A query of one address. */
export function readQuery<A extends Address<'GET'>>(
  queryKey: QueryKey,
  address: A,
  ...[options]: OptionsLast<'GET', A>
) {
  return queryOptions({
    queryKey,
    queryFn: ({ signal }): Promise<Reply<'GET', A>> => call('GET', address, { ...options, signal }),
  })
}

export const userQuery = queryOptions({
  ...readQuery(['user'], '/api/auth/me'),
  // The user may return from another tab, where they have just verified their address.
  refetchOnWindowFocus: ({ state }) => (state.data?.is_verified === false ? 'always' : true),
})

export const subscriptionQuery = readQuery(['subscription'], '/api/billing/subscription')

export const invoicesQuery = readQuery(['invoices'], '/api/billing/invoices')

export const plansQuery = {
  ...readQuery(['plans'], '/api/billing/plans', { anonymous: true }),
  staleTime: 5 * 60_000,
}

export const keysQuery = readQuery(['api-keys'], '/api/api-keys')

/** Vendors and models in display order. */
export const modelsQuery = {
  ...readQuery(['models'], '/api/ai/models'),
  staleTime: 10 * 60_000,
}
