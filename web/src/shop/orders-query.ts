import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, request } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import type { OrderDetail } from '../api/types.ts'
import { saveFile } from '../components/save-file.ts'
import type { OrderStatus } from './order-status.tsx'

export type OrderFilters = {
  q?: string | undefined
  status?: OrderStatus | undefined
  product?: string | undefined
}

const PAGE = 50

/** Pages of purchases, newest first. Buyers change them, so they load at every visit. */
export function ordersQuery(filters: OrderFilters) {
  return infiniteQueryOptions({
    queryKey: ['shop', 'orders', filters],
    queryFn: ({ signal, pageParam }) =>
      api.get('/api/admin/purchases', {
        query: { ...filters, limit: PAGE, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    staleTime: 0,
  })
}

export async function downloadOrders(filters: OrderFilters): Promise<void> {
  await saveFile(
    await request('GET', '/api/admin/purchases.csv', { query: filters, accept: 'text/csv' }),
    'purchases.csv',
  )
}

export function orderQuery(id: string) {
  return queryOptions({
    queryKey: ['shop', 'order', id],
    queryFn: ({ signal }) => api.get('/api/admin/purchases/{id}', { path: { id }, signal }),
    staleTime: 0,
  })
}

/** Shows the reply to a change at once; the lists load again. */
export function storeOrder(order: OrderDetail): void {
  queries.setQueryData(orderQuery(order.id).queryKey, order)
  void queries.invalidateQueries({ queryKey: ['shop', 'orders'] })
  void queries.invalidateQueries({ queryKey: ['shop', 'disputes'] })
}
