// Signs in to the storefront through the account app, with any sign-in method. The account app
// returns a code for this browser.
import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '#config/config.ts'
import type { DeviceOrigin } from '#identity/sign-in/device-cookie.ts'
import { hashState, spendHandOff } from '#identity/sign-in/hand-off.ts'
import { platformProblem } from '#platform/problems.ts'
import { safeRedirect } from './redirect.ts'
import { openSession, type SessionDeps } from './sessions.ts'

/** Sign-in methods that need the account app: its origin has the passkeys and the providers' callbacks. */
export const ACCOUNT_METHODS = ['google', 'github', 'passkey'] as const
export type AccountMethod = (typeof ACCOUNT_METHODS)[number]

const COOKIE = 'store_sign_in'
/** Enough time to sign in at a provider and enter a code. */
const LIFE_S = 20 * 60

/**
 * Starts the sign-in: stores a secret in a cookie and returns the URL of the account app, which
 * begins with the method at once.
 */
export function leaveForAccount(
  deps: Pick<SessionDeps, 'config' | 'secrets'>,
  reply: FastifyReply,
  target: string,
  method: AccountMethod | undefined,
): string {
  const secret = randomBytes(32).toString('base64url')
  reply.setCookie(COOKIE, `${secret}.${encodeURIComponent(target)}`, {
    ...scope(deps.config),
    maxAge: LIFE_S,
  })
  const query = new URLSearchParams({
    state: hashState(deps, secret),
    ...(method && { with: method }),
  })
  return `${deps.config.urls.frontend}/storefront?${query}`
}

/**
 * Completes the sign-in. Returns the new session's token and the target; null when the code is
 * invalid or was issued for another browser.
 */
export async function returnFromAccount(
  deps: Omit<SessionDeps, 'deviceCookie' | 'checkCredentials'>,
  request: FastifyRequest,
  reply: FastifyReply,
  { code, origin }: { code: string; origin: DeviceOrigin },
): Promise<{ token: string; target: string } | null> {
  const [secret = '', ...rest] = (request.cookies[COOKIE] ?? '').split('.')
  const target = rest.join('.')
  reply.clearCookie(COOKIE, scope(deps.config))
  const spent = secret === '' ? null : await spendHandOff(deps, code, secret)
  if (!spent?.user.is_active) return null
  try {
    const token = await openSession(deps, spent.user, origin, 'account', spent.madeIn)
    return { token, target: safeRedirect(decoded(target)) }
  } catch (error) {
    if (platformProblem.is(error, 'unauthenticated')) return null
    throw error
  }
}

function scope({ urls }: Config) {
  return {
    path: '/login',
    httpOnly: true,
    secure: urls.storefront.startsWith('https:'),
    sameSite: 'lax' as const,
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}
