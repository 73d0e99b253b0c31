import { useCallback, useEffect, useRef, useState } from 'react'

const NEAR_PX = 48

export type StickToBottom = ReturnType<typeof useStickToBottom>

/**
 * Keeps a scrolling box at its end while content grows, until the reader scrolls up; then it stays where they read and says
 * so (`away`). `jump` goes back to the end.
 */
export function useStickToBottom(content: unknown) {
  const box = useRef<HTMLDivElement>(null)
  const stuck = useRef(true)
  const [away, setAway] = useState(false)

  const onScroll = useCallback(() => {
    const element = box.current
    if (!element) return
    stuck.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX
    setAway(!stuck.current)
  }, [])

  const jump = useCallback(() => {
    stuck.current = true
    setAway(false)
    box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [])

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs because the content changed.
  useEffect(() => {
    if (stuck.current) box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [content])

  return { box, onScroll, away, jump }
}
