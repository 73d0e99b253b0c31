import { randomBytes } from 'node:crypto'
import type { Instant } from '#platform/clock.ts'

/**
 * Creates a generator of ids that sort by the start of the call, so that a page of a user's calls is
 * one range of the primary key.
 */
export function createIdGenerator(): (at: Instant) => string {
  const node = randomBytes(6).toString('base64url')
  let counter = 0
  return (at) => {
    counter = (counter + 1) % COUNTER_MAX
    return `${computeLowestId(at)}${counter.toString(36).padStart(4, '0')}${node}`
  }
}

/** Four base-36 digits: more ids than a process needs in a millisecond. */
const COUNTER_MAX = 36 ** 4

/** Returns a lower bound: no id of this instant or later sorts before it. */
export function computeLowestId(at: Instant): string {
  return Date.parse(at).toString(36).padStart(9, '0')
}
