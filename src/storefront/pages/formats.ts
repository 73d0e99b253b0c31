import type { CatalogueProduct } from '#catalogue/catalogue.ts'
import { type Html, html } from '#platform/http/html.ts'
import type { Locale, Messages } from '#platform/locale.ts'
import { formatMoney, inMinorUnits, inUnits } from '#platform/money.ts'
import type { PageMessages } from '../messages/pages.ts'

const TAGS: Messages<string> = { en: 'en-GB', de: 'de-DE' }

/** Renders `17 November 2025`, or `17. November 2025` in German, in UTC. */
export function day(instant: string, locale: Locale = 'en'): Html {
  return html`<time datetime="${instant}">${new Date(instant).toLocaleDateString(TAGS[locale], { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })}</time>`
}

/** Returns `1.5 MB`, or `1,5 MB` in German. */
export function bytes(count: number, locale: Locale): string {
  const units = ['B', 'KB', 'MB', 'GB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(count, 1)) / 3))
  const digits = power === 0 ? 0 : 1
  const amount = (count / 1000 ** power).toLocaleString(locale, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  return `${amount} ${units[power]}`
}

/** Returns `$49`, or `Free`. */
export function formatPrice(
  { free, price, currency }: CatalogueProduct,
  { pricing, locale }: PageMessages,
): string {
  return free === null ? formatMoney(price, currency, { short: true, locale }) : pricing.free
}

/** Returns what a bundle's products cost one by one; null when their currencies differ. */
export function formatAlone(
  members: readonly CatalogueProduct[],
  { locale }: PageMessages,
): string | null {
  const [first] = members
  if (!first || members.some(({ currency }) => currency !== first.currency)) return null
  const sum = members.reduce((cents, { price }) => cents + inMinorUnits(price, first.currency), 0)
  return formatMoney(inUnits(sum, first.currency), first.currency, { short: true, locale })
}

/** Returns the label of the button that leads to the product. */
export function labelBuying({ free, name }: CatalogueProduct, { pricing }: PageMessages): string {
  return free === null ? pricing.buy(name) : pricing.get(name)
}
