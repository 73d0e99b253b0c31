/** The page where a visitor gets a free product: at once with a session, or by a mailed link. */
import type { FastifyReply } from 'fastify'
import Format from 'typebox/format'
import type { CatalogueProduct } from '#catalogue/catalogue.ts'
import { type Html, html } from '#platform/http/html.ts'
import { Problem } from '#platform/problem.ts'
import { describeProblem, type PageMessages, readMessages } from '../messages/pages.ts'
import { type FreeDeps, requestFree } from '../purchases/free.ts'
import {
  type CookieDeps,
  findStoreCaller,
  SESSION_COOKIE,
  type StoreCaller,
} from '../sessions/sessions.ts'
import { type LayoutDeps, sendPage } from './layout.ts'

type Deps = FreeDeps & CookieDeps & LayoutDeps

const EMAIL_MAX = 254

/** Visitors without a session sign in first, unless the product is sent to any address. */
export async function showFreePage(
  deps: Deps,
  reply: FastifyReply,
  product: CatalogueProduct,
): Promise<FastifyReply> {
  const caller = await findCaller(deps, reply)
  const needsSession = product.free === 'account' || deps.config.signUp.invitedOnly
  if (caller === null && needsSession) return reply.redirect(buildSignIn(product), 302)
  return show(deps, reply, product, { caller, email: '', error: null })
}

export async function takeFree(
  deps: Deps,
  reply: FastifyReply,
  product: CatalogueProduct,
  email = '',
): Promise<FastifyReply> {
  const { request } = reply
  const caller = await findCaller(deps, reply)
  const messages = readMessages(request, caller, deps.config.brand)
  if (caller === null && product.free === 'account')
    return reply.redirect(buildSignIn(product), 303)
  if (caller === null && (email.length > EMAIL_MAX || !Format.Test('email', email))) {
    const error = messages.checkout.invalidEmail
    return show(deps, reply, product, { caller, email, error }, 400)
  }
  try {
    const visitor = { caller, email, address: request.ip, locale: messages.locale }
    return reply.redirect(await requestFree(deps, product, visitor), 303)
  } catch (error) {
    if (!(error instanceof Problem) || typeof error.detail !== 'string') throw error
    reply.headers(error.headers)
    const parts = { caller, email, error: describeProblem(messages, error) }
    return show(deps, reply, product, parts, error.status)
  }
}

const findCaller = (deps: Deps, { request }: FastifyReply) =>
  findStoreCaller(deps, request.cookies[SESSION_COOKIE])

const buildSignIn = ({ tier }: CatalogueProduct) =>
  `/login?redirect=${encodeURIComponent(`/checkout?tier=${tier}`)}`

type Parts = { caller: StoreCaller | null; email: string; error: string | null }

function show(
  deps: Deps,
  reply: FastifyReply,
  product: CatalogueProduct,
  parts: Parts,
  status = 200,
): Promise<FastifyReply> {
  const messages = readMessages(reply.request, parts.caller, deps.config.brand)
  const title = messages.pricing.get(product.name)
  const body = freePage(product, parts, messages)
  return sendPage(reply, deps, { title, body, caller: parts.caller, messages, status })
}

function freePage(
  product: CatalogueProduct,
  { caller, email, error }: Parts,
  messages: PageMessages,
): Html {
  const { free: text, checkout, pricing } = messages
  return html`<div class="narrow">
<h1>${pricing.get(product.name)}</h1>
<p class="lead">${caller ? text.forAccount(caller.email) : text.byEmail}</p>
${error && html`<div class="notice bad" role="alert"><p>${error}</p></div>`}
<form class="card" method="post" action="/checkout">
<input type="hidden" name="tier" value="${product.tier}">
${!caller && html`<div class="field"><label for="email">${messages.email}</label><input id="email" name="email" type="email" autocomplete="email" required maxlength="254" value="${email}"></div>`}
<button class="button wide">${caller ? pricing.get(product.name) : text.send}</button>
</form>
${!caller && html`<p class="under">${checkout.hasAccount} <a href="${buildSignIn(product)}">${checkout.signIn}</a>${text.toGet}</p>`}
</div>`
}
