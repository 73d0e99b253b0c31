// The layout of all pages of the sandbox. Pages use links and forms only, and run no scripts.

import type { FastifyReply } from 'fastify'
import { type Html, html } from '#platform/http/html.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import { STYLE } from './style.ts'

export type Place = 'home' | 'mail' | 'processor' | 'oauth' | 'model'

export type Page = {
  title: string
  place: Place
  main: Html
  /** Hosted pages (checkout, consent) have no navigation, like an external site. */
  hosted?: boolean
}

const PLACES: readonly { place: Place; name: string; href: string }[] = [
  { place: 'home', name: 'Overview', href: '/sandbox' },
  { place: 'mail', name: 'Mailbox', href: '/sandbox/mail' },
  { place: 'processor', name: 'Processor', href: '/sandbox/processor' },
  { place: 'oauth', name: 'Sign-in', href: '/sandbox/oauth' },
  { place: 'model', name: 'Models', href: '/sandbox/openai' },
]

// Without `form-action`, because it would block the redirect to the product after a payment.
const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; frame-src 'self'; frame-ancestors 'self'; base-uri 'none'"

export function show(reply: FastifyReply, page: Page, status = 200): FastifyReply {
  return reply
    .code(status)
    .header('content-security-policy', PAGE_POLICY)
    .header('cache-control', 'no-store')
    .header('referrer-policy', 'no-referrer')
    .type('text/html; charset=utf-8')
    .send(layout(page).toString())
}

export function showStyle(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-cache').type('text/css; charset=utf-8').send(STYLE)
}

function layout({ title, place, main, hosted }: Page): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Sandbox</title>
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%23b45309'/%3E%3Cpath d='M4 11h8M5 8h6M6 5h4' stroke='white' stroke-width='1.6' stroke-linecap='round'/%3E%3C/svg%3E">
<link rel="stylesheet" href="/sandbox/style.css">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<p class="banner"><strong>Sandbox</strong> – nothing here leaves this machine</p>
${hosted ? '' : navigation(place)}
</header>
<main id="main" class="${hosted ? 'hosted' : 'wide'}">
${main}
</main>
</body>
</html>`
}

function navigation(current: Place): Html {
  return html`<nav class="top" aria-label="Sandbox"><ul>
${PLACES.map(({ place, name, href }) => html`<li><a href="${href}"${place === current ? html` aria-current="page"` : ''}>${name}</a></li>`)}
</ul></nav>`
}

/** Renders an instant such as `2026-11-20T09:30:00.000Z` in readable form, with a `datetime`. */
export function time(at: string): Html {
  return html`<time datetime="${at}">${at.slice(0, 10)} ${at.slice(11, 16)} UTC</time>`
}

/** Minor units as money: 2900, 'usd' → $29.00 */
export function money(amount: number, currency: string): string {
  return formatMoney(inUnits(amount, currency), currency)
}

export function notFound(reply: FastifyReply, place: Place, what: string): FastifyReply {
  const main = html`<h1>Not here</h1><p>There is no ${what} at this address. <a href="/sandbox">Back to the overview</a></p>`
  return show(reply, { title: 'Not here', place, main }, 404)
}
