/** The pages of buyers without an account: checkout, the way back from it, and the claim. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import Format from 'typebox/format'
import { withTimeout } from '#billing/processor.ts'
import type { CatalogueProduct } from '#catalogue/catalogue.ts'
import type { App } from '#platform/http/app.ts'
import type { Html } from '#platform/http/html.ts'
import { Problem } from '#platform/problem.ts'
import { type ClaimDeps, claimPurchase, readClaim } from '../claims/claims.ts'
import { describeProblem, type PageMessages, readMessages } from '../messages/pages.ts'
import { type GuestDeps, openGuestCheckout } from '../payments/guest-checkout.ts'
import { type CheckoutState, confirmGuestCheckout } from '../payments/payments.ts'
import { storefrontProblem } from '../problems.ts'
import { setSessionCookie } from '../sessions/cookie.ts'
import {
  findStoreCaller,
  openSession,
  SESSION_COOKIE,
  type SessionDeps,
  type StoreCaller,
} from '../sessions/sessions.ts'
import { onPageError } from './errors.ts'
import { showFreePage, takeFree } from './free-checkout.ts'
import {
  buildSignIn,
  claimPage,
  type GuestSale,
  guestCheckoutPage,
  purchasedPage,
} from './guest-page.ts'
import { sendPage } from './layout.ts'
import { messagePage } from './message-page.ts'

const ANYONE = { config: { access: 'anyone' as const } }
const COUNTED = { config: { access: 'anyone' as const, limit: 'general' as const } }
const EMAIL_MAX = 254
const REFRESH_SECONDS = 5

type Deps = GuestDeps & ClaimDeps & SessionDeps
type Fields = Partial<Record<'tier' | 'email' | 'code' | 'waiver' | 'token', string>>

export function guestPages(app: App, deps: Deps): void {
  checkoutPages(app, deps)
  claimPages(app, deps)
}

const findCaller = (deps: Deps, request: FastifyRequest) =>
  findStoreCaller(deps, request.cookies[SESSION_COOKIE])

function checkoutPages(app: App, deps: Deps): void {
  const { config } = deps
  const errorHandler = onPageError(deps)
  const show = (reply: FastifyReply, sale: GuestSale, status = 200) =>
    sendPage(reply, deps, {
      title: sale.messages.checkout.title,
      messages: sale.messages,
      body: guestCheckoutPage(sale),
      caller: null,
      status,
    })

  app.get('/checkout', { ...ANYONE, errorHandler }, async (request, reply) => {
    const fields = readFields(request.query)
    const product = requireProduct(deps, fields)
    if (product.free !== null) return showFreePage(deps, reply, product)
    // A signed-in buyer has the purchase in their account.
    if (await findCaller(deps, request)) return reply.redirect(buildAddress(fields), 302)
    if (config.signUp.invitedOnly)
      return reply.redirect(`/login?redirect=${encodeURIComponent(buildAddress(fields))}`, 302)
    return show(
      reply,
      buildSale(deps, product, fields, {
        error: null,
        messages: readMessages(request, null, deps.config.brand),
      }),
    )
  })

  app.post('/checkout', { ...COUNTED, errorHandler }, async (request, reply) => {
    const fields = readFields(request.body)
    const product = requireProduct(deps, fields)
    if (product.free !== null) return takeFree(deps, reply, product, fields.email)
    const messages = readMessages(request, null, deps.config.brand)
    const again = (error: string, status: number) =>
      show(reply, buildSale(deps, product, fields, { error, messages }), status)
    const { email = '', code, waiver } = fields
    if (email.length > EMAIL_MAX || !Format.Test('email', email))
      return again(messages.checkout.invalidEmail, 400)
    try {
      const form = { email, code: code || undefined, waiver: waiver || undefined }
      const visitor = { address: request.ip, locale: messages.locale }
      return reply.redirect(await openGuestCheckout(deps, product, form, visitor), 303)
    } catch (error) {
      if (!(error instanceof Problem) || typeof error.detail !== 'string') throw error
      reply.headers(error.headers)
      return again(describeProblem(messages, error), error.status)
    }
  })

  app.get('/checkout/sent', ANYONE, async (request, reply) => {
    const caller = await findCaller(deps, request)
    const messages = readMessages(request, caller, deps.config.brand)
    const { sent, sentText } = messages.free
    const body = messagePage(sent, sentText, { to: '/', label: messages.notFound.back })
    return sendPage(reply, deps, { title: sent, body, caller, messages })
  })

  app.get('/purchased', COUNTED, async (request, reply) => {
    const id = (request.query as { session_id?: unknown }).session_id
    const state = typeof id === 'string' ? await confirm(deps, request, id) : 'unknown'
    const caller = await findCaller(deps, request)
    const messages = readMessages(request, caller, deps.config.brand)
    return sendPage(reply, deps, {
      title: messages.order.title,
      body: purchasedPage(state, messages),
      caller,
      messages,
      ...(state === 'pending' ? { refreshSeconds: REFRESH_SECONDS } : {}),
    })
  })
}

/** The page does not wait long for the processor; it reloads itself. */
const CONFIRM_MS = 3_000

