import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import type { ListedIngestJob } from '../api/types.ts'

const EVERY_MS = 2_000

export const isActive = ({ state }: ListedIngestJob) => state === 'queued' || state === 'running'

/** Background ingest jobs, newest first. Polled while one is active. */
export const ingestJobsQuery = queryOptions({
  queryKey: ['ingest-jobs'],
  queryFn: ({ signal }) => api.get('/api/library/jobs', { signal, query: { limit: 500 } }),
  staleTime: 0,
  refetchInterval: ({ state }) => (state.data?.some(isActive) ? EVERY_MS : false),
})
