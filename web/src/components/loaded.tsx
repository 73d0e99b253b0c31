import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { t } from '../language/text.ts'
import { Failure } from './notice.tsx'

type LoadedProps<T> = {
  query: UseQueryResult<T>
  /** Whether what else the children need is there. */
  isReady?: boolean
  skeleton: ReactNode
  children: (data: T) => ReactNode
}

/** Renders a query: loading, failed or loaded. Loaded data stays visible when a refresh fails. */
export function Loaded<T>({ query, isReady = true, skeleton, children }: LoadedProps<T>) {
  if (query.data !== undefined && isReady) return <>{children(query.data)}</>
  if (query.isError) return <Failure problem={query.error} retry={() => void query.refetch()} />
  return (
    <div aria-busy="true">
      <span role="status" className="visually-hidden">
        {t('Loading…')}
      </span>
      {skeleton}
    </div>
  )
}
