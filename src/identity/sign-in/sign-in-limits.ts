// Rate limits of sign-in attempts: ten a minute for an account and for an address, whether they succeed or not; from
// the eleventh failure in an hour on each attempt on an account waits longer, up to 4 s.
import { setTimeout as wait } from 'node:timers/promises'
import { HOUR_MS } from '#platform/clock.ts'
import { addressKey } from '#platform/http/address.ts'
import type { Platform } from '#platform/platform.ts'
import { rateProblem } from '#platform/rate-limiter.ts'

export type SignInLimitDeps = Pick<Platform, 'config' | 'limiter' | 'secrets'>

const FREE_FAILURES = 10
const FIRST_DELAY_MS = 250
const DELAY_MAX_MS = 4_000
const HOURLY = { requests: 1_000_000, seconds: HOUR_MS / 1_000 }

/**
 * Counts an attempt before anything is checked. `account` is its address in lower case, known or not: one count
 * whatever is shown, a password or a code; null where the attempt names no account.
 * @throws Problem 429 `Rate limit exceeded`.
 */
export async function countAttempt(
  { config, limiter, secrets }: SignInLimitDeps,
  { account, address }: { account: string | null; address: string },
): Promise<void> {
  const rate = config.limits.auth
  if (rate === null) return
  const byAddress = await limiter.hit('auth-address', addressKey(address), rate)
  if (!byAddress.allowed) throw rateProblem(byAddress)
  if (account === null) return

  const key = accountKey(secrets, account)
  const byAccount = await limiter.hit('auth-account', key, rate)
  if (!byAccount.allowed) throw rateProblem(byAccount)

  const { limit, remaining } = await limiter.hit('auth-failures', key, HOURLY)
  const delayMs = delayAfter(limit - remaining - 1)
  if (delayMs > 0) await wait(delayMs)
}

/** After a success the next failure is the first again. */
export async function forgetFailures({ limiter, secrets }: SignInLimitDeps, account: string): Promise<void> {
  await limiter.clear('auth-failures', accountKey(secrets, account))
}

/** Doubles with each failure past the free ones. */
export function delayAfter(failures: number): number {
  if (failures < FREE_FAILURES) return 0
  return Math.min(DELAY_MAX_MS, FIRST_DELAY_MS * 2 ** (failures - FREE_FAILURES))
}

/** Addresses of people do not stand in Redis. */
const accountKey = (secrets: SignInLimitDeps['secrets'], account: string) => secrets.hash('sign-in-limits', account)
