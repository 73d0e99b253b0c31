/**
 * The page of the user app: the built index.html with the brand of this moment, in the language of
 * the visitor.
 */
import { readFileSync } from 'node:fs'
import type { LiveBrand } from '#brand/live.ts'
import { buildPageBrand, type PageBrand } from '#brand/page-brand.ts'
import { escapeHtml } from '#platform/http/html.ts'
import type { Locale } from '#platform/locale.ts'

export class AppPage {
  readonly #template: string
  readonly #brand: LiveBrand
  #rendered = { version: '', pages: new Map<Locale, string>() }

  /** `path`: of the built index.html. */
  constructor(path: string, brand: LiveBrand) {
    this.#template = readFileSync(path, 'utf8')
    this.#brand = brand
  }

  /** `ownLinks`: of a brand that names none. */
  render(locale: Locale, ownLinks: PageBrand['links']): string {
    const version = `${this.#brand.version} ${JSON.stringify(ownLinks)}`
    if (this.#rendered.version !== version) this.#rendered = { version, pages: new Map() }
    const { pages } = this.#rendered
    const page =
      pages.get(locale) ?? fillTemplate(inLanguage(this.#template, locale), this.#brand, ownLinks)
    pages.set(locale, page)
    return page
  }
}

/** Texts of the page before the app starts, or without it. The English ones are in web/index.html. */
export const PAGE_TEXTS: Record<Locale, readonly [english: string, text: string][]> = {
  en: [],
  de: [
    ['Loading…', 'Wird geladen…'],
    [
      'Latchkey’s app runs in the browser and needs JavaScript.',
      'Die App von Latchkey läuft im Browser und braucht JavaScript.',
    ],
    [
      'One key to chat with several model vendors, answers from your own documents with their sources, and an API that OpenAI clients speak.',
      'Ein Schlüssel für Unterhaltungen mit mehreren Modellanbietern, für Antworten aus Ihren eigenen Dokumenten mit Quellen und für eine API, die OpenAI-Clients sprechen.',
    ],
  ],
}

/** Keeps the script with the texts of this language; the app has the English ones itself. */
function inLanguage(template: string, locale: Locale): string {
  return PAGE_TEXTS[locale]
    .reduce((page, [english, text]) => page.replace(english, text), template)
    .replace('<html lang="en">', `<html lang="${locale}">`)
    .replace(/[ \t]*<script defer data-language="(\w+)".*?<\/script>\n/g, (script, language) =>
      language === locale ? script : '',
    )
}

const BOOT_MARK = /(<div id="boot">\s*)<svg.*?<\/svg>/s
const DESCRIPTION = /(<meta\s+name="description"\s+content=")[^"]*/
/** Of the loading screen and the browser's bar, which are painted before any style sheet. */
const COLOURS = /#0d1412|#141b18|#9daca6|#a97b1c|#e3bb62/g

function fillTemplate(template: string, brand: LiveBrand, ownLinks: PageBrand['links']): string {
  const page = buildPageBrand(brand, ownLinks)
  const { tokens, highlight } = page.colours
  const colours: Record<string, string> = {
    '#0d1412': tokens.dark.bg,
    '#141b18': tokens.dark.panel,
    '#9daca6': tokens.dark.text2,
    '#a97b1c': highlight.light,
    '#e3bb62': highlight.dark,
  }
  const icon = escapeHtml(brand.iconPath)
  // Functions, because a `$` in a replacement's text would refer to the match.
  return template
    .replaceAll(COLOURS, (colour) => colours[colour] ?? colour)
    .replace(BOOT_MARK, (mark, before) =>
      page.mark === null ? mark : `${before}<img src="${icon}" width="44" height="44" alt="">`,
    )
    .replace(DESCRIPTION, (description, before) =>
      page.tagline === null ? description : before + escapeHtml(page.tagline),
    )
    .replace('"/brand/square"', () => `"${icon}"`)
    .replaceAll('Latchkey', () => escapeHtml(brand.name))
    .replace('{{brand}}', () => escapeHtml(JSON.stringify(page)))
}
