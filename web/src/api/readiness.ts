import { queryOptions } from '@tanstack/react-query'
import type { configured } from '#app/configured.ts'

/** How each part is set up, as /readyz tells it: that address is no part of the API, so the service's own type says its words. */
export type Readiness = Partial<ReturnType<typeof configured>>

/**
 * What the service says of itself at /readyz. An operator may keep that address to themselves: then nothing is known, and the
 * app shows everything as if it were there.
 */
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
