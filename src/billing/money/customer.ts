/** A customer's money as superusers read it: found by a reference, summed, and as events. */
import '../tables.ts'
import './tables.ts'
import { type SelectQueryBuilder, sql } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import { findAccount } from '../accounts.ts'
import { computeMonthlyRevenue } from '../metrics/monthly-revenue.ts'

const FOUND_MAX = 1_000

/**
 * Returns the users with that invoice (number or id), payment, or customer at the processor, or
 * whose card ends with these four digits. Each is one indexed lookup.
 */
export async function findPayers(db: Db, reference: string): Promise<string[]> {
  const rows = await selectPayers(db, reference).limit(FOUND_MAX).execute()
  return rows.flatMap(({ user_id }) => user_id ?? [])
}

type Payers = SelectQueryBuilder<Tables, keyof Tables, { user_id: string | null }>

function selectPayers(db: Db, reference: string): Payers {
  const find = (table: 'billing_accounts' | 'billing_customers' | 'payments' | 'invoices') =>
    db.selectFrom(table).select('user_id') as Payers
  if (/^\d{4}$/.test(reference)) return find('billing_accounts').where('card_last4', '=', reference)
  if (reference.startsWith('cus_'))
    return find('billing_customers').where('customer_id', '=', reference)
  if (/^(pi|cs)_/.test(reference)) return find('payments').where('payments.id', '=', reference)
  if (reference.startsWith('in_')) return find('invoices').where('invoices.id', '=', reference)
  return find('invoices').where('number', 'in', [reference, reference.toUpperCase()])
}

/** Returns the subscription as last read from the processor; null when the user never had one. */
export async function readCustomerSubscription(db: Db, userId: string) {
  const account = await findAccount(db, userId)
  if (!account?.subscription_id) return null
  const { price_cents, currency, interval, processor_status, ended_at } = account
  return {
    id: account.subscription_id,
    tier: account.granted_tier,
    processor_status,
    price_cents,
    currency,
    interval,
    mrr: computeMonthlyRevenue(account),
    started_at: account.subscription_created_at,
    period_end_at: account.period_end_at,
    trial_end_at: account.trial_end_at,
    past_due_at: account.past_due_at,
    payment_error: account.payment_error,
    is_cancel_at_period_end: account.is_cancel_at_period_end,
    ended_at,
    card_last4: account.card_last4,
    card_expires_at: account.card_expires_at,
  }
}

const PAYMENTS_MAX = 20

/** Lists the user's newest payments of subscriptions. */
export async function listSubscriptionPayments(db: Db, userId: string) {
  const payments = await db
    .selectFrom('payments')
    .select(['id', 'amount_cents', 'refunded_cents', 'currency', 'dispute', 'paid_at'])
    .where('user_id', '=', userId)
    .where('kind', '=', 'subscription')
    .where('paid_at', 'is not', null)
    .orderBy('paid_at', 'desc')
    .orderBy('id')
    .limit(PAYMENTS_MAX)
    .execute()
  const invoices = await db
    .selectFrom('invoices')
    .select(['payment_id', 'number', 'tier'])
    .where('payment_id', 'in', ['', ...payments.map(({ id }) => id)])
    .execute()
  return payments.map(({ paid_at, ...payment }) => {
    const invoice = invoices.find(({ payment_id }) => payment_id === payment.id)
    return {
      ...payment,
      paid_at: paid_at ?? '',
      invoice: invoice?.number ?? null,
      tier: invoice?.tier ?? null,
    }
  })
}

export type MoneyEvent = {
  at: Instant
  kind: 'payment' | 'refund' | 'dispute' | 'invoice'
  id: string
  payment_id: string | null
  amount_cents: number
  currency: string
  tier: string | null
  status: string | null
  detail: string | null
}

/**
 * Lists what happened to a user's money before an instant, newest first, at most `limit` of each
 * kind: payments of subscriptions, refunds, disputes, and invoices that are not paid.
 */
export async function listMoneyEvents(
  db: Db,
  userId: string,
  { before, limit }: { before: Instant; limit: number },
): Promise<MoneyEvent[][]> {
  const { rows: payments } = await sql<MoneyEvent>`
    select p.paid_at as at, 'payment' as kind, p.id, p.id as payment_id, p.amount_cents, p.currency,
      (select max(i.tier) from invoices i where i.payment_id = p.id) as tier,
      null as status, (select max(i.number) from invoices i where i.payment_id = p.id) as detail
    from payments p where p.user_id = ${userId} and p.kind = 'subscription' and p.paid_at < ${before}
    order by p.paid_at desc, p.id limit ${sql.lit(limit)}`.execute(db)
  const ofPayments = async (kind: 'refund' | 'dispute') => {
    const table = sql.ref(kind === 'refund' ? 'refunds' : 'disputes')
    const { rows } = await sql<MoneyEvent>`
      select m.created_at as at, ${sql.lit(kind)} as kind, m.id, p.id as payment_id, m.amount_cents,
        m.currency, p.tier, m.status, m.reason as detail
      from payments p join ${table} m on m.payment_id = p.id
      where p.user_id = ${userId} and m.created_at < ${before}
      order by m.created_at desc, m.id limit ${sql.lit(limit)}`.execute(db)
    return rows
  }
  const { rows: invoices } = await sql<MoneyEvent>`
    select created_at as at, 'invoice' as kind, id, payment_id, total_cents as amount_cents, currency,
      tier, status, number as detail
    from invoices where user_id = ${userId} and status in ('open', 'uncollectible') and created_at < ${before}
    order by created_at desc, id limit ${sql.lit(limit)}`.execute(db)
  return [payments, await ofPayments('refund'), await ofPayments('dispute'), invoices]
}
