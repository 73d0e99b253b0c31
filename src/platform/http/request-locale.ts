import type { IncomingHttpHeaders } from 'node:http'
import { isLocale, type Locale, parseAcceptLanguage } from '../locale.ts'

/** Holds the language that a visitor chose. */
export const LANGUAGE_COOKIE = 'lang'

/** Of the header, because the API parses no cookies. */
const CHOSEN = new RegExp(`(?:^|;\\s*)${LANGUAGE_COOKIE}=(\\w+)`)

/** Returns the language of a visitor: chosen here, or their browser's; null when neither is known. */
export function readLocale({ headers }: { headers: IncomingHttpHeaders }): Locale | null {
  const chosen = CHOSEN.exec(headers.cookie ?? '')?.[1]
  return isLocale(chosen) ? chosen : parseAcceptLanguage(headers['accept-language'])
}
