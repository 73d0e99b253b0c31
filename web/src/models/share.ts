/** Formats a part of a whole: `1.5 %`; `–` of nothing. */
import { locale } from '../language/language.ts'

export function formatShare(part: number, whole: number): string {
  if (whole === 0) return '–'
  return `${((100 * part) / whole).toLocaleString(locale, { maximumFractionDigits: 1 })} %`
}
