import type { FastifyReply } from 'fastify'
import { LINK_MESSAGES } from '#brand/link-messages.ts'
import { LINKS } from '#brand/links.ts'
import type { LiveBrand } from '#brand/live.ts'
import type { Config } from '#config/config.ts'
import { PAGE_HEADERS } from '#platform/http/headers.ts'
import { type Html, html, page, raw } from '#platform/http/html.ts'
import { DEFAULT_LOCALE, LOCALES, type Messages } from '#platform/locale.ts'
import { getPageMessages, type PageMessages, readMessages } from '../messages/pages.ts'
import type { Listed, ProductList } from '../products/product-list.ts'
import type { StoreCaller } from '../sessions/sessions.ts'
import { assetUrl } from './assets.ts'
import { type LegalDeps, type LegalPage, listLegalPages } from './legal-pages.ts'
import { type Listing, listingTags } from './listing.ts'
import { notFoundPage } from './message-page.ts'
import { REVALIDATE, SharedContent } from './shared-reply.ts'

export type PageParts = {
  title: string
  body: Html
  /** Null: not signed in. */
  caller: StoreCaller | null
  /** Its texts; without them, the page is in English only. */
  messages?: PageMessages
  /** The navigation item to mark as current. */
  path?: string
  /** How search engines and social networks show the page. Without it they leave the page out. */
  listing?: Listing
  status?: number
  /** A script that the page works without. Pages without a listing have the shop's script. */
  script?: Parameters<typeof assetUrl>[0]
  /** Reloads the page after this many seconds. */
  refreshSeconds?: number
}

export type LayoutDeps = LegalDeps & Listed & { config: Config }

/**
 * Sends a page in the shop's layout. Its content security policy allows only the shop's own files.
 */
export async function sendPage(
  reply: FastifyReply,
  deps: LayoutDeps,
  parts: PageParts,
): Promise<FastifyReply> {
  reply.headers({ 'content-security-policy': policy(deps), 'referrer-policy': 'same-origin' })
  if (parts.refreshSeconds) reply.header('refresh', String(parts.refreshSeconds))
  const content = document(deps.config, parts, await listLegalPages(deps))
  if (parts.caller !== null || !parts.listing) return page(reply, content, parts.status)
  reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8')
  return new SharedContent(`<!doctype html>\n${content.markup}`).send(reply, REVALIDATE)
}

export function sendNotFound(
  reply: FastifyReply,
  deps: LayoutDeps,
  caller: StoreCaller | null,
): Promise<FastifyReply> {
  const messages = readMessages(reply.request, caller, deps.config.brand)
  const { title } = messages.notFound
  return sendPage(reply, deps, {
    title,
    body: notFoundPage(messages),
    caller,
    messages,
    status: 404,
  })
}

function document(config: Config, parts: PageParts, legalPages: readonly LegalPage[]): Html {
  const { title, listing, messages } = parts
  const script = parts.script ?? (listing ? null : 'storefront.js')
  return html`<html lang="${messages?.locale ?? DEFAULT_LOCALE}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ${config.brand.name}</title>
${listing ? listingTags(config, title, listing, (!listing.isEnglish && messages?.locale) || null) : html`<meta name="robots" content="noindex">`}
<link rel="icon" href="${config.brand.iconPath}">
<link rel="stylesheet" href="${assetUrl('storefront.css')}">
${config.brand.hasOwnLook && html`<link rel="stylesheet" href="/assets/brand.css?v=${config.brand.version}">`}
${script && html`<script src="${assetUrl(script)}" defer></script>`}
</head>
<body>${renderBody(config, parts, legalPages)}</body>
</html>`
}

/** Everything that a page shows: its header, content and footer. */
export function renderBody(
  config: Config,
  { body, caller, path, messages }: Pick<PageParts, 'body' | 'caller' | 'path' | 'messages'>,
  legalPages: readonly LegalPage[],
): Html {
  const { layout: text, locale } = messages ?? getPageMessages(DEFAULT_LOCALE)
  const link = (to: string, label: string) =>
    html`<a href="${to}"${to === path ? raw(' aria-current="page"') : ''}>${label}</a>`
  return html`
<a class="skip" href="#main">${text.skip}</a>
<header class="top"><div class="wrap">
<a class="brand" href="/">${logo(config.brand)}</a>
<nav aria-label="${text.main}">
${link('/pricing', text.pricing)}
${link('/models', text.models)}
${link('/docs', text.docs)}
${link('/contact', text.contact)}
${caller ? [link('/dashboard', text.purchases), html`<form method="post" action="/logout"><button class="linklike">${text.signOut}</button></form>`] : link('/login', text.signIn)}
</nav></div></header>
<main id="main">${body}</main>
<footer class="foot"><div class="wrap">
<span>${config.brand.legalName}</span>
<a href="/recover">${text.lostKey}</a>
<a href="/withdraw">${text.withdraw}</a>
<a href="/contact">${text.contact}</a>
${config.brand.findLink('status') === null && html`<a href="/status">${text.status}</a>`}
${legalPages.map(({ path, title }) => html`<a href="${path}">${title}</a>`)}
${LINKS.map((name) => {
  const url = config.brand.findLink(name)
  return url && html`<a href="${url}">${LINK_MESSAGES[locale][name]}</a>`
})}
<a href="${config.urls.frontend}">${text.account}</a>
${messages && languageSwitch(messages)}
</div></footer>
`
}

const LANGUAGE_NAMES: Messages<string> = { en: 'English', de: 'Deutsch' }

/** Switches to the other languages; the answer leads back to the page. */
function languageSwitch({ locale, layout }: PageMessages): Html {
  const others = LOCALES.filter((other) => other !== locale)
  return html`<form method="post" action="/language" aria-label="${layout.language}">${others.map((other) => html`<button class="linklike" name="lang" value="${other}" lang="${other}">${LANGUAGE_NAMES[other]}</button>`)}</form>`
}

/** The square alone is beside the name; a logo contains the name. */
function logo(brand: LiveBrand): Html {
  const [light, dark] = [brand.findImagePath('light'), brand.findImagePath('dark')]
  if (light === null || dark === null)
    return html`<img src="${brand.iconPath}" alt="" width="28" height="28">${brand.name}`
  return html`<picture><source srcset="${dark}" media="(prefers-color-scheme: dark)"><img src="${light}" alt="${brand.name}" height="28"></picture>`
}

/**
 * `form-action` also restricts the redirects after a submitted form. The login form redirects to
 * the hosted checkout, so its hosts are listed.
 */
function policy({ config, productList }: LayoutDeps): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${["'self'", ...imageOrigins(productList)].join(' ')}`,
    "connect-src 'self'",
    `form-action 'self' ${checkoutHosts(config)}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function imageOrigins({ sold }: ProductList): Set<string> {
  const urls = sold.flatMap(({ images, gallery }) => [...images, ...gallery.map(({ url }) => url)])
  return new Set(urls.map((url) => new URL(url).origin))
}

/**
 * Returns the hosts of the checkout pages. The processor may choose any https host. A stand-in or
 * the sandbox serves its pages from its API's origin or ours, possibly over plain http.
 */
function checkoutHosts({ urls, processor }: Config): string {
  if (processor.apiBase === null) return 'https:'
  const origins = [processor.apiBase, urls.base].map((url) => new URL(url).origin)
  return [...(processor.sandboxed ? [] : ['https:']), ...new Set(origins)].join(' ')
}
