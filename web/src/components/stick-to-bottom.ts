import { useCallback, useEffect, useRef, useState } from 'react'

const NEAR_PX = 48

/**
 * Keeps a growing box scrolled to its end until the reader scrolls up (`away`). `jump` returns to
 * the end. The observer runs after layout, so following costs no extra layout.
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
    // Only the reader scrolls up. Growth alone does not mean that they left the end.
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
