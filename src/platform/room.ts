/**
 * The interface of a room for the composition: every room is mounted, opened, started and closed
 * the same way and reports its data about a user. A room omits what it does not have.
 */
import type { Part } from '#config/config.ts'
import type { Db } from './db/db.ts'
import type { Limits } from './http/access-control.ts'
import type { App } from './http/app.ts'
import type { Tag } from './http/openapi.ts'

export type Room = {
  /** In the API's description: its routes' tags, in the order that readers see. */
  tags?: readonly Tag[]
  /** The server that its routes are mounted on; the API's when left out. */
  server?: Exclude<Part, 'worker'>
  routes?(app: App): unknown
  /** The buckets of its routes, in addition to `general`. */
  limits?: Limits
  /** Removes a bounded amount of a deleted user's data in the deletion's transaction. */
  erase?(tx: Db, userId: string): Promise<void>
  /**
   * Erasures too large for one transaction: each removes up to SLICE_ROWS rows, returns their
   * number, and is called after the deletion until it finds none.
   */
  eraseSlices?: readonly ((db: Db, userId: string) => Promise<number>)[]
  /** The room's data about a user, for the full export. */
  collect?(db: Db, userId: string): Promise<Collected>
  /** Awaited before the ports open, in a process that has the API. */
  open?(): Promise<void>
  /** Begins what recurs. Awaited before jobs run, in a process that runs them. */
  start?(): unknown
  /** Ends what recurs, as the process begins to go. */
  stop?(): void
  /**
   * Awaited when replies and jobs have ended, or their time to do so. The rooms that were made
   * later are closed by then.
   */
  close?(): unknown
}

/**
 * By the name of the JSON file; a function is called when its file's turn comes, so that large
 * things follow one another. Bytes are a file as they are, under their whole name.
 */
export type Collected = Record<string, object | null | (() => Promise<object | null>)>
