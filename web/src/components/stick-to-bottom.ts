import { useCallback, useEffect, useRef, useState } from 'react'

const NEAR_PX = 48

export type StickToBottom = ReturnType<typeof useStickToBottom>

/**
 * Keeps a scrolling box at its end while what is in it grows, until the reader scrolls up; then it stays where they read and
 * says so (`away`). `jump` goes back to the end. The growth is heard of after the browser has laid it out, so that following
 * it costs no layout of its own.
 */
export function useStickToBottom() {
  const box = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const isStuck = useRef(true)
  const lastTop = useRef(0)
  const [away, setAway] = useState(false)

  const onScroll = useCallback(() => {
    const element = box.current
    if (!element) return
    // Only the reader goes up; what grows under a box that stands at its end has not moved it away.
    const isUp = element.scrollTop < lastTop.current
    lastTop.current = element.scrollTop
    const isNear = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX
    if (isNear) isStuck.current = true
    else if (isUp) isStuck.current = false
    setAway(!isStuck.current)
  }, [])

  const jump = useCallback(() => {
    isStuck.current = true
    setAway(false)
    box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [])

  useEffect(() => {
    if (!content.current) return
    const observer = new ResizeObserver(() => {
      if (isStuck.current) box.current?.scrollTo({ top: box.current.scrollHeight })
    })
    observer.observe(content.current)
    return () => observer.disconnect()
  }, [])

  return { box, content, onScroll, away, jump }
}
