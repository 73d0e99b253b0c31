/** Checks the age of the newest backup that was made with the command. */

import { findLastBackup } from '#platform/backups.ts'
import { DAY_MS, HOUR_MS } from '#platform/clock.ts'
import { createLines, type Line, type OpenPlatform } from './line.ts'

/** Covers a weekly backup that starts late. */
const OLD_MS = 8 * DAY_MS

export async function checkBackups(platform: OpenPlatform): Promise<Line> {
  const { ok, off, wrong, failed } = createLines('Backup')
  try {
    const { db, clock } = await platform()
    const last = await findLastBackup(db)
    if (last === null) return off('none yet: npm run cli -- backup FOLDER')
    const ageMs = clock.ms() - Date.parse(last.made_at)
    const age =
      ageMs < 2 * DAY_MS ? `${Math.floor(ageMs / HOUR_MS)} h` : `${Math.floor(ageMs / DAY_MS)} days`
    return (ageMs > OLD_MS ? wrong : ok)(`the newest is ${age} old, in ${last.place}`)
  } catch (error) {
    return failed(error, `unknown: ${(error as Error).message}`)
  }
}
