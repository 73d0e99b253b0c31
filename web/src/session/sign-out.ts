import { useNavigate } from '@tanstack/react-router'
import { deleteBrowserLists } from '../components/browser-list.ts'
import { session } from './browser-session.ts'
import { endSession, raceTimeout } from './end-session.ts'

/** Ends the session at the service, then leaves whatever it answers: who wants to go must be able to, offline too. */
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
 * Forgets the tokens, the conversations and the questions. Goes home first: from a page behind the sign-in, ending the session would lead to
 * the sign-in page with the way back to where the one who left was.
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
