/**
 * Locks a data folder with SQLite's lock on a file without tables, so that only one service uses
 * it. A second service would treat the running calls of the first as crashed and record them twice.
 * The system releases the lock with the process, also after kill -9. No pid is compared, because
 * another program (in a container, one of the same few pids) may have it by then.
 */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export class FolderInUse extends Error {}

/**
 * Locks the folder for each part of the service; different parts may run as separate processes.
 * @returns the release function. @throws FolderInUse with a sentence that names the process.
 */
export function lockFolder(dataDir: string, parts: readonly string[]): () => void {
  const locks: DatabaseSync[] = []
  const release = () => {
    for (const lock of locks) lock.close()
  }
  try {
    for (const part of parts) locks.push(lockPart(dataDir, part))
  } catch (error) {
    release()
    throw error
  }
  return release
}

function lockPart(dataDir: string, part: string): DatabaseSync {
  const path = join(dataDir, `${part}.lock`)
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    chmodSync(path, 0o600)
    lock.exec('pragma synchronous = off; pragma journal_mode = memory')
    // The holder's description is committed before the lock is acquired, because other processes
    // cannot read an uncommitted one.
    lock.exec(`begin immediate; pragma user_version = ${process.pid}; commit; begin immediate`)
    return lock
  } catch (error) {
    const isHeld = (error as { errcode?: number }).errcode === SQLITE_BUSY
    const holder = isHeld ? readHolderPid(lock) : 0
    lock.close()
    if (!isHeld) throw error
    throw new FolderInUse(
      `the data folder ${dataDir} is in use by ${holder === process.pid ? 'this process' : `process ${holder}`}: stop it, or set DATA_DIR (several nodes need DATABASE_URL)`,
    )
  }
}

const SQLITE_BUSY = 5

function readHolderPid(lock: DatabaseSync): number {
  const row = lock.prepare('pragma user_version').get() as { user_version: number } | undefined
  return row?.user_version ?? 0
}
