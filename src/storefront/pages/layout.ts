import type { FastifyReply } from 'fastify'
import type { Config } from '#config/config.ts'
import type { Caller } from '#platform/http/access-control.ts'
import { type Html, html, page, raw } from '#platform/http/html.ts'
import { getBrand } from '../brand.ts'
import { assetUrl } from './assets.ts'

export type PageParts = {
  title: string
  body: Html
  /** The signed-in user; null without one. */
  caller: Caller | null
  /** The path of the page, to highlight it in the navigation. */
  path?: string
  status?: number
  /** Reloads the page after this many seconds. */
  refreshSeconds?: number
}

/** Sends a page with the shop's layout. Its policy only allows files of this origin. */
export function sendPage(reply: FastifyReply, config: Config, parts: PageParts): FastifyReply {
  reply.headers({ 'content-security-policy': policy(config), 'referrer-policy': 'same-origin' })
  if (parts.refreshSeconds) reply.header('refresh', String(parts.refreshSeconds))
  return page(reply, document(config, parts), parts.status)
}

function document(config: Config, { title, body, caller, path }: PageParts): Html {
  const brand = getBrand(config)
  const link = (to: string, label: string) =>
    html`<a href="${to}"${to === path ? raw(' aria-current="page"') : ''}>${label}</a>`
  return html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ${brand}</title>
<link rel="icon" href="${assetUrl('mark.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assetUrl('storefront.css')}">
<script src="${assetUrl('storefront.js')}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><div class="wrap">
<a class="brand" href="/"><img src="${assetUrl('mark.svg')}" alt="" width="28" height="28">${brand}</a>
<nav aria-label="Main">
${link('/pricing', 'Pricing')}
${link('/contact', 'Contact')}
${caller ? [link('/dashboard', 'Your purchases'), html`<form method="post" action="/logout"><button class="linklike">Sign out</button></form>`] : link('/login', 'Sign in')}
</nav></div></header>
<main id="main">${body}</main>
<footer class="foot"><div class="wrap">
<span>${brand}</span>
<a href="/recover">Lost your key?</a>
<a href="/contact">Contact</a>
<a href="${config.urls.frontend}">Your account</a>
</div></footer>
</body>
</html>`
}

/**
 * `form-action` also applies to redirects of a submitted form. After the login, that may be the
 * hosted checkout.
 */
function policy(config: Config): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${["'self'", ...imageOrigins(config)].join(' ')}`,
    "connect-src 'self'",
    `form-action 'self' ${checkoutHosts(config)}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function imageOrigins({ catalogue }: Config): Set<string> {
  return new Set(
    catalogue.products.flatMap(({ images }) => images.map((address) => new URL(address).origin)),
  )
}

/**
 * The payment processor's pages are on https hosts of its choice. Pages of a replacement are on the
 * host of its API, and pages of the sandbox on ours, possibly with http.
 */
function checkoutHosts({ urls, processor }: Config): string {
  if (processor.apiBase === null) return 'https:'
  const origins = [processor.apiBase, urls.base].map((url) => new URL(url).origin)
  return [...(processor.sandboxed ? [] : ['https:']), ...new Set(origins)].join(' ')
}
