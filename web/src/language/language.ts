/** The language of the app, which the service writes into the page. */

/** The names of the languages in themselves. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof LANGUAGES

/** The service reads it too, for the shop and the first emails. */
const COOKIE = 'lang'
const YEAR_S = 365 * 24 * 3_600

const isBrowser = typeof document !== 'undefined'

export const language: Language = readLanguage()
/** For dates and numbers, with the region of the browser where it has the language. */
export const locale: string = readLocale()
/** Elsewhere in English, a dollar is written US$. */
export const dollarLocale: string = language === 'en' ? 'en-US' : locale

/** Loads the app in another language, and remembers it in this browser. */
export function switchLanguage(next: Language): void {
  const choice = `${COOKIE}=${next}`
  if (next === language || document.cookie.split('; ').includes(choice)) return
  // biome-ignore lint/suspicious/noDocumentCookie: the service reads it, and the newer API needs HTTPS.
  document.cookie = `${choice}; path=/; max-age=${YEAR_S}; samesite=lax`
  // Without cookies the page would load again forever.
  if (document.cookie.includes(choice)) location.reload()
}

function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && value in LANGUAGES
}

function readLanguage(): Language {
  const written = isBrowser ? document.documentElement.lang : ''
  return isLanguage(written) ? written : 'en'
}

function readLocale(): string {
  const tags = isBrowser ? navigator.languages : []
  // Some browsers on Linux add an encoding to a tag, which Intl rejects.
  return tags.find((tag) => tag.startsWith(language) && /^[\w-]+$/.test(tag)) ?? language
}
