import { queryOptions } from '@tanstack/react-query'
import type { configured } from '#app/configured.ts'

/**
 * Configuration of each part from /readyz. The API description lacks this address, so the type
 * comes from the service.
 */
export type Readiness = Partial<ReturnType<typeof configured>>

/** Operators may hide /readyz. The configuration is then empty, and the app shows every feature. */
export const readinessQuery = queryOptions({
  queryKey: ['readiness'],
  queryFn: async ({ signal }): Promise<Readiness> => {
    const response = await fetch('/readyz', { signal })
    const body: unknown = await response.json().catch(() => null)
    const configured =
      typeof body === 'object' && body !== null && 'configured' in body ? body.configured : null
    return typeof configured === 'object' && configured !== null ? configured : {}
  },
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
})
