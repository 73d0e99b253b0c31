import { startTransition, useEffect, useState } from 'react'

const FIRST = 8
const STEP = 6
const PAUSE_MS = 30

/**
 * How many of the last turns are drawn. A long conversation opens with its end, which is what is read; the rest follows in
 * small steps while the page is idle, so that nothing that the reader does has to wait for it.
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
