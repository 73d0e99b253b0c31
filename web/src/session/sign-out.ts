import { dropAllConversations } from '../chat/conversation-shelf.ts'
import { router } from '../routes.tsx'
import { session } from './browser-session.ts'
import { endSession, soon } from './end-session.ts'

/** Ends the session at the service, then leaves whatever it answers: who wants to go must be able to, offline too. */
export async function signOut(): Promise<void> {
  const id = session.id()
  const token = await soon(session.token())
  if (id !== null && token !== null) await endSession(id, token)
  await leave()
}

/**
 * Forgets the tokens and what was said here. Goes home first: from a page behind the sign-in, ending the session would lead to
 * the sign-in page with the way back to where the one who left was.
 */
export async function leave(): Promise<void> {
  const userId = session.userId()
  await router.navigate({ to: '/' })
  if (userId) dropAllConversations(userId)
  session.end()
}
