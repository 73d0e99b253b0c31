/**
 * Deals: prices for one customer, created at the processor by the operator. No other user can check
 * them out.
 */
import './tables.ts'
import type { Selectable } from 'kysely'
import type { Interval, Tier } from '#catalogue/catalogue.ts'
import type { Db } from '#platform/db/db.ts'
import type { BillingDeps } from './deps.ts'
import { type Prices, rankTier } from './subscription-state.ts'
import type { DealsTable } from './tables.ts'

export type Deal = Selectable<DealsTable>

/** Returns the user's deals, the newest first. */
export function listDeals(db: Db, userId: string): Promise<Deal[]> {
  return db
    .selectFrom('deals')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('price_id')
    .execute()
}

export async function saveDeal(tx: Db, deal: Deal): Promise<void> {
  await tx
    .insertInto('deals')
    .values(deal)
    .onConflict((conflict) => conflict.column('price_id').doNothing())
    .execute()
}

export async function forgetDeals(tx: Db, userId: string): Promise<void> {
  await tx.deleteFrom('deals').where('user_id', '=', userId).execute()
}

/** Returns the prices of the catalogue and the user's deals, lower plans first. */
export async function readPrices(
  { config }: Pick<BillingDeps, 'config'>,
  db: Db,
  userId: string,
): Promise<Prices> {
  const deals = await listDeals(db, userId)
  return deals.length === 0 ? config.processor.prices : mergeDeals(config, deals)
}

function mergeDeals(config: BillingDeps['config'], deals: readonly Deal[]): Prices {
  const all: [string, { tier: Tier; interval: Interval }][] = [
    ...config.processor.prices,
    ...deals.map(
      ({ price_id, tier, interval }) => [price_id, { tier, interval }] as [string, Deal],
    ),
  ]
  return new Map(all.sort(([, a], [, b]) => rankTier(config, a.tier) - rankTier(config, b.tier)))
}

export async function listDealPrices(db: Db): Promise<Set<string>> {
  return new Set(
    (await db.selectFrom('deals').select('price_id').execute()).map(({ price_id }) => price_id),
  )
}
