/**
 * The languages of emails and pages. Each room has one table of messages per language; the English
 * table is the source of the type, so a missing message in another table is a type error.
 */
export const LOCALES = ['en', 'de'] as const
export type Locale = (typeof LOCALES)[number]

/** The language of a brand that names none. */
export const DEFAULT_LOCALE: Locale = 'en'

/** The same messages in every language. */
export type Messages<T> = Record<Locale, T>

export const isLocale = (value: unknown): value is Locale => LOCALES.some((one) => one === value)

/**
 * Returns the preferred language of an Accept-Language header (RFC 9110, section 12.5.4); null when
 * it names no supported language.
 */
export function parseAcceptLanguage(header: string | undefined): Locale | null {
  const ranges = (header ?? '')
    .slice(0, 500)
    .split(',')
    .map((part) => {
      const [range = '', ...parameters] = part.trim().toLowerCase().split(';')
      const quality = parameters.map((text) => /^\s*q=([\d.]+)$/.exec(text)?.[1]).find(Boolean)
      return { language: range.split('-')[0], quality: quality === undefined ? 1 : Number(quality) }
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
  for (const { language } of ranges) if (isLocale(language)) return language
  return null
}

/** Returns `2026-12-24`, or `24.12.2026` in German; an empty text for no date. */
export function formatDate(at: string | null, locale: Locale): string {
  const day = at?.slice(0, 10) ?? ''
  return locale === 'de' ? day.split('-').toReversed().join('.') : day
}

/** Returns `2026-11-20 09:30 UTC`, or `20.11.2026, 09:30 Uhr (UTC)` in German. */
export function formatDateTime(at: string, locale: Locale): string {
  const time = at.slice(11, 16)
  const date = formatDate(at, locale)
  return locale === 'de' ? `${date}, ${time} Uhr (UTC)` : `${date} ${time} UTC`
}
