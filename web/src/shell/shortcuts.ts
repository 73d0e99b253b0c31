// Keys that work on every page behind the sign-in. keys-dialog.tsx lists them.
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { Place } from './navigation.ts'
import { openKeys } from './palette-events.ts'

/** Longest pause between `g` and the letter of a place. */
const PAUSE_MS = 1_500

/** The key in localStorage, which is there while keys without a modifier are off. */
export const SINGLE_KEYS_OFF = 'latchkey.no-single-keys'

export function useShortcuts(places: readonly Place[], toggleMenu: () => void): void {
  const navigate = useNavigate()
  const leftAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => {
    const pressSingle = (key: string, at: number) => {
      const place = places.find(({ name }) => name[0] === key)
      if (key === '?') openKeys()
      else if (at - leftAt.current < PAUSE_MS && place) void navigate({ to: place.to })
      leftAt.current = key === 'g' ? at : Number.NEGATIVE_INFINITY
    }
    const press = (event: KeyboardEvent) => {
      const key = event.key.toLowerCase()
      const hasModifier = event.metaKey || event.ctrlKey
      if (hasModifier && key === 'b' && !event.shiftKey && !event.altKey) {
        event.preventDefault()
        toggleMenu()
      } else if (!hasModifier && !(SINGLE_KEYS_OFF in localStorage) && !isTaken(event.target))
        pressSingle(key, event.timeStamp)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [places, toggleMenu, navigate])
}

/** Fields and dialogs use letters themselves. */
function isTaken(target: EventTarget | null): boolean {
  return (
    (target instanceof Element &&
      target.closest('input, textarea, select, [contenteditable], [role=menu]') !== null) ||
    document.querySelector('dialog[open], [aria-modal=true]') !== null
  )
}
