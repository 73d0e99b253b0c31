import type { Readable } from 'node:stream'

/**
 * A source of product files: a folder, a bucket, or the sample. Paths are relative, with `/`
 * between names.
 */
export interface FileStore {
  /** True for the sample, which an uploaded release replaces. */
  readonly isSample?: boolean
  /** Names of the folders directly under this one; empty when it does not exist. */
  folders(under: string): Promise<string[]>
  /** Every file below this folder, at any depth; empty when it does not exist. */
  files(under: string): Promise<StoredFile[]>
  /** The text of one small file, null when it does not exist. */
  text(path: string): Promise<string | null>
  /** Stores a new file. On failure, a part of it may remain. */
  put(path: string, content: Readable, file: Pick<StoredFile, 'executable'>): Promise<void>
  /** Removes a folder with its files; succeeds when it does not exist. */
  remove(under: string): Promise<void>
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
 * Called for every file of a release that is not delivered, so that the operator knows about it.
 */
export type LeaveOut = (path: string, reason: string) => void

/** Returns true for files of operating systems and tools, which no release should contain. */
export function isLitter(path: string): boolean {
  return path
    .split('/')
    .some(
      (name) =>
        name === '.DS_Store' || name === 'Thumbs.db' || name === '.git' || name === '__MACOSX',
    )
}
