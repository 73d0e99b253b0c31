import { useSyncExternalStore } from 'react'
import { session } from './browser-session.ts'

const subscribe = (listener: () => void) => session.subscribe(listener)

/** Whether this browser has a session. */
export function useHasSession(): boolean {
  return useSyncExternalStore(subscribe, () => session.isSignedIn())
}
