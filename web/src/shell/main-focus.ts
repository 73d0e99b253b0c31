import { useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

/** Focuses the content after a navigation, so that keyboards and screen readers start there. */
export function useMainFocus() {
  const main = useRef<HTMLElement>(null)
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname })
  const last = useRef(path)

  useEffect(() => {
    if (last.current !== undefined && path !== last.current)
      main.current?.focus({ preventScroll: true })
    last.current = path
  }, [path])

  return main
}
