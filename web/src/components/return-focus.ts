import { useCallback, useRef } from 'react'

/** Waits until the dialog has restored the focus itself. */
const LATER_MS = 50

/**
 * Focuses a menu's button after a dialog of that menu closes. The dialog itself would focus the
 * menu item, which is gone.
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
