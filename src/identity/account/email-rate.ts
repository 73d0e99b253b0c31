import { HOUR_MS } from '#platform/clock.ts'

/** What letters of one kind that anyone could cause may cost their receiver: five an hour. */
export const LETTER_RATE = { requests: 5, seconds: HOUR_MS / 1_000 }
