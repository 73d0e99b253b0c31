import type { IncomingHttpHeaders } from 'node:http'
import { isLocale, type Locale, parseAcceptLanguage } from '../locale.ts'

/** Holds the language that a visitor chose. */
export const LANGUAGE_COOKIE = 'lang'

type Visitor = {
  headers: IncomingHttpHeaders
  /** The API parses no cookies. */
  cookies?: Record<string, string | undefined>
}

/** Returns the language of a visitor: chosen here, or their browser's; null when neither is known. */
export function readLocale({ cookies, headers }: Visitor): Locale | null {
  const chosen = cookies?.[LANGUAGE_COOKIE]
  return isLocale(chosen) ? chosen : parseAcceptLanguage(headers['accept-language'])
}
