import type { Interval, Tier } from '#catalogue/catalogue.ts'
import type { Instant } from '#platform/clock.ts'

/**
 * One row for each user who ever opened a checkout. The fields for access control are on the user,
 * in identity.
 */
type BillingAccountsTable = {
  user_id: string
  /** The customer on record: checkouts and the portal use it. */
  customer_id: string | null
  /** The address last sent to the processor. */
  customer_email: string | null
  /**
   * Incremented when the processor lost the customer or failed to create one; otherwise the
   * idempotency key would repeat the last answer.
   */
  customer_generation: number
  /** Incremented with each written read of the processor; a read that began earlier restarts. */
  version: number
  synced_at: Instant | null
  /**
   * Time of the newest event that was applied directly, because the processor no longer had its
   * object.
   */
  event_at: Instant | null
  ended_subscription_id: string | null
  checkout_at: Instant | null
  /** The effective subscription, as last read. */
  subscription_id: string | null
  subscription_created_at: Instant | null
  price_id: string | null
  period_end_at: Instant | null
  is_cancel_at_period_end: boolean
  /** The processor's status of the subscription. */
  processor_status: string | null
  /** The subscribed tier, also while a pause or a failed payment keeps it closed. */
  granted_tier: Tier | null
  /** Start of the payment failure; null while it is paid. */
  past_due_at: Instant | null
  is_grace_over: boolean
  /**
   * The processor's status of the missing payment; null when none is missing. Includes a first
   * payment.
   */
  payment_status: string | null
  /** The reason for the failure, in the processor's sentence for the payer. */
  payment_error: string | null
  payment_due_cents: number | null
  /** A second checkout that waits for its first payment while a subscription runs. */
  pending_price_id: string | null
  pending_payment_status: string | null
  /**
   * True when its payment replaces the running plan; an older checkout ends at once and is
   * credited.
   */
  is_pending_newer: boolean
  trial_end_at: Instant | null
  /** Price of a period, before discounts and taxes. */
  price_cents: number | null
  currency: string | null
  interval: string | null
  /** The next period's price while a downgrade is pending. */
  next_price_id: string | null
  /** Start of a requested pause: the end of the paid period. */
  pauses_at: Instant | null
  /**
   * End of a cancelled subscription: the end of its period, unless the operator chose another date.
   */
  ends_at: Instant | null
  ended_at: Instant | null
  card_last4: string | null
  /** First moment at which the card is refused. */
  card_expires_at: Instant | null
  /** When the user opted in to offers by email; null: no offers. */
  offers_at: Instant | null
  /** When a job last read all invoices of the user. */
  invoices_read_at: Instant | null
}

/**
 * Trials that were used: keyed hashes of the normalised address and of the card. They outlive the
 * account; otherwise each new account would get a trial.
 */
type TrialMarksTable = { mark: string; subscription_id: string; begun_at: Instant }

/**
 * Mailboxes whose free allowance is claimed: keyed hashes of the normalised address and of the account.
 * They outlive the account.
 */
type FreeMarksTable = { mark: string; holder: string; used_at: Instant }

/** Notices sent to a user, so that each is sent once. */
type BillingNoticesTable = { user_id: string; about: string; sent_at: Instant }

/** A price at the processor for one user alone. */
type DealsTable = {
  price_id: string
  user_id: string
  tier: Tier
  interval: Interval
  amount_cents: number
  currency: string
  created_at: Instant
}

/**
 * The reason a subscriber gave for cancelling. The rows of deleted users stay, without person and
 * comment.
 */
type CancellationsTable = {
  subscription_id: string
  user_id: string | null
  tier: Tier | null
  feedback: string | null
  comment: string | null
  canceled_at: Instant
  /** Null until the end of its period. */
  ended_at: Instant | null
}

/** Every customer that the user ever had at the processor; payments by any of them count. */
type BillingCustomersTable = {
  customer_id: string
  user_id: string
  /** `refused`: the processor no longer has it and does not report a deletion. */
  state: 'present' | 'deleted' | 'refused'
  /**
   * Time of its newest checkout or its creation, on the processor's clock; null when only another
   * event named it.
   */
  checkout_at: Instant | null
}

export type CountedState = 'none' | 'trial' | 'paid'

/**
 * The change of an account's subscription on a UTC day. The sum of all changes up to a day is the
 * state on that day.
 */
type SubscriptionChangesTable = {
  /** The user; after the deletion of the account, a random id. */
  owner: string
  day: string
  currency: string
  /** The tier after the change, or the last one of a subscription that ended. */
  tier: Tier | null
  before_state: CountedState
  /** Monthly recurring revenue in minor units; 0 unless the state is `paid`. */
  before_cents: number
  after_state: CountedState
  after_cents: number
}

/** Checkouts that were opened on a UTC day. */
type CheckoutDaysTable = { day: string; kind: 'purchase' | 'subscription'; opened: number }

/** How far reconciliation has read the processor's lists, and when it last recorded changes. */
type BillingCursorsTable = { name: string; reached_at: Instant }

declare module '#platform/db/tables.ts' {
  interface Tables {
    billing_accounts: BillingAccountsTable
    billing_customers: BillingCustomersTable
    billing_cursors: BillingCursorsTable
    billing_notices: BillingNoticesTable
    trial_marks: TrialMarksTable
    free_marks: FreeMarksTable
    deals: DealsTable
    cancellations: CancellationsTable
    subscription_changes: SubscriptionChangesTable
    checkout_days: CheckoutDaysTable
  }
}

export type {
  BillingAccountsTable,
  BillingCustomersTable,
  CancellationsTable,
  DealsTable,
  SubscriptionChangesTable,
}
