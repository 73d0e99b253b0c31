import { useCallback, useLayoutEffect, useRef } from 'react'

/** Returns a function that never changes and calls the newest `change`, for memoized components. */
export function useStable<A extends unknown[], R>(
  change: (...values: A) => R,
): (...values: A) => R {
  const latest = useRef(change)
  useLayoutEffect(() => {
    latest.current = change
  })
  return useCallback((...values: A) => latest.current(...values), [])
}
