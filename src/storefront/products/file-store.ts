import type { Readable } from 'node:stream'

/** Where product files lie: a folder, a bucket, or the sample. Paths are relative, `/` between names. */
export interface FileStore {
  /** Names of the folders directly under this one; empty when it does not exist. */
  folders(under: string): Promise<string[]>
  /** Every file below this folder, at any depth; empty when it does not exist. */
  files(under: string): Promise<StoredFile[]>
  /** The text of one small file, null when it does not exist. */
  text(path: string): Promise<string | null>
}

export type StoredFile = {
  /** Relative to the requested folder. */
  path: string
  sizeBytes: number
  /** Changes when the content does. */
  tag: string
  modifiedAt: Date
  executable: boolean
  open(): Promise<Readable>
}

/**
 * Called for every file in a release that is not delivered: otherwise a buyer would miss it, and
 * nobody would know.
 */
export type LeaveOut = (path: string, reason: string) => void

/** Leftovers of systems and tools, which no release means to ship. */
export function isLitter(path: string): boolean {
  return path
    .split('/')
    .some(
      (name) =>
        name === '.DS_Store' || name === 'Thumbs.db' || name === '.git' || name === '__MACOSX',
    )
}
