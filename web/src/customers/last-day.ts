import { locale } from '../language/language.ts'

/** Formats the day of an end such as `2026-11-30T23:59:59Z`, which is the next day east of UTC. */
export function formatLastDay(iso: string): string {
  return new Date(iso).toLocaleDateString(locale, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    timeZone: 'UTC',
  })
}
