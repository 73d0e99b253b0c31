// Counts sign-in attempts. Each browser or network that an account knows has a separate count. All
// unknown ones share a count; over its limit, an attempt needs a proof of work. This limits
// guessing, and attempts by others never lock users out of their account.
import { HOUR_MS } from '#platform/clock.ts'
import { networkKey } from '#platform/http/address.ts'
import type { Platform } from '#platform/platform.ts'
import { rateProblem } from '#platform/rate-limiter.ts'
import { recognizeDevice } from '../known-devices.ts'
import type { Origin } from '../origin.ts'
import { requireProof } from './proof-of-work.ts'

export type AttemptDeps = Pick<Platform, 'config' | 'db' | 'clock' | 'limiter' | 'secrets'>

/**
 * A sign-in attempt. It counts as a failure from the start, so that simultaneous attempts cannot
 * exceed the limit.
 */
export type Attempt = {
  /** The key of the count that the attempt belongs to; null when limits are off. */
  counted: string | null
  /** Call it when the password was correct. */
  succeeded(): Promise<void>
}

/**
 * Failures without a proof of work, for one known device or for all unknown ones together. Further
 * attempts need a proof.
 */
const FREE_FAILURES = { requests: 30, seconds: HOUR_MS / 1_000 }
/**
 * The limit of an address for all accounts that do not know it, as a multiple of the limit for one
 * account.
 */
const ADDRESS_FACTOR = 6
const WITH_PROOF = { requests: 1_000_000_000, seconds: HOUR_MS / 1_000 }

const UNCOUNTED: Attempt = { counted: null, succeeded: async () => {} }

/**
 * Counts a sign-in by password before any check. `account` is the email address in lower case; it
 * need not exist. @throws Problem 429 `Rate limit exceeded`, 429 `proof_required` with a challenge.
 */
export async function countSignIn(
  deps: AttemptDeps,
  {
    account,
    origin,
    proof,
  }: { account: string; origin: Origin & { address: string }; proof?: string | null | undefined },
): Promise<Attempt> {
  const { config, limiter, secrets } = deps
  const rate = config.limits.auth
  if (rate === null) return UNCOUNTED

  const known = await recognizeDevice(deps, account, origin)
  const network = networkKey(origin.address)
  if (known === null) {
    const addressRate = { ...rate, requests: rate.requests * ADDRESS_FACTOR }
    await requireBelowLimit(limiter, 'sign-in-address', network, addressRate)
  }
  const place = known === 'browser' ? `browser:${origin.device}` : `network:${network}`
  await requireBelowLimit(limiter, 'sign-in-pair', hashKey(secrets, account, place), rate)

  const counted = hashKey(secrets, account, known === null ? 'strangers' : place)
  const free = await limiter.hit('sign-in-failures', counted, FREE_FAILURES)
  if (free.allowed)
    return { counted, succeeded: async () => limiter.takeBack('sign-in-failures', counted) }

  const { limit, remaining } = await limiter.look('sign-ins-with-proof', counted, WITH_PROOF)
  await requireProof(deps, `sign-in:${account}`, proof, computeProofFactor(limit - remaining))
  await limiter.hit('sign-ins-with-proof', counted, WITH_PROOF)
  return { counted, succeeded: async () => {} }
}

/**
 * Counts attempts of a caller who has already signed in: a session that confirms a change, or a
 * provider sign-in that still needs a code. `who` identifies that caller, so only their own
 * failures count. @throws Problem 429 `Rate limit exceeded`
 */
export async function countConfirmation(
  { config, limiter, secrets }: Pick<Platform, 'config' | 'limiter' | 'secrets'>,
  who: string,
): Promise<Attempt> {
  const rate = config.limits.auth
  if (rate === null) return UNCOUNTED
  const counted = hashKey(secrets, who, 'confirms')
  await requireBelowLimit(limiter, 'sign-in-pair', counted, rate)
  await requireBelowLimit(limiter, 'sign-in-failures', counted, FREE_FAILURES)
  return { counted, succeeded: async () => limiter.takeBack('sign-in-failures', counted) }
}

/**
 * Returns the cost factor of the next proof: 2, 4 and 8 after 100, 1,000 and 10,000 attempts with
 * proofs within the hour.
 */
export function computeProofFactor(tries: number): number {
  return tries < 100 ? 1 : tries < 1_000 ? 2 : tries < 10_000 ? 4 : 8
}

async function requireBelowLimit(
  limiter: Platform['limiter'],
  bucket: string,
  key: string,
  rate: { requests: number; seconds: number },
): Promise<void> {
  const hit = await limiter.hit(bucket, key, rate)
  if (!hit.allowed) throw rateProblem(hit)
}

/** Hashes the key, so that Redis never contains email addresses. */
const hashKey = (secrets: Platform['secrets'], account: string, who: string) =>
  secrets.hash('sign-in-limits', JSON.stringify([account, who]))
