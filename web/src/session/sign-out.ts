import { useNavigate } from '@tanstack/react-router'
import { deleteBrowserLists } from '../components/browser-list.ts'
import { session } from './browser-session.ts'
import { endSession, raceTimeout } from './end-session.ts'

/** Ends the session at the service, then leaves, even when offline. */
export function useSignOut(): () => Promise<void> {
  const leave = useLeave()
  return async () => {
    const id = session.id()
    const token = await raceTimeout(session.token())
    if (id !== null && token !== null) await endSession(id, token)
    await leave()
  }
}

/**
 * Deletes tokens, conversations and questions. Navigates home first, because a protected page
 * without a session would redirect to the sign-in page with a way back.
 */
export function useLeave(): () => Promise<void> {
  const navigate = useNavigate()
  return async () => {
    const userId = session.userId()
    await navigate({ to: '/' })
    if (userId) deleteBrowserLists(userId)
    session.end()
  }
}
