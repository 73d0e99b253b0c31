import { useNavigate } from '@tanstack/react-router'
import { deleteAllConversations } from '../chat/conversation-store.ts'
import { session } from './browser-session.ts'
import { endSession, withTimeout } from './end-session.ts'

/** Ends the session at the service, then leaves whatever it answers: who wants to go must be able to, offline too. */
export function useSignOut(): () => Promise<void> {
  const leave = useLeave()
  return async () => {
    const id = session.id()
    const token = await withTimeout(session.token())
    if (id !== null && token !== null) await endSession(id, token)
    await leave()
  }
}

/**
 * Forgets the tokens and what was said here. Goes home first: from a page behind the sign-in, ending the session would lead to
 * the sign-in page with the way back to where the one who left was.
 */
export function useLeave(): () => Promise<void> {
  const navigate = useNavigate()
  return async () => {
    const userId = session.userId()
    await navigate({ to: '/' })
    if (userId) deleteAllConversations(userId)
    session.end()
  }
}
