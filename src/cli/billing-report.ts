/**
 * Reports a month's revenue, refunds, fees and model costs, by plan and product, and for the
 * customers with the highest model cost. Days are UTC. The margin exists in dollars only, because
 * models are priced in dollars.
 */
import { countCancellationReasons } from '#billing/cancellations.ts'
import {
  type CustomerRevenue,
  type PlanRevenue,
  type Revenue,
  sumRevenueByCustomer,
  sumRevenueByPlan,
} from '#billing/money/revenue.ts'
import type { Config } from '#config/config.ts'
import { findEmails } from '#identity/admin/administration.ts'
import type { Db } from '#platform/db/db.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import { exportMovements } from '#storefront/orders/movement-csv.ts'
import { ProductList } from '#storefront/products/product-list.ts'
import { readArchivedCost, sumAllUsage, sumUsersUsage } from '#usage/operator-sums.ts'

const TOP_CUSTOMERS = 10
const GROUPS_MAX = 1_000_000
const NANOS = 1e9

/** Returns the days of a month such as `2026-09`, or null for other texts. */
export function parseMonth(
  text: string | undefined,
): { from: string; before: string; days: { from: string; to: string } } | null {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(text ?? '')) return null
  const [year = 0, month = 0] = (text ?? '').split('-').map(Number)
  const [from, before] = [Date.UTC(year, month - 1, 1), Date.UTC(year, month, 1)].map((ms) =>
    new Date(ms).toISOString(),
  )
  const lastDay = new Date(Date.UTC(year, month, 0)).toISOString()
  return {
    from: from ?? '',
    before: before ?? '',
    days: { from: `${text}-01`, to: lastDay.slice(0, 10) },
  }
}

type ReportDeps = { db: Db; config: Config; print: (line?: string) => void }

export async function printReport({ db, config, print }: ReportDeps, month: string): Promise<void> {
  const span = parseMonth(month)
  if (!span) throw new Error(`--month needs a month such as 2026-09, not '${month}'`)
  const [sold, customers, planCosts, userCosts, deletedNanos] = [
    await sumRevenueByPlan(db, span),
    await sumRevenueByCustomer(db, span),
    await sumAllUsage(db, span.days, 'plan', GROUPS_MAX),
    await sumUsersUsage(db, span.days, null, TOP_CUSTOMERS),
    await readArchivedCost(db, month),
  ]
  const productList = await ProductList.read({ db, config })
  print(`${month}, by plan and product`)
  const costs = new Map(planCosts.map(({ key, cost_nanos }) => [key, cost_nanos]))
  printTable(
    print,
    ['', 'customers', ...MONEY_HEADS],
    byPlan({ config, productList }, sold, costs, deletedNanos),
  )
  print()
  print(`The ${TOP_CUSTOMERS} customers with the highest model cost`)
  const emails = await findEmails(
    db,
    userCosts.map(({ key }) => key),
  )
  const rows = userCosts.flatMap(({ key, cost_nanos }) => {
    const own = customers.filter(({ user_id }) => user_id === key)
    return inCurrencies(own, cost_nanos).map((cells) => [emails.get(key) ?? key, ...cells])
  })
  printTable(print, ['', ...MONEY_HEADS], rows)
  const reasons = await countCancellationReasons(db, span.from, span.before)
  if (reasons.length === 0) return
  print()
  print('Why subscriptions were cancelled')
  printTable(
    print,
    ['', 'subscriptions'],
    reasons.map(({ feedback, count }) => [
      feedback?.replaceAll('_', ' ') ?? 'no reason given',
      String(count),
    ]),
  )
}

/** Prints each payment, refund, lost dispute and fee of a month as CSV. */
export async function printMovements(
  { db, config, print }: ReportDeps,
  month: string,
): Promise<void> {
  const span = parseMonth(month)
  if (!span) throw new Error(`--month needs a month such as 2026-09, not '${month}'`)
  const productList = await ProductList.read({ db, config })
  for await (const line of exportMovements({ db, config, productList }, span)) print(line.trimEnd())
}

const MONEY_HEADS = ['revenue', 'refunds', 'lost disputes', 'tax', 'fees', 'model cost', 'margin']

function byPlan(
  { config, productList }: { config: Config; productList: ProductList },
  sold: PlanRevenue[],
  costs: Map<string, number>,
  deletedNanos: number,
): string[][] {
  const rows: string[][] = []
  const isPlan = ({ kind }: PlanRevenue) => kind === 'subscription'
  const tiers = new Set([...sold.filter(isPlan).map(({ tier }) => tier ?? ''), ...costs.keys()])
  for (const tier of tiers) {
    const own = sold.filter((row) => isPlan(row) && (row.tier ?? '') === tier)
    const name =
      tier === ''
        ? 'Unknown plan'
        : (config.catalogue.plans.find((plan) => plan.tier === tier)?.name ?? tier)
    const counted = own.reduce((sum, { customers }) => sum + customers, 0)
    for (const cells of inCurrencies(own, costs.get(tier) ?? 0))
      rows.push([`Plan ${name}`, String(counted), ...cells])
  }
  for (const row of sold.filter((one) => !isPlan(one))) {
    for (const cells of inCurrencies([row], null)) {
      rows.push([`Product ${productList.getName(row.tier ?? '')}`, String(row.customers), ...cells])
    }
  }
  if (deletedNanos > 0)
    rows.push([
      'Deleted users',
      '',
      '',
      '',
      '',
      '',
      '',
      usd(deletedNanos / NANOS),
      usd(-deletedNanos / NANOS),
    ])
  const all = [...costs.values()].reduce((sum, nanos) => sum + nanos, deletedNanos)
  for (const cells of inCurrencies(sold, all)) rows.push(['All', '', ...cells])
  return rows
}

/**
 * Returns a row for each currency. Dollars are always included, because calls cost dollars.
 * `costNanos` is null for products, which call no models.
 */
function inCurrencies(
  revenues: readonly (Revenue | CustomerRevenue)[],
  costNanos: number | null,
): string[][] {
  const currencies = new Set([
    ...(costNanos === null ? [] : ['usd']),
    ...revenues.map(({ currency }) => currency),
  ])
  return [...currencies].map((currency) => {
    const own = revenues.filter((one) => one.currency === currency)
    const sum = (of: (one: Revenue) => number) => own.reduce((total, one) => total + of(one), 0)
    const [paid, refunded, lost, tax, fees] = [
      sum((one) => one.paid_cents),
      sum((one) => one.refunded_cents),
      sum((one) => one.lost_cents),
      sum((one) => one.tax_cents),
      sum((one) => one.fee_cents),
    ]
    const show = (cents: number) => formatMoney(inUnits(cents, currency), currency)
    const cost = currency === 'usd' && costNanos !== null ? costNanos / NANOS : 0
    return [
      show(paid),
      show(refunded),
      show(lost),
      show(tax),
      show(fees),
      costNanos === null || currency !== 'usd' ? '' : usd(cost),
      currency === 'usd' ? usd(inUnits(paid - refunded - lost - fees, currency) - cost) : '',
    ]
  })
}

const usd = (amount: number) => formatMoney(amount, 'usd')

function printTable(print: (line?: string) => void, head: string[], rows: string[][]): void {
  if (rows.length === 0) {
    print('  none')
    return
  }
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  for (const row of [head, ...rows]) {
    const cells = widths.map((width, column) =>
      column === 0 ? (row[0] ?? '').padEnd(width) : (row[column] ?? '').padStart(width),
    )
    print(`  ${cells.join('  ')}`.trimEnd())
  }
}
