// How many subscriptions there are, by plan and state, as a metric. Those who pay are counted anew every five minutes at most, by the
// index of their states, and never for a scrape that would wait for it.
import { type SubscriptionCount, subscriptionCounts } from '#identity/subscription.ts'
import type { Platform } from '#platform/platform.ts'
import { within } from '#platform/readiness.ts'

const FRESH_MS = 5 * 60_000
const COUNT_MS = 1_000

export function registerSubscriptionMetrics({
  db,
  metrics,
}: Pick<Platform, 'db' | 'metrics'>): void {
  let cached: { counts: SubscriptionCount[]; atMs: number } | null = null
  let counting: Promise<void> | null = null

  const count = () => {
    counting ??= subscriptionCounts(db)
      .then((counts) => {
        cached = { counts, atMs: performance.now() }
      })
      // What cannot be read is left out.
      .catch(() => {
        cached = null
      })
      .finally(() => {
        counting = null
      })
    return counting
  }
  metrics.readings(
    'latchkey_subscriptions',
    'Subscriptions by plan; every node tells all of them',
    async () => {
      if (cached === null || performance.now() - cached.atMs > FRESH_MS)
        await within(COUNT_MS, count(), undefined)
      return (cached?.counts ?? []).map(({ plan, status, count }) => ({
        labels: { plan, status },
        value: count,
      }))
    },
  )
}
