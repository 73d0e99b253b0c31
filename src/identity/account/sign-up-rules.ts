// Rules for new accounts: domains, invitations, and a proof of work for networks that create many
// accounts. Each rule has a setting.
import { HOUR_MS } from '#platform/clock.ts'
import { addressKey, networkKey } from '#platform/http/address.ts'
import type { Platform } from '#platform/platform.ts'
import { identityProblem } from '../problems.ts'
import { type ProofDeps, requireProof } from '../sign-in/proof-of-work.ts'
import { emailKey } from '../users.ts'

/** Registrations per hour that need no proof of work: per network, and in total. */
const FREE = { requests: 3, seconds: HOUR_MS / 1_000 }
const FREE_IN_ALL = { requests: 100, seconds: HOUR_MS / 1_000 }
/** Challenges that an address may request before they count as registrations. */
const CHALLENGES = { requests: 60, seconds: HOUR_MS / 1_000 }

/** @throws Problem 400 `email_domain_refused`. */
export function requireAllowedDomain({ config }: Pick<Platform, 'config'>, email: string): void {
  if (!isAllowed(config.signUp, email)) throw identityProblem('email_domain_refused')
}

export function isAllowed(
  { allowed, denied }: Platform['config']['signUp'],
  email: string,
): boolean {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  const above = listParentDomains(domain)
  if (above.some((one) => denied.has(one))) return false
  if (allowed.length === 0 || allowed.includes(domain)) return true
  return above.slice(1).some((parent) => allowed.includes(`*.${parent}`))
}

/**
 * Requires a proof of work where the setting says so, after three registrations an hour from a
 * network, or after a hundred in total. @throws Problem 429 `proof_required` with a challenge.
 */
export async function requireSignUpProof(
  deps: ProofDeps & Pick<Platform, 'config'>,
  { email, address, proof }: { email: string; address: string; proof: string | undefined },
): Promise<void> {
  const { config, limiter } = deps
  const { proof: when } = config.signUp
  if (when === 'off' || (when === 'auto' && config.limits.signup === null)) return
  if (when === 'auto') {
    const ofNetwork = await limiter.hit('free-sign-ups', networkKey(address), FREE)
    if (ofNetwork.allowed && (await limiter.hit('free-sign-ups', 'all', FREE_IN_ALL)).allowed)
      return
  }
  await requireProof(deps, `sign-up:${emailKey(email)}`, proof).catch(async (error) => {
    // A request for a challenge does not count as a registration, up to the limit of such requests.
    const challengeRequests = await limiter.hit(
      'sign-up-challenges',
      addressKey(address),
      CHALLENGES,
    )
    if (challengeRequests.allowed) await limiter.takeBack('signup', addressKey(address))
    throw error
  })
}

/** Returns the domain and its parents: `a.b.example.com`, `b.example.com`, `example.com`, `com`. */
function listParentDomains(domain: string): string[] {
  const labels = domain.split('.')
  return labels.map((_, index) => labels.slice(index).join('.'))
}
