import { infiniteQueryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { queries, readQuery } from '../api/queries.ts'
import type { SubscriptionStatus, UpdateUserRequest } from '../api/types.ts'

export type CustomerFilters = {
  q?: string | undefined
  plan?: string | undefined
  status?: SubscriptionStatus | undefined
  page?: number | undefined
}

type Tier = NonNullable<UpdateUserRequest['subscription_tier']>

const PAGE = 25

export function customersQuery({ q, plan, status, page = 1 }: CustomerFilters) {
  const query = { find: q, plan: plan as Tier | undefined, status, page, limit: PAGE }
  return readQuery(['customers', 'list', query], '/api/admin/users', { query })
}

export function customerQuery(id: string) {
  return readQuery(['customers', 'one', id], '/api/admin/users/{id}', { path: { id } })
}

export type About = 'money' | 'account' | 'calls'

export function eventsQuery(id: string, about: About | undefined) {
  return infiniteQueryOptions({
    queryKey: ['customers', 'events', id, about],
    queryFn: ({ signal, pageParam }) =>
      api.get('/api/admin/users/{id}/events', {
        path: { id },
        query: { about, before: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_before ?? undefined,
  })
}

export function ordersOfCustomerQuery(id: string) {
  return readQuery(['shop', 'orders', 'of', id], '/api/admin/purchases', {
    query: { q: id, limit: 100 },
  })
}

/** Reads everything about customers again after a change. */
export function refreshCustomers(): Promise<unknown> {
  return Promise.all([
    queries.invalidateQueries({ queryKey: ['customers'] }),
    queries.invalidateQueries({ queryKey: ['shop'] }),
  ])
}
