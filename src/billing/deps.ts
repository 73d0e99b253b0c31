import type { Platform } from '#platform/platform.ts'
import type { Processor } from './processor.ts'
import type { SyncWish } from './sync.ts'
import type { Turns } from './turns.ts'

/** What the room's rules may touch. `processor` is null when billing is not configured. */
export type BillingDeps = Pick<Platform, 'config' | 'db' | 'clock' | 'jobs' | 'inbox' | 'limiter' | 'log'> & {
  processor: Processor | null
  /** Readings of users' subscriptions. */
  syncs: Turns<SyncWish>
}
