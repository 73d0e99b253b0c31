import { HOUR_MS } from '#platform/clock.ts'

/** Of the emails of one kind that anyone could cause, their receiver gets five an hour. */
export const EMAIL_RATE = { requests: 5, seconds: HOUR_MS / 1_000 }
