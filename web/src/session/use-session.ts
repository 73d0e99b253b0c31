import { useSyncExternalStore } from 'react'
import { session } from './browser-session.ts'

/** True while somebody is signed in, as far as this browser knows. */
export function useIsSignedIn(): boolean {
  return useSyncExternalStore(session.subscribe, session.isSignedIn)
}
