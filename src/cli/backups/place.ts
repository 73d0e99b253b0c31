/** Where a backup lies: a folder of this machine or a bucket. Its files have relative paths with slashes. */
import type { Readable } from 'node:stream'

export type Written = { bytes: number; sha256: string }

export type Place = {
  /** For the operator. */
  address: string
  /** Writes a file that is not there yet, whole or not at all. */
  write(path: string, content: Readable): Promise<Written>
  /** The same, of a file on this machine, which is gone afterwards. */
  take(path: string, file: string): Promise<Written>
  /** A folder on this machine for a file that `take` is to have; whoever asks removes it. */
  scratch(): Promise<string>
  /** @throws Error with a sentence where there is no such file. */
  read(path: string): Promise<Readable>
  /** Null where there is no such file. */
  text(path: string): Promise<string | null>
  /** Names of the folders right below, in their order. */
  folders(): Promise<string[]>
  below(name: string): Place
}
