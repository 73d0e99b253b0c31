/** Reads the days and the calls that a request selects, for sums and for single calls. */
import { Type } from 'typebox'
import { type Clock, DAY_MS, plus } from '#platform/clock.ts'
import type { Caller } from '#platform/http/access-control.ts'
import { invalid } from '#platform/problems.ts'

export const Day = Type.String({
  format: 'date',
  description: 'A UTC day; the range includes both ends.',
})
const DAYS_DEFAULT = 30

/** UTC days, both included. */
export type Span = { from: string; to: string }

/** Returns the requested days, or the last thirty. @throws Problem 422 */
export function readSpan(
  clock: Pick<Clock, 'now'>,
  query: { from?: string | undefined; to?: string | undefined },
): Span {
  const to = query.to ?? clock.now().slice(0, 10)
  const from = query.from ?? plus(`${to}T00:00:00.000Z`, -(DAYS_DEFAULT - 1) * DAY_MS).slice(0, 10)
  if (from > to) throw invalid(['query', 'from'], "Should not be after 'to'")
  return { from, to }
}

export function countDays({ from, to }: Span): number {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
}

/** The maximum number of groups in a reply: end users are free texts, and an account may have a million. */
export const GROUPS_MAX = 500

/** All calls of a user, or those of one key. */
export type CallScope = { userId: string; keyId: string | null }

/**
 * Returns the calls that the caller can read. A key with limited scopes may belong to a customer, so it
 * reads only its own calls. A key with only the `usage` scope makes no calls and reads all of the
 * account's.
 */
export function readCallScope({
  userId,
  keyId,
  scopes,
}: Pick<Caller, 'userId' | 'keyId' | 'scopes'>): CallScope {
  const isOwn = keyId !== null && scopes?.some((scope) => scope !== 'usage')
  return { userId, keyId: isOwn ? keyId : null }
}
