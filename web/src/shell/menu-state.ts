import { useCallback, useState } from 'react'

const KEY = 'latchkey.menu'

/** Whether the side menu shows icons only on a large screen. This browser remembers it. */
export function useMenuState(): { isCollapsed: boolean; toggle: () => void } {
  const [isCollapsed, setIsCollapsed] = useState(() => localStorage.getItem(KEY) === 'collapsed')
  const toggle = useCallback(() => {
    setIsCollapsed((was) => {
      if (was) localStorage.removeItem(KEY)
      else localStorage.setItem(KEY, 'collapsed')
      return !was
    })
  }, [])
  return { isCollapsed, toggle }
}
