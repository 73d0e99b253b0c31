import { api } from '../api/client.ts'
import { dropAllConversations } from '../chat/conversation-shelf.ts'
import { session } from './browser-session.ts'

/** Tells the service, then forgets the tokens and what was said here, whatever it answers: who wants to leave must be able to. */
export async function signOut(): Promise<void> {
  await api.post('/api/auth/logout').catch(() => undefined)
  const userId = session.userId()
  if (userId) dropAllConversations(userId)
  session.end()
}
