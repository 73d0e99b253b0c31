/**
 * The service's clock while the sandbox is the payment processor: real time plus the time that
 * testers added. A file in the data folder stores the offset, so that every process and every start
 * has the same time. It only moves forward.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type MovableClock, movableClock } from '#platform/clock.ts'
import { makeFolder } from '#platform/folder.ts'

const REREAD_MS = 1_000

export function sandboxClock(dataDir: string): MovableClock {
  const path = join(dataDir, 'sandbox-clock')
  const clock = movableClock()
  clock.advance(readMovedMs(path))
  let readAt = Date.now()

  const follow = () => {
    const now = Date.now()
    if (now - readAt < REREAD_MS) return
    readAt = now
    try {
      const moved = readMovedMs(path)
      if (moved > clock.movedMs()) clock.advance(moved - clock.movedMs())
    } catch {
      // For example, when no file descriptor is free. Every request reads the time, so use the last
      // value for another second.
    }
  }

  return {
    now() {
      follow()
      return clock.now()
    },
    ms() {
      follow()
      return clock.ms()
    },
    movedMs() {
      follow()
      return clock.movedMs()
    },
    advance(ms) {
      follow()
      clock.advance(Math.ceil(ms))
      makeFolder(dataDir)
      writeFileSync(path, String(clock.movedMs()))
    },
  }
}

function readMovedMs(path: string): number {
  try {
    const moved = Number(readFileSync(path, 'utf8'))
    return Number.isSafeInteger(moved) ? moved : 0
  } catch (error) {
    // Without a usable folder there is no offset. The code that creates the folder reports the
    // error.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return 0
    throw error
  }
}
