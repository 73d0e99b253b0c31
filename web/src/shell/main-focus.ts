import { useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

/** After a move to another page the keyboard and the screen reader start at its content, as after a full load. */
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
