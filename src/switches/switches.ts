// The operator's kill switches: switch off a user, a key, a model or a vendor on all nodes within
// two seconds, for every plan.
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { createLiveSwitches } from './live.ts'

export function createSwitches(platform: Pick<Platform, 'db' | 'bus' | 'log'>) {
  const live = createLiveSwitches(platform)
  return {
    live,
    open: () => live.start(),
    start: () => live.start(),
    stop: () => live.stop(),
    erase: async (tx: Db, userId: string) => {
      await tx.deleteFrom('switches').where('user_id', '=', userId).execute()
    },
    /** For the user's full export. */
    collect: async (db: Db, userId: string) => {
      const own = await db
        .selectFrom('switches')
        .select(['kind', 'subject', 'reason', 'set_at'])
        .where('user_id', '=', userId)
        .execute()
      return { switched_off: own.length > 0 ? own : null }
    },
  }
}
