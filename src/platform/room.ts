/**
 * The interface of a room for the composition: every room is mounted, opened, started and closed
 * the same way and reports its data about a user. A room omits what it does not have.
 */
import type { Part } from '#config/config.ts'
import type { Instant } from './clock.ts'
import type { Db } from './db/db.ts'
import type { Limits } from './http/access-control.ts'
import type { App } from './http/app.ts'
import type { Tag } from './http/openapi.ts'

export type Room = {
  /** The tags of its routes in the API's description, in display order. */
  tags?: readonly Tag[]
  /** The server that its routes are mounted on. Default: the API's. */
  server?: Exclude<Part, 'worker'>
  routes?(app: App): unknown
  /** The buckets of its routes, in addition to `general`. */
  limits?: Limits
  /** Removes a bounded amount of a deleted user's data in the deletion's transaction. */
  erase?(tx: Db, userId: string, addresses: readonly ErasedAddress[]): Promise<void>
  /**
   * Erasures too large for one transaction: each removes up to SLICE_ROWS rows, returns their
   * number, and is called after the deletion until it finds none.
   */
  eraseSlices?: readonly ((db: Db, userId: string) => Promise<number>)[]
  /** The room's data about a user, for the full export. */
  collect?(db: Db, userId: string): Promise<Collected>
  /** Called before the ports open, in a process that serves the API. */
  open?(): Promise<void>
  /** Starts recurring work. Called before jobs run, in a process that runs them. */
  start?(): unknown
  /** Stops recurring work when the process begins to stop. */
  stop?(): void
  /** Waits at most `ms` for work without a reply. Called while replies and jobs end. */
  drain?(ms: number): Promise<void>
  /**
   * Called after replies and jobs have ended or timed out. Rooms close in the reverse order of
   * their creation.
   */
  close?(): unknown
}

/**
 * An address of a deleted user, in lower case. `since`: the registration, for an unverified address,
 * because it may belong to another person; otherwise null.
 */
export type ErasedAddress = { key: string; since: Instant | null }

/**
 * Files of the export by name. An object becomes a JSON file. A function is called when its file is
 * written, so that only one large object is in memory. A Buffer is written unchanged, under its
 * complete name.
 */
export type Collected = Record<string, object | null | (() => Promise<object | null>)>
