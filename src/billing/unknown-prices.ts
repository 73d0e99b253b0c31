/** Prices with subscribers that belong to no plan: our own old prices, or foreign products. */
import './tables.ts'
import type { Db } from '#platform/db/db.ts'
import { listDealPrices } from './deals.ts'
import type { Prices } from './subscription-state.ts'

export async function findUnknownPrices(
  db: Db,
  prices: Prices,
): Promise<{ priceId: string; users: number }[]> {
  const rows = await db
    .selectFrom('billing_accounts')
    .select((e) => ['price_id', e.fn.countAll<number>().as('users')])
    .where('price_id', 'is not', null)
    .where('processor_status', 'in', ['active', 'trialing', 'past_due', 'unpaid', 'paused'])
    .groupBy('price_id')
    .execute()
  const deals = await listDealPrices(db)
  return rows.flatMap(({ price_id: priceId, users }) =>
    priceId === null || prices.has(priceId) || deals.has(priceId) ? [] : [{ priceId, users }],
  )
}
