import type { FastifyReply, FastifyRequest } from 'fastify'
import { Compile } from 'typebox/compile'
import { identityProblem } from '#identity/problems.ts'
import type { App } from '#platform/http/app.ts'
import type { Html } from '#platform/http/html.ts'
import { canonicalPath } from '#platform/http/path.ts'
import { Problem } from '#platform/problem.ts'
import { platformProblem } from '#platform/problems.ts'
import { STOREFRONT_API } from '../api-path.ts'
import type { ClaimDeps } from '../claims/claims.ts'
import { type ContactDeps, ContactForm, sendMessage } from '../contact/contact.ts'
import type { DownloadDeps } from '../downloads/downloads.ts'
import type { ActivationDeps } from '../licences/activations.ts'
import { describeProblem, type PageMessages, readMessages } from '../messages/pages.ts'
import type { PaymentDeps } from '../payments/payments.ts'
import { type RecoveryDeps, requestRecovery } from '../purchases/recovery.ts'
import {
  ACCOUNT_METHODS,
  type AccountMethod,
  leaveForAccount,
  returnFromAccount,
} from '../sessions/account-sign-in.ts'
import { clearSessionCookie, setSessionCookie } from '../sessions/cookie.ts'
import { parseRedirect, safeRedirect } from '../sessions/redirect.ts'
import {
  closeStoreSession,
  findStoreCaller,
  LoginForm,
  openStoreSession,
  SESSION_COOKIE,
  type SessionDeps,
  type StoreCaller,
} from '../sessions/sessions.ts'
import type { WithdrawalDeps } from '../withdrawals/withdrawals.ts'
import { assetRoutes } from './assets.ts'
import { type CodeDeps, codeRoutes } from './code-routes.ts'
import { contactPage, contactSentPage } from './contact-page.ts'
import { dashboardRoutes } from './dashboard-routes.ts'
import { guestPages } from './guest-routes.ts'
import { languageRoutes } from './language-routes.ts'
import { sendNotFound, sendPage } from './layout.ts'
import { type LoginParts, loginPage } from './login-page.ts'
import { offerRoutes } from './offer-routes.ts'
import type { PlanDeps } from './plan-cards.ts'
import { productRoutes } from './product-routes.ts'
import { recoveryPage } from './recovery-page.ts'
import { releaseEmailPages } from './release-email-pages.ts'
import { withdrawalPages } from './withdrawal-pages.ts'

const ANYONE = { config: { access: 'anyone' as const } }
/** Pages that call the processor or the mail server share the rate limit of the API. */
const COUNTED = { config: { access: 'anyone' as const, limit: 'general' as const } }

const isLoginForm = Compile(LoginForm)
const isContactForm = Compile(ContactForm)

/** The pages call the same functions as the storefront API, so the same rules apply. */
export type PageDeps = SessionDeps &
  PaymentDeps &
  DownloadDeps &
  RecoveryDeps &
  ContactDeps &
  WithdrawalDeps &
  ClaimDeps &
  ActivationDeps &
  CodeDeps &
  PlanDeps

