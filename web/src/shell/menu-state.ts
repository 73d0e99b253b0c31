import { useCallback, useState } from 'react'

const KEY = 'latchkey.menu'

/** Whether the side menu shows icons only on a large screen. This browser remembers it. */
export function useMenuState(): { isCollapsed: boolean; toggle: () => void } {
  const [isCollapsed, setIsCollapsed] = useState(readCollapsed)
  const toggle = useCallback(() => {
    setIsCollapsed((was) => {
      saveCollapsed(!was)
      return !was
    })
  }, [])
  return { isCollapsed, toggle }
}

function readCollapsed(): boolean {
  try {
    return localStorage.getItem(KEY) === 'collapsed'
  } catch {
    // Private windows may have no storage.
    return false
  }
}

function saveCollapsed(isCollapsed: boolean): void {
  try {
    if (isCollapsed) localStorage.setItem(KEY, 'collapsed')
    else localStorage.removeItem(KEY)
  } catch {
    // The menu is open again on the next visit.
  }
}
