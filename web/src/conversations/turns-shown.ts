import { startTransition, useEffect, useState } from 'react'

const FIRST = 8
const STEP = 6
const PAUSE_MS = 30

/**
 * Returns how many of the last turns to render. A long conversation opens with its end; earlier
 * turns follow in small steps, so that the page stays responsive.
 */
export function useTurnsShown(turns: number): number {
  const [shown, setShown] = useState(FIRST)
  useEffect(() => {
    if (shown >= turns) return
    const timer = setTimeout(() => startTransition(() => setShown((n) => n + STEP)), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [shown, turns])
  return shown
}
