/**
 * Payments, refunds, lost disputes and fees as CSV (RFC 4180) for the accountant, in units of their
 * currency. Money that leaves the seller is negative.
 */
import { listMovements } from '#billing/money/revenue.ts'
import { findEmails } from '#identity/admin/administration.ts'
import type { Instant } from '#platform/clock.ts'
import { inUnits } from '#platform/money.ts'
import type { Platform } from '#platform/platform.ts'
import type { ProductList } from '../products/product-list.ts'
import { formatLine } from './csv.ts'

type Span = { from: Instant; before: Instant }
type ExportDeps = Pick<Platform, 'config' | 'db'> & { productList: ProductList }

const HEAD = 'date,type,id,payment,invoice,customer,sold,currency,amount,tax,net'.split(',')

/** Yields the file in parts, one for each month, the oldest first. */
export async function* exportMovements(
  { db, config, productList }: ExportDeps,
  span: Span,
): AsyncGenerator<string> {
  yield formatLine(HEAD)
  for (const month of splitMonths(span)) {
    const movements = await listMovements(db, month)
    const userIds = movements.flatMap(({ user_id }) => user_id ?? [])
    const emails = await findEmails(db, [...new Set(userIds)])
    for (const { at, type, id, payment_id, invoice, user_id, kind, tier, ...money } of movements) {
      const sold =
        kind === 'purchase' ? productList.getName(tier ?? '') : `Plan ${namePlan(config, tier)}`
      const { currency, amount_cents, tax_cents } = money
      const amounts = [amount_cents, tax_cents, amount_cents - tax_cents]
      yield formatLine([
        at,
        type,
        id,
        payment_id,
        invoice,
        emails.get(user_id ?? '') ?? '',
        sold,
        currency,
        ...amounts.map((cents) => inUnits(cents, currency)),
      ])
    }
  }
}

function splitMonths({ from, before }: Span): Span[] {
  const months: Span[] = []
  for (let start = from; start < before; ) {
    const at = new Date(start)
    const next = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1)).toISOString()
    months.push({ from: start, before: next < before ? next : before })
    start = next
  }
  return months
}

const namePlan = (config: Platform['config'], tier: string | null): string =>
  config.catalogue.plans.find((plan) => plan.tier === tier)?.name ?? tier ?? 'unknown'