function confirm(deps: Deps, request: FastifyRequest, id: string): Promise<CheckoutState> {
  return withTimeout(confirmGuestCheckout(deps, id), CONFIRM_MS).catch((error) => {
    request.log.warn({ err: error, reqId: request.id }, 'a checkout could not be confirmed yet')
    return 'pending' as const
  })
}

function claimPages(app: App, deps: Deps): void {
  const { config } = deps
  const show = (
    reply: FastifyReply,
    caller: StoreCaller | null,
    render: (messages: PageMessages) => Html,
    status = 200,
  ): Promise<FastifyReply> => {
    const messages = readMessages(reply.request, caller, deps.config.brand)
    const { title } = messages.claim
    return sendPage(reply, deps, { title, body: render(messages), caller, messages, status })
  }

  // Mail scanners open links, so only the button spends the token.
  app.get('/claim', COUNTED, async (request, reply) => {
    const { token = '' } = readFields(request.query)
    const caller = await findCaller(deps, request)
    reply.headers({ 'cache-control': 'no-store' })
    try {
      const parts = { token, caller, ...(await readClaim(deps, token)) }
      return await show(reply, caller, (messages) => claimPage({ ...parts, messages }))
    } catch (error) {
      return showRefusal(error, reply, caller)
    }
  })

  app.post('/claim', COUNTED, async (request, reply) => {
    const { token = '' } = readFields(request.body)
    const caller = await findCaller(deps, request)
    try {
      const { user, isSignIn } = await claimPurchase(deps, token, caller?.userId ?? null)
      if (isSignIn) {
        const origin = deps.deviceCookie.originOf(request)
        setSessionCookie(reply, config, await openSession(deps, user, origin, 'claim'))
        deps.deviceCookie.keep(reply, origin)
      }
      return reply.redirect('/dashboard', 303)
    } catch (error) {
      if (storefrontProblem.is(error, 'claim_needs_sign_in'))
        return reply.redirect(buildSignIn(token), 303)
      return showRefusal(error, reply, caller)
    }
  })

  function showRefusal(error: unknown, reply: FastifyReply, caller: StoreCaller | null) {
    if (!storefrontProblem.is(error, 'claim_link_invalid', 'claim_of_another_account')) throw error
    const isExpired = error.code === 'claim_link_invalid'
    const render = ({ claim: text }: PageMessages) =>
      isExpired
        ? messagePage(text.expired, text.expiredText, { to: '/recover', label: text.newLink })
        : messagePage(text.other, text.otherText, { to: '/dashboard', label: text.toPurchases })
    return show(reply, caller, render, error.status)
  }
}

/** @throws Problem 400 `tier_invalid` */
function requireProduct({ productList }: Deps, { tier = '' }: Fields): CatalogueProduct {
  const product = productList.findSold(tier)
  if (!product) throw storefrontProblem('tier_invalid')
  return product
}

function buildSale(
  { config }: Deps,
  product: CatalogueProduct,
  { email = '', code = '', waiver = '' }: Fields,
  { error, messages }: Pick<GuestSale, 'error' | 'messages'>,
): GuestSale {
  return {
    product,
    email,
    code,
    isWaived: waiver !== '',
    // The payment page asks for the same consent.
    hasWaiver: config.processor.tax.by !== 'stripe',
    signIn: `/login?redirect=${encodeURIComponent(buildAddress({ tier: product.tier, code, waiver }))}`,
    error,
    messages,
  }
}

/** The address of the checkout for a buyer with an account. */
function buildAddress({ tier = '', code, waiver }: Fields): string {
  const query = new URLSearchParams({
    tier,
    ...(code ? { code } : {}),
    ...(waiver ? { waiver } : {}),
  })
  return `/api/checkout?${query}`
}

function readFields(input: unknown): Fields {
  const values = typeof input === 'object' && input !== null ? Object.entries(input) : []
  return Object.fromEntries(
    values
      .filter(([, value]) => typeof value === 'string')
      .map(([name, value]) => [name, value.trim()]),
  )
}
