// A small in-memory file system that can be filled to its last byte and freed. Mounting needs root.
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type SmallDisk = {
  folder: string
  freeBytes(): number
  /** Fills the disk until `leaveBytes` are free. */
  fill(leaveBytes: number): void
  /** Removes the files of `fill`. */
  free(): void
  end(): void
}

/** Returns null where the process may not mount. */
export function mountSmallDisk(sizeMb: number): SmallDisk | null {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-small-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m`, 'latchkey-faults', folder], {
      stdio: 'ignore',
    })
  } catch {
    rmSync(folder, { recursive: true })
    return null
  }
  const ballast = join(folder, 'ballast')
  const freeBytes = () => {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  }
  return {
    folder,
    freeBytes,
    fill(leaveBytes) {
      const file = openSync(ballast, 'a')
      try {
        while (freeBytes() > leaveBytes)
          writeSync(file, Buffer.alloc(Math.min(freeBytes() - leaveBytes, 1024 * 1024)))
      } catch (error) {
        // The service wrote meanwhile, so less space is left than requested.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(ballast, { force: true }),
    end() {
      execFileSync('umount', [folder])
      rmSync(folder, { recursive: true })
    },
  }
}
