import { collectAudit } from '#audit/audit.ts'
import type { Db } from '#platform/db/db.ts'
import { emailKey, findUser } from '../users.ts'

/** An address in lower case. `proven`: a person followed a link that was mailed to it. */
export type Address = { key: string; proven: boolean }

/**
 * Returns the user's current address and their former addresses that were verified. An unverified
 * address may belong to another person.
 */
export async function listAddresses(db: Db, userId: string): Promise<Address[]> {
  const user = await findUser(db, userId)
  if (!user) return []
  const former = (await collectAudit(db, userId))
    .filter(({ action }) => action === 'email.changed')
    .map(({ data }) => data as { from: string; was_verified?: boolean })
    .filter(({ was_verified }) => was_verified)
    .map(({ from }) => ({ key: emailKey(from), proven: true }))
  return [
    { key: user.email_key, proven: user.is_verified },
    ...former.filter(({ key }) => key !== user.email_key),
  ]
}
