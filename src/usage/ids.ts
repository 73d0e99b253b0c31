import { randomBytes } from 'node:crypto'
import type { Clock } from '#platform/clock.ts'

/** Sorts by time, so that a user's records lie together in the order they came. */
export function timeOrderedIds({ clock }: { clock: Clock }): () => string {
  const node = randomBytes(6).toString('base64url')
  let last = ''
  let counter = 0
  return () => {
    const stamp = clock.ms().toString(36).padStart(9, '0')
    counter = stamp === last ? counter + 1 : 0
    last = stamp
    return `${stamp}${counter.toString(36).padStart(4, '0')}${node}`
  }
}
