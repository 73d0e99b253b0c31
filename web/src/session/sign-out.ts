import { api } from '../api/client.ts'
import { dropAllConversations } from '../chat/conversation-shelf.ts'
import { router } from '../routes.tsx'
import { session } from './browser-session.ts'

/** Tells the service, then leaves whatever it answers: who wants to go must be able to. */
export async function signOut(): Promise<void> {
  await api.post('/api/auth/logout').catch(() => undefined)
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
