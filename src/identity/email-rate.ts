import { HOUR_MS } from '#platform/clock.ts'
import type { Platform } from '#platform/platform.ts'
import { emailKey } from './users.ts'

/** Limit per recipient for each kind of email that anyone can trigger: five an hour. */
const EMAIL_RATE = { requests: 5, seconds: HOUR_MS / 1_000 }

/**
 * Counts an email to an address that anyone could have entered, so that nobody can flood its owner.
 * Each reason has a separate count; otherwise requests for other emails could block the
 * registration email. Returns false when the email must not be sent.
 */
export async function countEmail(
  { limiter, secrets }: Pick<Platform, 'limiter' | 'secrets'>,
  kind:
    | 'verification-emails'
    | 'reset-emails'
    | 'access-emails'
    | 'sign-in-codes'
    | 'free-product-emails',
  email: string,
  reason?: string,
): Promise<boolean> {
  const key = secrets.hash('emails', emailKey(email))
  const { allowed } = await limiter.hit(
    kind,
    reason === undefined ? key : `${reason}:${key}`,
    EMAIL_RATE,
  )
  return allowed
}
