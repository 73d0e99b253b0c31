import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { Processor } from './processor.ts'
import type { SingleFlight } from './single-flight.ts'
import type { SubscriptionFacts } from './subscription-state.ts'

/** What the room's rules may touch. `processor` is null when billing is not configured. */
export type BillingDeps = Pick<
  Platform,
  'config' | 'db' | 'clock' | 'jobs' | 'inbox' | 'limiter' | 'log' | 'secrets' | 'business'
> & {
  processor: Processor | null
  /** Readings of users' subscriptions. */
  syncs: SingleFlight<SyncRequest>
}

/** What one of those asking wants of a reading that they share. */
export type SyncRequest = {
  /** A subscription that a checkout is known to have begun. */
  checkoutSubscriptionId?: string | null
  /** Written with the state, in its transaction, where `isEnough` says so of what was read. */
  settle?: { isEnough(present: SubscriptionFacts[] | null): boolean; write(tx: Db): Promise<void> }
}
