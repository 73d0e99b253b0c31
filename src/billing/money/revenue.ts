/**
 * Revenue, refunds, lost disputes and fees in a period, by plan and product or by customer. Each
 * amount counts in the month it happened in, so that a closed month never changes; a lost dispute
 * counts in the month it was opened in.
 */
import './tables.ts'
import { type RawBuilder, sql } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { formatUtcDay } from '#platform/db/time.ts'
import { isAfterCursor } from '#platform/http/keyset.ts'

export type Revenue = {
  currency: string
  /** Number of payments received. */
  payments: number
  paid_cents: number
  refunded_cents: number
  lost_cents: number
  /** Tax owed to tax offices; the other sums exclude it. */
  tax_cents: number
  /** The processor's known fees. */
  fee_cents: number
}
export type PlanRevenue = Revenue & {
  kind: 'purchase' | 'subscription'
  tier: string | null
  customers: number
}
/** Null for deleted users. */
export type CustomerRevenue = Revenue & { user_id: string | null }

type Months = { from: Instant; before: Instant }

/**
 * Sums by product or plan. A subscription's plan comes from its invoice; null when the invoice is
 * unknown.
 */
export async function sumRevenueByPlan(db: Db, span: Months): Promise<PlanRevenue[]> {
  const { rows } = await sql<PlanRevenue>`
    select kind, tier, currency, count(distinct user_id) as customers, ${SUMS}
    from (${selectMovements(span)}) as moved group by kind, tier, currency order by kind desc, tier, currency`.execute(
    db,
  )
  return rows
}

export async function sumRevenueByCustomer(db: Db, span: Months): Promise<CustomerRevenue[]> {
  const { rows } = await sql<CustomerRevenue>`
    select user_id, currency, ${SUMS} from (${selectMovements(span)}) as moved group by user_id, currency`.execute(
    db,
  )
  return rows
}

/** Returns the sums of one customer, by currency. */
export async function sumCustomerRevenue(db: Db, userId: string, span: Months): Promise<Revenue[]> {
  const { rows } = await sql<Revenue>`
    select currency, ${SUMS} from (${selectMovements(span)}) as moved
    where user_id = ${userId} group by currency order by currency`.execute(db)
  return rows
}

export type DayRevenue = Revenue & { day: string }

/** Returns the sums of each UTC day, by currency. */
export async function sumRevenueByDay(db: Db, span: Months): Promise<DayRevenue[]> {
  const { rows } = await sql<DayRevenue>`
    select ${formatUtcDay(db, 'at')} as day, currency, ${SUMS} from (${selectMovements(span)}) as moved
    group by 1, currency`.execute(db)
  return rows
}

/** One payment, refund, lost dispute or fee. Amounts that leave the seller are negative. */
export type Movement = {
  at: Instant
  type: 'payment' | 'refund' | 'dispute' | 'fee'
  /** Id of the payment, refund or dispute; a fee has the id of the object it was charged for. */
  id: string
  payment_id: string
  /** Null without a known invoice, as for most one-time sales. */
  invoice: string | null
  user_id: string | null
  kind: 'purchase' | 'subscription'
  tier: string | null
  currency: string
  /** Includes tax. */
  amount_cents: number
  tax_cents: number
}

/** Returns each movement of money in the period, the oldest first. */
export async function listMovements(db: Db, span: Months): Promise<Movement[]> {
  const { rows } = await sql<Movement>`
    select *, (select max(i.number) from invoices i where i.payment_id = moved.payment_id) as invoice
    from (${selectMovements(span)}) as moved order by at, id, type desc`.execute(db)
  return rows
}

/** Fees belong to one of the other movements. */
export const MOVEMENT_TYPES = ['payment', 'refund', 'dispute'] as const
export type ListedType = (typeof MOVEMENT_TYPES)[number]

/** Lists at most `limit` movements after the cursor, newest first; without a type, all but fees. */
export async function listMovementPage(
  db: Db,
  span: Months,
  {
    type,
    cursor,
    limit,
  }: {
    type: ListedType | undefined
    cursor: string | undefined
    limit: number
  },
): Promise<Movement[]> {
  const isWanted = type === undefined ? sql`type <> 'fee'` : sql`type = ${type}`
  const { rows } = await sql<Movement>`
    select *, (select max(i.number) from invoices i where i.payment_id = moved.payment_id) as invoice
    from (${selectMovements(span)}) as moved where ${isWanted} and ${isAfterCursor(cursor, ['at', 'id'])}
    order by at desc, id desc limit ${sql.lit(limit)}`.execute(db)
  return rows
}

const sumMovements = (type: Movement['type']) =>
  sql`coalesce(sum(case when type = ${type} then amount_cents - tax_cents end), 0)`
const SUMS = sql`sum(case when type = 'payment' then 1 else 0 end) as payments, ${sumMovements('payment')} as paid_cents,
  -${sumMovements('refund')} as refunded_cents, -${sumMovements('dispute')} as lost_cents, -${sumMovements('fee')} as fee_cents, sum(tax_cents) as tax_cents`

function selectMovements({ from, before }: Months) {
  const columns = sql`p.user_id, p.kind, coalesce(p.tier, (select max(i.tier) from invoices i where i.payment_id = p.id)) as tier`
  const isRefund = sql`r.status not in ('failed', 'canceled')`
  const isLost = sql`d.status = 'lost' and exists (select 1 from payments l where l.id = d.payment_id and l.dispute = 'lost')`
  const inSpan = sql`created_at >= ${from} and created_at < ${before}`
  return sql`
    select p.paid_at as at, 'payment' as type, p.id, p.id as payment_id, ${columns}, p.currency, p.amount_cents, p.tax_cents
    from payments p where p.kind is not null and p.paid_at >= ${from} and p.paid_at < ${before}
    union all
    select t.created_at, t.type, t.id, p.id, ${columns}, t.currency, -t.amount_cents, ${computeTaxShare(sql`t.total - t.amount_cents`)} - ${computeTaxShare(sql`t.total`)}
    from (
      select taken.*, cast(sum(amount_cents) over (partition by payment_id order by created_at, id) as bigint) as total
      from (
        select 'refund' as type, r.id, r.payment_id, r.amount_cents, r.currency, r.created_at from refunds r where ${isRefund}
        union all
        select 'dispute', d.id, d.payment_id, d.amount_cents, d.currency, d.created_at from disputes d where ${isLost}
      ) as taken
      where payment_id in (select payment_id from refunds where ${inSpan} union select payment_id from disputes where ${inSpan})
    ) as t join payments p on p.id = t.payment_id
    where p.kind is not null and t.created_at >= ${from} and t.created_at < ${before}
    union all
    select f.at, 'fee', f.id, p.id, ${columns}, f.currency, -f.cents, 0
    from (
      select paid_at as at, id, id as payment_id, fee_cents as cents, fee_currency as currency from payments
      union all
      select created_at, id, payment_id, fee_cents, fee_currency from refunds
      union all
      select created_at, id, payment_id, fee_cents, fee_currency from disputes
    ) as f join payments p on p.id = f.payment_id
    where p.kind is not null and f.cents <> 0 and f.at >= ${from} and f.at < ${before}`
}

/**
 * Computes the tax in the first `taken` cents of a payment, rounded half up. A refund's tax is the
 * difference of two such values, so the parts add up to the whole.
 */
const computeTaxShare = (taken: RawBuilder<unknown>) =>
  sql`coalesce((2 * (${taken}) * p.tax_cents + p.amount_cents) / nullif(2 * p.amount_cents, 0), 0)`
