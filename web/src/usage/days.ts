import type { UsageGroup } from '../api/types.ts'

const DAY_MS = 86_400_000

/** Returns the last `n` UTC days as YYYY-MM-DD, oldest first, including today. */
export function listDays(now: Date, n: number): string[] {
  return Array.from({ length: n }, (_, i) =>
    new Date(now.getTime() - (n - 1 - i) * DAY_MS).toISOString().slice(0, 10),
  )
}

export type Span = { from: string; to: string }

/** Returns the first and the last of the last `days` UTC days, including today. */
export function readSpan(days: number): Span {
  const listed = listDays(new Date(), days)
  return { from: listed[0] ?? '', to: listed.at(-1) ?? '' }
}

/** Returns one entry per day. A chart without idle days would be misleading. */
export function fillDays(groups: UsageGroup[], days: string[]): UsageGroup[] {
  const byDay = new Map(groups.map((group) => [group.key, group]))
  return days.map(
    (key) =>
      byDay.get(key) ?? {
        key,
        requests: 0,
        prompt_tokens: 0,
        completion_tokens: 0,
        total_tokens: 0,
        cached_tokens: 0,
        cost_usd: 0,
      },
  )
}
