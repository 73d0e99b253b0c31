import { HOUR_MS } from '#platform/clock.ts'
import type { Platform } from '#platform/platform.ts'
import { emailKey } from './users.ts'

/** Of the emails of one kind that anyone could cause, their receiver gets five an hour. */
const EMAIL_RATE = { requests: 5, seconds: HOUR_MS / 1_000 }

/**
 * Counts emails to an address that anyone could have entered, because a flooded recipient did not
 * request them. Each reason has a separate count: with a shared one, requests for other emails
 * could block the registration's email. Returns false when the email must not be sent.
 */
export async function countEmail(
  { limiter, secrets }: Pick<Platform, 'limiter' | 'secrets'>,
  kind: 'verification-emails' | 'reset-emails' | 'access-emails',
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
