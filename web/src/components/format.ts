// Formats numbers, money, sizes and times in the app's language and the browser's time zone.

import { dollarLocale, locale } from '../language/language.ts'
import { t, translate } from '../language/text.ts'

const wholeFormat = new Intl.NumberFormat(locale)
const shortFormat = new Intl.NumberFormat(locale, {
  notation: 'compact',
  maximumFractionDigits: 1,
})
const relativeFormat = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })

export function formatCount(n: number): string {
  return wholeFormat.format(n)
}

export function formatCompact(n: number): string {
  return shortFormat.format(n)
}

export function formatMoney(amount: number, currency: string): string {
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits: Number.isInteger(amount) ? 0 : 2,
  }).format(amount)
}

/** US dollars. Sums below one dollar get four digits, because calls cost fractions of a cent. */
export function formatDollars(amount: number): string {
  const digits = amount !== 0 && Math.abs(amount) < 1 ? 4 : Number.isInteger(amount) ? 0 : 2
  return new Intl.NumberFormat(dollarLocale, {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: digits === 4 ? 2 : digits,
    maximumFractionDigits: digits,
  }).format(amount)
}

/** US dollars with four digits, so that a column of costs aligns. */
export function formatCallCost(amount: number): string {
  return new Intl.NumberFormat(dollarLocale, {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: 4,
    maximumFractionDigits: 4,
  }).format(amount)
}

const formatDecimal = (n: number, digits: number) =>
  n.toLocaleString(locale, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    useGrouping: false,
  })

/** `340 ms`, `1.2 s`, `2 min 5 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return t('{0} ms', Math.round(ms))
  if (ms < 60_000) return `${formatDecimal(ms / 1_000, 1)} s`
  const seconds = Math.round(ms / 1_000)
  return t('{0} min {1} s', Math.floor(seconds / 60), seconds % 60)
}

/** US dollars to the last digit. */
export function formatExactDollars(amount: number): string {
  return new Intl.NumberFormat(dollarLocale, {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: 2,
    maximumFractionDigits: 9,
  }).format(amount)
}

export function formatBytes(n: number): string {
  if (n < 1024) return `${n} B`
  const units = ['KB', 'MB', 'GB']
  const step = Math.min(units.length, Math.floor(Math.log2(n) / 10))
  return `${formatDecimal(n / 1024 ** step, step === 1 ? 0 : 1)} ${units[step - 1]}`
}

export function formatDay(iso: string): string {
  return new Date(iso).toLocaleDateString(locale, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
  })
}

/** To the second, to match log entries. */
export function formatExactTime(iso: string): string {
  return new Date(iso).toLocaleString(locale, {
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    second: '2-digit',
  })
}

export function formatTime(iso: string): string {
  return new Date(iso).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' })
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** `3 hours ago`, `in 2 days`, `now`. */
export function formatAge(iso: string, nowMs: number = Date.now()): string {
  const seconds = (Date.parse(iso) - nowMs) / 1000
  for (const [unit, size] of STEPS) {
    if (Math.abs(seconds) >= size) return relativeFormat.format(Math.round(seconds / size), unit)
  }
  return relativeFormat.format(0, 'second')
}

/** `1 chunk`, `2 chunks`. */
export function plural(n: number, one: string, many: string = `${one}s`): string {
  return `${formatCount(n)} ${translate(n === 1 ? one : many)}`
}

/** Budgets renew at midnight UTC. */
export function formatUtcDay(iso: string): string {
  return new Date(iso).toLocaleDateString(locale, {
    month: 'short',
    day: 'numeric',
    timeZone: 'UTC',
  })
}

/** `Nov 2026`, of the first day of a month. */
export function formatUtcMonth(iso: string): string {
  return new Date(iso).toLocaleDateString(locale, {
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  })
}
