/** Returns the heading of a day in a list: `Today`, `Yesterday`, `Last 7 days`, `March 2026`. */

import { locale } from '../language/language.ts'
import { t } from '../language/text.ts'

export function describeDay(iso: string, now: Date = new Date()): string {
  const day = startOfDay(new Date(iso))
  const days = Math.round((startOfDay(now).getTime() - day.getTime()) / 86_400_000)
  if (days <= 0) return t('Today')
  if (days === 1) return t('Yesterday')
  if (days < 7) return t('Last 7 days')
  if (days < 30) return t('Last 30 days')
  return day.toLocaleDateString(locale, {
    month: 'long',
    ...(day.getFullYear() !== now.getFullYear() && { year: 'numeric' }),
  })
}

function startOfDay(date: Date): Date {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate())
}

/** Groups a list that is sorted, and keeps its order. Pinned conversations come first. */
export function groupByDay<T extends { pinned_at: string | null; updated_at: string }>(
  list: T[],
  now: Date = new Date(),
): { title: string; items: T[] }[] {
  const groups = Map.groupBy(list, (one) =>
    one.pinned_at === null ? describeDay(one.updated_at, now) : t('Pinned'),
  )
  return [...groups].map(([title, items]) => ({ title, items }))
}
