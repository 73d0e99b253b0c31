import type { Platform } from '#platform/platform.ts'
import type { Processor } from './processor.ts'

/** What the room's rules may touch. `processor` is null when billing is not configured. */
export type BillingDeps = Pick<Platform, 'config' | 'db' | 'clock' | 'jobs' | 'inbox' | 'limiter' | 'log'> & {
  processor: Processor | null
}
