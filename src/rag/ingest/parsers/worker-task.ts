/** The messages between the parser and its worker threads. */
import type { Place } from '#platform/content.ts'
import type { Outline } from '../outline.ts'
import type { Format } from './formats.ts'
import type { Warning } from './unreadable.ts'

export const UNKNOWN = -1

export type Task = {
  format: Format
  /** The ending of the file's name. */
  ending: string
  place: Place
  /** The path of an empty file for a long text; null: none was created yet. */
  longPath: string | null
  /** The worker's thread id and CPU time in ms (UNKNOWN: not counted), for the watch. */
  start: Int32Array
}

/** Expected failures are returned, not thrown: an error loses its class between threads. */
export type Outcome =
  | { text: string; outline: Outline; warnings: Warning[] }
  | { utf8Bytes: number; outline: Outline; warnings: Warning[] }
  | { unreadable: string }
  | { needsFile: true }
