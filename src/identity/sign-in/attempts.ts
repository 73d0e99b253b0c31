// Counts of sign-in attempts. Each browser or network that an account knows has separate counts.
// All strangers share one count; past it, an attempt needs a proof of work. So guessing stays
// bounded, and nobody is kept out of their account by what others try.
import { HOUR_MS } from '#platform/clock.ts'
import { networkKey } from '#platform/http/address.ts'
import type { Platform } from '#platform/platform.ts'
import { rateProblem } from '#platform/rate-limiter.ts'
import { recognizeDevice } from '../known-devices.ts'
import type { Origin } from '../origin.ts'
import { requireProof } from './proof-of-work.ts'

export type AttemptDeps = Pick<Platform, 'config' | 'db' | 'clock' | 'limiter' | 'secrets'>

/**
 * An attempt that is under way. It counts as a failure from the start, so that many at once cannot
 * slip past.
 */
export type Attempt = {
  /** Names the count that an attempt belongs to; null while limits are off. */
  counted: string | null
  /** The password was right. */
  succeeded(): Promise<void>
}

/**
 * Of one known device, or of all strangers together; past it a stranger proves work, and so does a
 * known device.
 */
const FREE_FAILURES = { requests: 30, seconds: HOUR_MS / 1_000 }
/**
 * Limit of an address over all accounts that do not know it, as a multiple of the limit of a pair.
 */
const ADDRESS_FACTOR = 6
const WITH_PROOF = { requests: 1_000_000_000, seconds: HOUR_MS / 1_000 }

const UNCOUNTED: Attempt = { counted: null, succeeded: async () => {} }

/**
 * Counts a sign-in by password, before anything is checked. `account` is the address in lower case,
 * known or not.
 * @throws Problem 429 `Rate limit exceeded`, 429 `proof_required` with a challenge.
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
 * Counts what somebody tries who is in already: a session that confirms a change, a person whom a
 * provider has vouched for. `who` is theirs alone, so only their own failures count. @throws
 * Problem 429 `Rate limit exceeded`.
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
 * The more was tried with proofs within the hour, the dearer the next is: 2, 4 and 8 times from
 * 100, 1,000 and 10,000 on.
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

/** Addresses of people do not stand in Redis. */
const hashKey = (secrets: Platform['secrets'], account: string, who: string) =>
  secrets.hash('sign-in-limits', JSON.stringify([account, who]))
