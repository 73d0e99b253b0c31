// Metric of subscriptions by plan and state. Recounted at most every five minutes, by the index of
// states; a scrape never waits more than a second for it.
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
      // Omits the metric when it cannot be read.
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
    'Subscriptions by plan; every node reports the total',
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
