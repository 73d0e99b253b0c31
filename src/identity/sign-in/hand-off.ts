// From the account to the storefront, which is another server: a code, good once and for two
// minutes, for the browser alone that set out from there. So every sign-in method of the account (a
// provider, a passkey) opens the storefront, too.
import type { Platform } from '#platform/platform.ts'
import { issueToken, spendToken } from '../one-time-tokens.ts'
import type { SessionRef } from '../sessions/sessions.ts'
import { findUser, type User } from '../users.ts'

type HandOffDeps = Pick<Platform, 'db' | 'clock' | 'secrets'>

type HandOff = { state: string; sessionId: string | null }

/** @param state what the storefront made of the secret in the browser's cookie; see `stateOf`. */
export async function issueHandOff(
  deps: HandOffDeps,
  { userId, sessionId }: SessionRef,
  state: string,
): Promise<string> {
  return issueToken(deps, deps.db, 'storefront', userId, { state, sessionId } satisfies HandOff)
}

/**
 * @returns the code's user and the session that issued it, which must be live when it opens
 * another; null unless the code was open and issued to the browser with this secret.
 */
export async function spendHandOff(
  deps: HandOffDeps,
  code: string,
  secret: string,
): Promise<{ user: User; madeIn: SessionRef } | null> {
  const spent = await spendToken<HandOff>(deps, deps.db, 'storefront', code)
  if (!spent?.userId || spent.data.state !== hashState(deps, secret)) return null
  const user = await findUser(deps.db, spent.userId)
  return user && { user, madeIn: { userId: user.id, sessionId: spent.data.sessionId } }
}

/** A link created by another person carries their state and is rejected here (login CSRF). */
export function hashState({ secrets }: Pick<Platform, 'secrets'>, secret: string): string {
  return secrets.hash('storefront/hand-off', secret)
}
