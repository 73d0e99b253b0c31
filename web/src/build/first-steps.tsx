import { useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { keysQuery } from '../api/queries.ts'
import type { GetUsageResponse } from '../api/types.ts'
import { lazyPart } from '../components/lazy-part.ts'
import { usageQuery } from '../usage/usage-query.ts'

const Steps = lazyPart(() => import('./steps.tsx'), 'Steps')

const LOOK_BACK_DAYS = 90
/** Leaves most of the general rate limit to the rest of the app. */
const EVERY_MS = 3_000

/** The way to the first call with a key. Missing for users who have called with a key lately. */
export function FirstSteps() {
  const keys = useQuery(keysQuery)
  const hasKey = (keys.data?.length ?? 0) > 0
  const usage = useQuery({
    ...usageQuery(LOOK_BACK_DAYS, 'key'),
    staleTime: 0,
    refetchInterval: ({ state }) => (!hasKey || findCallingKey(state.data) ? false : EVERY_MS),
  })
  const callingKey = findCallingKey(usage.data)
  const [isWaiting, setIsWaiting] = useState(false)
  const hasLoaded = usage.data !== undefined && keys.data !== undefined
  // Stays after the call has arrived, to show it.
  if (hasLoaded && !callingKey && !isWaiting) setIsWaiting(true)
  return (
    isWaiting && (
      <Suspense fallback={<div aria-busy="true" />}>
        <Steps hasKey={hasKey} callingKey={callingKey} />
      </Suspense>
    )
  )
}

function findCallingKey(usage: GetUsageResponse | undefined): string | undefined {
  return usage?.groups.find(({ key }) => key !== 'session')?.key
}