export function pageRoutes(app: App, deps: PageDeps): void {
  const { config } = deps
  const findCaller = (request: FastifyRequest) =>
    findStoreCaller(deps, request.cookies[SESSION_COOKIE])
  const show = (
    reply: FastifyReply,
    caller: StoreCaller | null,
    render: (messages: PageMessages) => { title: string; body: Html },
    status = 200,
    path = '',
  ): Promise<FastifyReply> => {
    const messages = readMessages(reply.request, caller, deps.config.brand)
    return sendPage(reply, deps, { ...render(messages), caller, messages, status, path })
  }

  assetRoutes(app, config.brand)

  offerRoutes(app, deps)
  productRoutes(app, deps)

  app.get('/login', ANYONE, async (request, reply) => {
    const redirect = safeRedirect(parseRedirect(request.url))
    if (await findCaller(request)) return reply.redirect(redirect, 302)
    return showLogin(reply, { redirect, email: '', error: null, needsCode: false }, 200)
  })

  app.post('/login', ANYONE, async (request, reply) => {
    const form = readForm(request)
    const redirect = safeRedirect(form.redirect)
    const email = form.email?.trim() ?? ''
    const messages = readMessages(request, null, deps.config.brand)
    const credentials = { ...form, email }
    if (!isLoginForm.Check(credentials)) {
      return showLogin(
        reply,
        { redirect, email, error: messages.login.missing, needsCode: false },
        400,
      )
    }
    try {
      const origin = deps.deviceCookie.originOf(request)
      const { token } = await openStoreSession(deps, credentials, origin)
      setSessionCookie(reply, config, token)
      deps.deviceCookie.keep(reply, origin)
      return reply.redirect(redirect, 303)
    } catch (error) {
      if (!(error instanceof Problem) || typeof error.detail !== 'string') throw error
      reply.headers(error.headers)
      const needsCode = identityProblem.is(
        error,
        'two_factor_code_required',
        'two_factor_code_wrong',
      )
      const { challenge } = error.extra
      const says = challenge ? messages.login.proofWithoutScript : describeProblem(messages, error)
      return showLogin(reply, { redirect, email, error: says, needsCode, challenge }, error.status)
    }
  })

  app.get('/login/account', COUNTED, async (request, reply) => {
    const method = ACCOUNT_METHODS.find((known) => known === readQuery(request).with)
    const target = safeRedirect(parseRedirect(request.url))
    return reply.redirect(leaveForAccount(deps, reply, target, method), 302)
  })

  app.get('/login/return', COUNTED, async (request, reply) => {
    const origin = deps.deviceCookie.originOf(request)
    const code = readQuery(request).code ?? ''
    const opened = await returnFromAccount(deps, request, reply, { code, origin })
    if (opened === null) {
      const error = readMessages(request, null, deps.config.brand).login.otherBrowser
      return showLogin(reply, { redirect: '/dashboard', email: '', error, needsCode: false }, 400)
    }
    setSessionCookie(reply, config, opened.token)
    deps.deviceCookie.keep(reply, origin)
    return reply.header('referrer-policy', 'no-referrer').redirect(opened.target, 303)
  })

  app.get('/logout', ANYONE, async (_request, reply) => reply.redirect('/', 302))

  app.post('/logout', ANYONE, async (request, reply) => {
    await closeStoreSession(deps, request.cookies[SESSION_COOKIE])
    clearSessionCookie(reply)
    return reply.redirect('/', 303)
  })

  app.get('/contact', ANYONE, async (request, reply) => {
    const caller = await findCaller(request)
    const values = caller ? { email: caller.email } : {}
    const messages = readMessages(request, caller, deps.config.brand)
    const text = messages.contact
    return sendPage(reply, deps, {
      title: text.title,
      body: contactPage({ values, error: null, messages }),
      caller,
      messages,
      path: '/contact',
      listing: { path: '/contact', description: text.description(config.brand.name, text.lead) },
    })
  })

  app.post('/contact', COUNTED, async (request, reply) => {
    const caller = await findCaller(request)
    const values = readForm(request)
    const { contact, locale } = readMessages(request, caller, deps.config.brand)
    const again = (say: (messages: PageMessages) => string, status: number) =>
      show(
        reply,
        caller,
        (messages) => ({
          title: messages.contact.title,
          body: contactPage({ values, error: say(messages), messages }),
        }),
        status,
        '/contact',
      )
    if (!isContactForm.Check(values)) return again(() => contact.incomplete, 400)
    try {
      await sendMessage(deps, values, { address: request.ip, locale })
      return await show(reply, caller, (messages) => ({
        title: contact.sent,
        body: contactSentPage(messages),
      }))
    } catch (error) {
      if (!(error instanceof Problem) || typeof error.detail !== 'string') throw error
      reply.headers(error.headers)
      return again((messages) => describeProblem(messages, error), error.status)
    }
  })

  const showRecovery = async (request: FastifyRequest, reply: FastifyReply, isSent: boolean) =>
    show(reply, await findCaller(request), (messages) => ({
      title: messages.recover.title,
      body: recoveryPage(messages, { isSent }),
    }))

  app.get('/recover', ANYONE, async (request, reply) => showRecovery(request, reply, false))

  app.post('/recover', COUNTED, async (request, reply) => {
    const email = readForm(request).email?.trim() ?? ''
    if (email !== '' && email.length <= 254) await requestRecovery(deps, email)
    return showRecovery(request, reply, true)
  })

  languageRoutes(app, deps)
  codeRoutes(app, deps)
  dashboardRoutes(app, deps)
  withdrawalPages(app, deps)
  releaseEmailPages(app, deps)
  guestPages(app, deps)

  // Unknown addresses: a page for people, the JSON error of the contract for programs.
  app.get('/*', ANYONE, async (request, reply) => {
    if (STOREFRONT_API.test(canonicalPath(request.url))) throw platformProblem('not_found')
    return sendNotFound(reply, deps, await findCaller(request))
  })

  function showLogin(
    reply: FastifyReply,
    parts: Omit<LoginParts, 'frontendUrl' | 'guestAddress' | 'methods' | 'messages'>,
    status: number,
  ): Promise<FastifyReply> {
    return show(
      reply,
      null,
      (messages) => ({
        title: messages.login.title,
        body: loginPage({
          ...parts,
          frontendUrl: config.urls.frontend,
          guestAddress: findGuestAddress(config, parts.redirect),
          methods: listMethods(config),
          messages,
        }),
      }),
      status,
      '/login',
    )
  }
}

function listMethods({ oauth }: PageDeps['config']): AccountMethod[] {
  return ACCOUNT_METHODS.filter((method) => method === 'passkey' || oauth[method])
}

/** Returns the guest checkout of a target that is a checkout of a product; null otherwise. */
function findGuestAddress({ signUp }: PageDeps['config'], redirect: string): string | null {
  const target = new URL(redirect, 'http://storefront.invalid')
  if (signUp.invitedOnly || target.pathname !== '/api/checkout') return null
  if (target.searchParams.has('from') || target.searchParams.has('renew')) return null
  return `/checkout${target.search}`
}

function readQuery(request: FastifyRequest): Record<string, string | undefined> {
  const query = request.query as Record<string, unknown>
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : undefined,
    ]),
  )
}

function readForm(request: FastifyRequest): Record<string, string | undefined> {
  const body = request.body
  return typeof body === 'object' && body !== null
    ? (body as Record<string, string | undefined>)
    : {}
}
