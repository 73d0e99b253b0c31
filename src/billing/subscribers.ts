/** Counts subscribers by price, for the operator. */
import './tables.ts'
import type { Db } from '#platform/db/db.ts'

export type PriceSubscribers = { subscribers: number; trials: number }

/** Counts running subscriptions by the processor's price id. */
export async function countSubscribers(db: Db): Promise<ReadonlyMap<string, PriceSubscribers>> {
  const rows = await db
    .selectFrom('billing_accounts')
    .select((e) => ['price_id', 'processor_status', e.fn.countAll<number>().as('users')])
    .where('price_id', 'is not', null)
    .where('processor_status', 'in', ['active', 'trialing', 'past_due', 'unpaid', 'paused'])
    .groupBy(['price_id', 'processor_status'])
    .execute()
  const counts = new Map<string, PriceSubscribers>()
  for (const { price_id, processor_status, users } of rows) {
    const { subscribers, trials } = counts.get(price_id ?? '') ?? { subscribers: 0, trials: 0 }
    counts.set(price_id ?? '', {
      subscribers: subscribers + users,
      trials: trials + (processor_status === 'trialing' ? users : 0),
    })
  }
  return counts
}
