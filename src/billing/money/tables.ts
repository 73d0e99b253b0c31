import type { Tier } from '#catalogue/catalogue.ts'
import type { Instant } from '#platform/clock.ts'

/**
 * `open`: the bank holds the money. `lost` and `won` are its decision, which a later reinstatement
 * can change.
 */
export type DisputeState = 'open' | 'lost' | 'won'

/**
 * The processor's fee, in the currency of its balance; null while unknown. A missing fee never
 * blocks the state of a payment. Refunding a payment does not return its fee.
 */
export type Fee = { fee_cents: number | null; fee_currency: string | null }

/**
 * A payment's state at the processor, also before its purpose is known: events arrive in any order.
 * The rows of deleted users stay, without the person.
 */
type PaymentsTable = Fee & {
  /** The payment intent, or the checkout session where the total was 0. */
  id: string
  user_id: string | null
  customer_id: string | null
  /** Null until the payment is known to be for this service. */
  kind: 'purchase' | 'subscription' | null
  /** Tier of the purchased product; a subscription's tier is on its invoice. */
  tier: Tier | null
  amount_cents: number
  /** The tax part, which is not revenue. */
  tax_cents: number
  currency: string
  paid_at: Instant | null
  refunded_cents: number
  /** Refunded in full. */
  is_refunded: boolean
  dispute: DisputeState | null
  /** Incremented with each written read of the processor. */
  version: number
  seen_at: Instant
}

type RefundsTable = Fee & {
  id: string
  payment_id: string
  amount_cents: number
  currency: string
  /** The processor's status: `pending`, `succeeded`, `failed`, `canceled` or `requires_action`. */
  status: string
  reason: string | null
  created_at: Instant
}

type DisputesTable = Fee & {
  id: string
  payment_id: string
  amount_cents: number
  currency: string
  /**
   * The processor's status: `needs_response`, `under_review`, `won`, `lost` or a warning; or our
   * `reinstated`.
   */
  status: string
  reason: string | null
  created_at: Instant
}

/** Purpose and period of an invoice line. Credits have negative cents. */
export type InvoiceLine = {
  subscription_id: string | null
  price_id: string | null
  cents: number
  start: Instant
  end: Instant
  is_proration: boolean
}

/** A subscription's invoices, one for each period or change, and those of one-time sales. */
type InvoicesTable = {
  id: string
  user_id: string | null
  customer_id: string | null
  subscription_id: string | null
  payment_id: string | null
  price_id: string | null
  tier: Tier | null
  number: string | null
  /** The processor's status: `draft`, `open`, `paid`, `void` or `uncollectible`. */
  status: string
  reason: string | null
  total_cents: number
  paid_cents: number
  tax_cents: number
  currency: string
  created_at: Instant
  paid_at: Instant | null
  /** Description of the newest line. */
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
