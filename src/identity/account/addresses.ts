import { collectAudit } from '#audit/audit.ts'
import type { Db } from '#platform/db/db.ts'
import { emailKey, findUser } from '../users.ts'

/** In lower case; `proven`: someone has followed a link that was mailed there. */
export type Address = { key: string; proven: boolean }

/**
 * The addresses by which a user may be known elsewhere: today's, and former ones that were proven
 * to be theirs. An unverified address may belong to anybody.
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
