/** Finds the user whose call had a request id, for superusers. */
import './tables.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db } from '#platform/db/db.ts'

/** The rows read by one statement, during which SQLite blocks the process, and the statements. */
const READ_LIMITS = { rows: 10_000, times: 10 }

/**
 * Searches the newest 100,000 calls. An index of request ids would make every call slower for a
 * search that superusers rarely need. Returns null for an unknown id.
 */
export async function findRequestOwner(
  db: Db,
  requestId: string,
  { rows, times } = READ_LIMITS,
): Promise<string | null> {
  let below = LAST
  for (let time = 0; time < times; time++) {
    const window = db.selectFrom('usage_records').where('created_at', '<', below)
    const last = await window
      .select('created_at')
      .orderBy('created_at', 'desc')
      .limit(1)
      .offset(rows - 1)
      .executeTakeFirst()
    const call = await window
      .select('user_id')
      .where('request_id', '=', requestId)
      .$if(last !== undefined, (query) => query.where('created_at', '>=', last?.created_at ?? ''))
      .limit(1)
      .executeTakeFirst()
    if (call) return call.user_id
    if (!last) return null
    below = last.created_at
    await nextTurn()
  }
  return null
}

const LAST = '9999-12-31T23:59:59.999Z'
