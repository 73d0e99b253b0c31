import { useCallback, useRef } from 'react'

/** After a dialog has tried to go back by itself. */
const LATER_MS = 50

/**
 * Gives the keyboard back to the button of a menu when a dialog that the menu opened closes: the dialog would return to the
 * menu's item, which is gone by then.
 */
export function useReturnFocus() {
  const opener = useRef<HTMLElement | null>(null)
  const remember = useCallback((element: HTMLElement) => {
    opener.current = element
  }, [])
  const restore = useCallback(() => {
    setTimeout(() => opener.current?.isConnected && opener.current.focus(), LATER_MS)
  }, [])
  return { remember, restore }
}
