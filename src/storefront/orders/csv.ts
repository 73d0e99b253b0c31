/** Purchases as CSV (RFC 4180). */
import { inUnits, minorDigits } from '#platform/money.ts'
import type { OrderView } from './order-schemas.ts'
import { type OrderDeps, type OrderFilter, readOrders } from './orders.ts'

const PAGE = 500

const COLUMNS: Record<string, (order: OrderView) => string | number | null> = {
  order: ({ id }) => id,
  date: ({ created_at }) => created_at,
  email: ({ email }) => email,
  product: ({ tier }) => tier,
  status: ({ status }) => status,
  amount: ({ amount_cents, currency }) => formatUnits(amount_cents, currency),
  tax: ({ tax_cents, currency }) => formatUnits(tax_cents, currency),
  refunded: ({ refunded_cents, currency }) => formatUnits(refunded_cents, currency),
  currency: ({ currency }) => currency.toUpperCase(),
  fee: ({ fee_cents, fee_currency }) =>
    fee_cents === null || fee_currency === null ? null : formatUnits(fee_cents, fee_currency),
  fee_currency: ({ fee_currency }) => fee_currency?.toUpperCase() ?? null,
  payment: ({ payment_ref }) => payment_ref,
  upgraded_from: ({ from_id }) => from_id,
  downloads: ({ download_count }) => download_count,
  updates_until: ({ entitled_until }) => entitled_until,
}

/** Yields the file in parts. */
export async function* exportOrders(deps: OrderDeps, filter: OrderFilter): AsyncGenerator<string> {
  yield formatLine(Object.keys(COLUMNS))
  for await (const orders of readOrders(deps, filter, PAGE)) {
    yield orders
      .map((order) => formatLine(Object.values(COLUMNS).map((read) => read(order))))
      .join('')
  }
}

export function formatLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(formatCell).join(',')}\r\n`
}

/** A spreadsheet would run a text that begins like a formula. */
function formatCell(cell: string | number | null): string {
  const text =
    typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const formatUnits = (cents: number, currency: string) =>
  inUnits(cents, currency).toFixed(minorDigits(currency))
