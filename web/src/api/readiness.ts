import { queryOptions } from '@tanstack/react-query'

/**
 * How a part of the service is set up: with a key of its own, played by the sandbox, or not at all. The words are those of
 * /readyz, which the API's description leaves out.
 */
export type Configuration = 'configured' | 'sandbox' | 'not configured'

export type Readiness = {
  mail?: Configuration
  oauth?: Record<string, Configuration>
  /** `local`, or the vendor and model that embed. */
  embedder?: string
}

/**
 * What the service says of itself at /readyz. An operator may keep that address to themselves: then nothing is known, and the
 * app shows everything as if it were there.
 */
export const readinessQuery = queryOptions({
  queryKey: ['readiness'],
  queryFn: async ({ signal }): Promise<Readiness> => {
    const response = await fetch('/readyz', { signal })
    const body: unknown = await response.json().catch(() => null)
    const configured = typeof body === 'object' && body !== null && 'configured' in body ? body.configured : null
    return typeof configured === 'object' && configured !== null ? configured : {}
  },
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
})
