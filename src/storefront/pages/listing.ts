/** How search engines and social networks show a page: its description, address, picture and data. */
import type { Config } from '#config/config.ts'
import { type Html, html, raw } from '#platform/http/html.ts'
import { LOCALES, type Locale } from '#platform/locale.ts'
import { assetUrl } from './assets.ts'

export type Listing = {
  /** The page's one address, without a query. */
  path: string
  /** One or two sentences of plain text. */
  description: string
  /** The URL of a picture; without it, the shop's own. */
  image?: string | undefined
  /** Objects of schema.org. */
  data?: readonly StructuredData[]
  /** The path of the page's Atom feed; its JSON feed is beside it. */
  feed?: string
  /** Its texts are in English, whatever the language around them. */
  isEnglish?: boolean
}

export type StructuredData = { '@type': string; [property: string]: unknown }

/** Search engines cut longer descriptions. */
const DESCRIPTION_LENGTH_MAX = 160
const SOCIAL_IMAGE = { width: 1200, height: 630 }

/** `locale`: null for a page in one language. */
export function listingTags(
  config: Config,
  title: string,
  listing: Listing,
  locale: Locale | null,
): Html {
  const { path, image, data = [], feed } = listing
  const plain = config.urls.storefront + path
  const url = locale ? addLanguage(plain, locale, config.brand) : plain
  const description = shorten(listing.description)
  const property = (name: string, content: string) =>
    html`<meta property="og:${name}" content="${content}">\n`
  return html`<link rel="canonical" href="${url}">
${locale && alternates(plain, config.brand)}<meta name="description" content="${description}">
${property('type', 'website')}${property('site_name', config.brand.name)}${property('title', title)}${property('description', description)}${property('url', url)}${pictureTags(config, image)}
${
  feed !== undefined &&
  html`<link rel="alternate" type="application/atom+xml" href="${feed}.xml">
<link rel="alternate" type="application/feed+json" href="${feed}.json">`
}
${data.map(structuredData)}`
}

/** The addresses of the page in each language, for search engines. */
function alternates(url: string, brand: Config['brand']): Html {
  return html`${LOCALES.map((locale) => html`<link rel="alternate" hreflang="${locale}" href="${addLanguage(url, locale, brand)}">\n`)}<link rel="alternate" hreflang="x-default" href="${url}">
`
}

/** The brand's language has the plain address. */
function addLanguage(url: string, locale: Locale, { language }: Config['brand']): string {
  if (locale === language) return url
  return `${url}${url.includes('?') ? '&' : '?'}lang=${locale}`
}

function pictureTags(config: Config, own: string | undefined): Html {
  const url = own ?? socialImageUrl(config)
  if (url === null) return html`<meta name="twitter:card" content="summary">`
  const { width, height } = SOCIAL_IMAGE
  return html`<meta property="og:image" content="${url}">
${
  own === undefined &&
  html`<meta property="og:image:width" content="${width}">
<meta property="og:image:height" content="${height}">
`
}<meta name="twitter:card" content="summary_large_image">`
}

/** Null for a brand without a picture: the built-in one shows the key of the built-in brand. */
export function socialImageUrl({ brand, urls }: Pick<Config, 'brand' | 'urls'>): string | null {
  const path = brand.findImagePath('social') ?? (brand.hasKeyMark ? assetUrl('social.png') : null)
  return path && urls.storefront + path
}

/** A browser never runs this element, so the content security policy does not concern it. */
function structuredData(data: StructuredData): Html {
  const text = JSON.stringify({ '@context': 'https://schema.org', ...data })
  return html`<script type="application/ld+json">${raw(text.replaceAll('<', '\\u003c'))}</script>\n`
}

/** Cuts a text at a word. */
export function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  if (line.length <= DESCRIPTION_LENGTH_MAX) return line
  const cut = line.slice(0, DESCRIPTION_LENGTH_MAX)
  return `${cut.slice(0, Math.max(cut.lastIndexOf(' '), DESCRIPTION_LENGTH_MAX / 2))}…`
}
