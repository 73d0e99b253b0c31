// Guards subscriptions: plans, the ways to the processor's pages, and a standing that follows the processor's.
// One thing to know: only sync.ts and events.ts change what a user has paid for, through identity's setSubscription.

import type { Platform } from '#platform/platform.ts'
import type { Room } from '#platform/room.ts'
import { END_JOB, endCustomer, eraseBilling } from './account-deletion.ts'
import { findAccount } from './accounts.ts'
import { handleHint } from './apply-event.ts'
import type { Hint } from './billing-events.ts'
import { CANCEL_JOB, cancelSubscription } from './cancellations.ts'
import { customersOf } from './customers.ts'
import type { BillingDeps } from './deps.ts'
import type { EventListener } from './missed-events.ts'
import { billingProblem } from './problems.ts'
import type { Processor } from './processor.ts'
import {
  BILLING_EVENTS,
  RECONCILE_DELAYS_MS,
  RECONCILE_JOB,
  type Reconciled,
  reconcile,
  scheduleReconciliation,
} from './reconciliation.ts'
import { billingRoutes } from './routes.ts'
import { endGraces, GRACE_JOB } from './settlement.ts'
import { syncUser } from './sync.ts'
import { INBOX_SOURCE } from './webhook.ts'

export type Billing = Room & {
  /** Lets another room hear of the events that never came. Before `start`. */
  listen: (listener: EventListener) => void
  /** Reads everything the processor has; null when billing is not configured. */
  sync: () => Promise<Reconciled | null>
}

export function createBilling(platform: Platform, client: Processor | null): Billing {
  const { config, db, clock, jobs, inbox, limiter, log } = platform
  // Without the secret no event could be believed, so there would be payments that nobody notices.
  const processor = config.processor.webhookSecret === null ? null : client
  const deps: BillingDeps = { config, db, clock, jobs, inbox, limiter, log, processor }
  const listeners: EventListener[] = processor ? [BILLING_EVENTS] : []
  // Its list can be believed without a secret, and others may listen where billing is not configured.
  const reader: BillingDeps = { ...deps, processor: client }
  let stop = () => {}

  inbox.handle<Hint>(INBOX_SOURCE, (hint) => handleHint(deps, hint))
  jobs.handle<{ customerId: string }>(END_JOB, ({ customerId }) => endCustomer(deps, customerId))
  jobs.handle<{ subscriptionId: string; insteadOf?: string }>(CANCEL_JOB, (job) => cancelSubscription(deps, job))
  jobs.handle<object>(GRACE_JOB, () => endGraces(deps, (userId) => syncUser(deps, userId)))
  jobs.handle<object>(RECONCILE_JOB, async () => void (await reconcile(reader, listeners)), {
    delaysMs: RECONCILE_DELAYS_MS,
  })

  return {
    tags: [{ name: 'billing', description: 'Plans and subscriptions', problems: billingProblem.catalogue }],
    routes: (app) => billingRoutes(app, deps),
    erase: (tx, userId) => eraseBilling(deps, tx, userId),
    collect: async (from, userId) => ({
      billing: await findAccount(from, userId),
      billing_customers: await customersOf(from, userId),
    }),
    listen: (listener) => void listeners.push(listener),
    sync: async () => (client && listeners.length > 0 ? reconcile(reader, listeners, { everyone: true }) : null),
    /** Reconciles now and hourly. */
    start() {
      if (client && listeners.length > 0) stop = scheduleReconciliation(deps)
    },
    close: () => stop(),
  }
}
