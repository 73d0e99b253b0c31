/**
 * What came in and what went back in a span of time, by plan and product or by customer: sums over the rows of payments, refunds and
 * disputes. Each counts in the month it happened in, so that a closed month stays as it was; only a lost dispute counts where it began.
 */
import './tables.ts'
import { sql } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'

export type Revenue = {
  currency: string
  /** How many payments came in. */
  payments: number
  paid_cents: number
  refunded_cents: number
  lost_cents: number
  /** What is owed to tax offices of all that; the other sums are without it. */
  tax_cents: number
}
export type PlanRevenue = Revenue & { kind: 'purchase' | 'subscription'; tier: string | null; customers: number }
/** Null: users who are deleted since. */
export type CustomerRevenue = Revenue & { user_id: string | null }

type Months = { from: Instant; before: Instant }

/** By what was sold. A subscription's plan is its invoice's; null where that invoice is not known. */
export async function revenueByPlan(db: Db, span: Months): Promise<PlanRevenue[]> {
  const { rows } = await sql<PlanRevenue>`
    select kind, tier, currency, count(distinct user_id) as customers, ${SUMS}
    from (${movements(span)}) as moved group by kind, tier, currency order by kind desc, tier, currency`.execute(db)
  return rows.map((row) => ({ ...row, ...numbered(row), customers: Number(row.customers) }))
}

export async function revenueByCustomer(db: Db, span: Months): Promise<CustomerRevenue[]> {
  const { rows } = await sql<CustomerRevenue>`
    select user_id, currency, ${SUMS} from (${movements(span)}) as moved group by user_id, currency`.execute(db)
  return rows.map((row) => ({ ...row, ...numbered(row) }))
}

const SUMS = sql`count(paid_id) as payments, sum(paid) as paid_cents, sum(refunded) as refunded_cents, sum(lost) as lost_cents, sum(tax) as tax_cents`

function movements({ from, before }: Months) {
  const what = sql`p.user_id, p.kind, coalesce(p.tier, (select max(i.tier) from invoices i where i.payment_id = p.id)) as tier`
  return sql`
    select ${what}, p.currency, p.id as paid_id, p.amount_cents - p.tax_cents as paid, 0 as refunded, 0 as lost, p.tax_cents as tax from payments p
    where p.kind is not null and p.paid_at >= ${from} and p.paid_at < ${before}
    union all
    select ${what}, r.currency, null, 0, r.amount_cents - ${shareOf('r')}, 0, -${shareOf('r')} from refunds r join payments p on p.id = r.payment_id
    where p.kind is not null and r.status not in ('failed', 'canceled') and r.created_at >= ${from} and r.created_at < ${before}
    union all
    select ${what}, d.currency, null, 0, 0, d.amount_cents - ${shareOf('d')}, -${shareOf('d')} from disputes d join payments p on p.id = d.payment_id
    where p.kind is not null and d.status = 'lost' and p.dispute = 'lost' and d.created_at >= ${from} and d.created_at < ${before}`
}

/** Of what was taken back, the part that was tax. */
const shareOf = (from: 'r' | 'd') =>
  sql`coalesce(${sql.ref(`${from}.amount_cents`)} * p.tax_cents / nullif(p.amount_cents, 0), 0)`

/** PostgreSQL gives sums as text. */
const numbered = ({ payments, paid_cents, refunded_cents, lost_cents, tax_cents }: Revenue) => ({
  payments: Number(payments),
  paid_cents: Number(paid_cents),
  refunded_cents: Number(refunded_cents),
  lost_cents: Number(lost_cents),
  tax_cents: Number(tax_cents),
})
