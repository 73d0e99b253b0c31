import { randomBytes } from 'node:crypto'
import type { Instant } from '#platform/clock.ts'

/** Sorts by the moment a call began, so that a user's calls lie in their order and a page of them is one stretch of the key. */
export function timeOrderedIds(): (at: Instant) => string {
  const node = randomBytes(6).toString('base64url')
  let counter = 0
  return (at) => {
    counter = (counter + 1) % COUNTER_MAX
    return `${computeLowestId(at)}${counter.toString(36).padStart(4, '0')}${node}`
  }
}

/** Four digits: more calls than any process begins in a millisecond. */
const COUNTER_MAX = 36 ** 4

/** No id of this moment or later sorts before it. */
export function computeLowestId(at: Instant): string {
  return Date.parse(at).toString(36).padStart(9, '0')
}
