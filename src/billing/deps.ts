import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { Processor } from './processor.ts'
import type { SingleFlight } from './single-flight.ts'
import type { SubscriptionFacts } from './subscription-state.ts'

/** Dependencies of the room. `processor` is null when billing is not configured. */
export type BillingDeps = Pick<
  Platform,
  'config' | 'db' | 'clock' | 'jobs' | 'inbox' | 'limiter' | 'log' | 'secrets' | 'business'
> & {
  processor: Processor | null
  /** Runs reads of users' subscriptions, one at a time for each user. */
  syncs: SingleFlight<SyncRequest>
}

/** The needs of one caller of a shared read. */
export type SyncRequest = {
  /** A subscription that a checkout started. */
  checkoutSubscriptionId?: string | null
  /**
   * `write` runs in the state's transaction if `isEnough` accepts the subscriptions that were read.
   */
  settle?: { isEnough(present: SubscriptionFacts[] | null): boolean; write(tx: Db): Promise<void> }
}
