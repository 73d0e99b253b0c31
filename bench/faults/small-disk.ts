// A small file system of its own in memory, which can be filled to its last byte and freed. Mounting takes root.
import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type SmallDisk = {
  folder: string
  freeBytes(): number
  /** Until so many bytes are left. */
  fill(leaveBytes: number): void
  /** Takes away what `fill` has put there. */
  free(): void
  end(): void
}

/** Null where the machine mounts none for us. */
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
        // The service wrote meanwhile: fuller than full is what was wanted.
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
