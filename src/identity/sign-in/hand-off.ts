// Signs users of the account app in to the storefront, which is another server. The code works
// once, within two minutes, and only in the browser that started there. So every sign-in method of
// the account (a provider, a passkey) also works for the storefront.
import type { Platform } from '#platform/platform.ts'
import { issueToken, spendToken } from '../one-time-tokens.ts'
import type { SessionRef } from '../sessions/sessions.ts'
import { findUser, type User } from '../users.ts'

type HandOffDeps = Pick<Platform, 'db' | 'clock' | 'secrets'>

type HandOff = { state: string; sessionId: string | null }

/** @param state The hash of the secret in the browser's cookie; see `hashState`. */
export async function issueHandOff(
  deps: HandOffDeps,
  { userId, sessionId }: SessionRef,
  state: string,
): Promise<string> {
  return issueToken(deps, deps.db, 'storefront', userId, { state, sessionId } satisfies HandOff)
}

/**
 * Spends a code. Returns its user and the session that issued it, which the caller must check; null
 * unless the code was open and issued for the browser with this secret.
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

/**
 * Hashes the secret in the browser's cookie. A link from another person has a different hash and is
 * rejected (login CSRF).
 */
export function hashState({ secrets }: Pick<Platform, 'secrets'>, secret: string): string {
  return secrets.hash('storefront/hand-off', secret)
}
