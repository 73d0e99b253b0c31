import type { Tier } from '#catalogue/catalogue.ts'
import type { Instant } from '#platform/clock.ts'

/** `open`: the bank holds the money. `lost` and `won` are its last word, until money comes back after all. */
export type DisputeState = 'open' | 'lost' | 'won'

/**
 * The processor's own fee, in the currency of its balance. Null while it is unknown; it is a detail
 * that never blocks the state of a payment. A refund keeps the fee of its payment.
 */
export type Fee = { fee_cents: number | null; fee_currency: string | null }

/**
 * What the processor says about a payment, also before it is known what it was for: events come in any order. Of deleted users the row stays,
 * without the person.
 */
type PaymentsTable = Fee & {
  /** The payment intent, or the checkout session where the total was 0. */
  id: string
  user_id: string | null
  customer_id: string | null
  /** Null while it is not known to be one of ours. */
  kind: 'purchase' | 'subscription' | null
  /** Of the product that was bought; a subscription's stands on its invoice. */
  tier: Tier | null
  amount_cents: number
  /** What of it is tax, which is no revenue. */
  tax_cents: number
  currency: string
  paid_at: Instant | null
  refunded_cents: number
  /** In full. */
  is_refunded: boolean
  dispute: DisputeState | null
  /** Grows with each reading of the processor that is written. */
  version: number
  seen_at: Instant
}

type RefundsTable = Fee & {
  id: string
  payment_id: string
  amount_cents: number
  currency: string
  /** The processor's word: `pending`, `succeeded`, `failed`, `canceled`, `requires_action`. */
  status: string
  reason: string | null
  created_at: Instant
}

type DisputesTable = Fee & {
  id: string
  payment_id: string
  amount_cents: number
  currency: string
  /** The processor's word: `needs_response`, `under_review`, `won`, `lost`, or a warning; and `reinstated`. */
  status: string
  reason: string | null
  created_at: Instant
}

/** What a line of an invoice is for, and from when to when. Credited ones have negative cents. */
export type InvoiceLine = {
  subscription_id: string | null
  price_id: string | null
  cents: number
  start: Instant
  end: Instant
  is_proration: boolean
}

/** What a subscription asked for, period by period. */
type InvoicesTable = {
  id: string
  user_id: string | null
  customer_id: string | null
  subscription_id: string | null
  payment_id: string | null
  price_id: string | null
  tier: Tier | null
  number: string | null
  /** The processor's word: `draft`, `open`, `paid`, `void`, `uncollectible`. */
  status: string
  reason: string | null
  total_cents: number
  paid_cents: number
  tax_cents: number
  currency: string
  created_at: Instant
  paid_at: Instant | null
  /** Of the newest line. */
  description: string | null
  lines_json: readonly InvoiceLine[] | null
}

declare module '#platform/db/tables.ts' {
  interface Tables {
    payments: PaymentsTable
    refunds: RefundsTable
    disputes: DisputesTable
    invoices: InvoicesTable
  }
}

export type { DisputesTable, InvoicesTable, PaymentsTable, RefundsTable }
