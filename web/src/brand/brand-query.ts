import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { readQuery } from '../api/queries.ts'
import type { BrandForm } from '../api/types.ts'

export const brandQuery = {
  ...readQuery(['brand'], '/api/admin/brand'),
  staleTime: 0,
}

export function previewQuery(form: BrandForm) {
  return queryOptions({
    queryKey: ['brand', 'preview', form],
    queryFn: ({ signal }) => api.post('/api/admin/brand/preview', form, { signal }),
    retry: false,
  })
}

/** Saves the brand, and loads the page again, which has the brand from its first byte. */
export async function saveBrand(form: BrandForm): Promise<void> {
  await api.put('/api/admin/brand', form)
  location.reload()
}
