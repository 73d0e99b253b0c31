import { useSyncExternalStore } from 'react'
import { session } from './browser-session.ts'

/** Whether this browser has a session. */
export function useHasSession(): boolean {
  return useSyncExternalStore(session.subscribe, session.isSignedIn)
}
