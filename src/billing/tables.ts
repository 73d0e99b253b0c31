import type { Interval, Tier } from '#catalogue/catalogue.ts'
import type { Instant } from '#platform/clock.ts'

/** One row for each user who ever went to a checkout; what access control reads stands on the user, in identity. */
type BillingAccountsTable = {
  user_id: string
  /** The one on record: checkouts and the portal are opened for it. */
  customer_id: string | null
  /** The address that we last told the processor. */
  customer_email: string | null
  /** Grows when the processor lost the customer, or failed to make one: else the next would be answered as the last was. */
  customer_generation: number
  /** Grows with each reading of the processor's state that is written: one that began before another was written is read anew. */
  version: number
  synced_at: Instant | null
  /** Time of the newest event that was applied for itself, because the processor knew its object no more. */
  event_at: Instant | null
  ended_subscription_id: string | null
  checkout_at: Instant | null
  /** The subscription that counts, as last read. */
  subscription_id: string | null
  subscription_created_at: Instant | null
  price_id: string | null
  period_end_at: Instant | null
  is_cancel_at_period_end: boolean
  /** The processor's own word for its status. */
  processor_status: string | null
  /** What it buys, also while a pause or a failed payment keeps it closed. */
  granted_tier: Tier | null
  /** Since when its payment has failed; null while it is paid. */
  past_due_at: Instant | null
  is_grace_over: boolean
  /** Of the payment that is missing, in the processor's word; null while none is. Also of a subscription that waits for its first. */
  payment_status: string | null
  /** Why it failed, in a sentence of the processor for its payer. */
  payment_error: string | null
  payment_due_cents: number | null
  /** Of a checkout beside the subscription that counts, which waits for its first payment; `pending_payment_status` as above. */
  pending_price_id: string | null
  pending_payment_status: string | null
  /** Paid, it takes the other's place; an older one ends at once, and is credited. */
  is_pending_newer: boolean
  trial_end_at: Instant | null
  /** A period's price, before discounts and taxes. */
  price_cents: number | null
  currency: string | null
  interval: string | null
  /** What the next period costs, where the plan of this one is paid and another follows. */
  next_price_id: string | null
  /** When a pause begins that was asked for: at the end of the paid period. */
  pauses_at: Instant | null
  /** When a cancelled one ends: with its period, unless whoever runs the service said otherwise. */
  ends_at: Instant | null
  ended_at: Instant | null
  card_last4: string | null
  /** The first moment at which the card is refused. */
  card_expires_at: Instant | null
  /** Since when the user wants offers by mail; null: none are sent. */
  offers_at: Instant | null
  /** When a job last read all invoices of the user. */
  invoices_read_at: Instant | null
}

/**
 * Who has had a trial: keyed hashes of the normalised address and of the card. They outlive the account, or a trial would begin anew with each.
 */
type TrialMarksTable = { mark: string; subscription_id: string; begun_at: Instant }

/** What a user was written about, so that each matter is told once. */
type BillingNoticesTable = { user_id: string; about: string; sent_at: Instant }

/** A price of the processor that is for one user alone. */
type DealsTable = {
  price_id: string
  user_id: string
  tier: Tier
  interval: Interval
  amount_cents: number
  currency: string
  created_at: Instant
}

/** What a subscriber said who cancelled. Of deleted users the row stays, without person and comment. */
type CancellationsTable = {
  subscription_id: string
  user_id: string | null
  tier: Tier | null
  feedback: string | null
  comment: string | null
  canceled_at: Instant
  /** Null while it runs on to the end of its period. */
  ended_at: Instant | null
}

/** Every customer that the user ever had at the processor: what is paid over any of them counts. */
type BillingCustomersTable = {
  customer_id: string
  user_id: string
  /** `refused`: the processor knows it no more, and does not say that it was deleted. */
  state: 'present' | 'deleted' | 'refused'
  /** Of its newest checkout, or its making, on the processor's clock; null when only another event named it. */
  checkout_at: Instant | null
}

/** How far reconciliation has read the processor's events. */
type BillingCursorsTable = { name: string; reached_at: Instant }

declare module '#platform/db/tables.ts' {
  interface Tables {
    billing_accounts: BillingAccountsTable
    billing_customers: BillingCustomersTable
    billing_cursors: BillingCursorsTable
    billing_notices: BillingNoticesTable
    trial_marks: TrialMarksTable
    deals: DealsTable
    cancellations: CancellationsTable
  }
}

export type { BillingAccountsTable, BillingCustomersTable, CancellationsTable, DealsTable }
