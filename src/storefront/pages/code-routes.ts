/** Sign-in by an emailed code, without scripts. */
import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '#config/config.ts'
import type { Identity } from '#identity/identity.ts'
import { identityProblem } from '#identity/problems.ts'
import type { App } from '#platform/http/app.ts'
import type { Html } from '#platform/http/html.ts'
import { Problem } from '#platform/problem.ts'
import { describeProblem, type PageMessages, readMessages } from '../messages/pages.ts'
import { setSessionCookie } from '../sessions/cookie.ts'
import { parseRedirect, safeRedirect } from '../sessions/redirect.ts'
import { openSession, type SessionDeps } from '../sessions/sessions.ts'
import { enterCodePage, requestCodePage } from './code-page.ts'
import { type LayoutDeps, sendPage } from './layout.ts'

export type CodeDeps = SessionDeps &
  LayoutDeps & {
    emailedCodes: {
      request: Identity['requestEmailedCode']
      check: Identity['checkEmailedCode']
    }
  }

const COUNTED = { config: { access: 'anyone' as const, limit: 'general' as const } }
/** The secret of the browser that requests a code. */
const COOKIE = 'store_code'
/** Longer than a code works, so that the page can report an expired one. */
const LIFE_S = 15 * 60

export function codeRoutes(app: App, deps: CodeDeps): void {
  const { config, deviceCookie, emailedCodes } = deps
  const show = (
    reply: FastifyReply,
    render: (messages: PageMessages) => Html,
    status = 200,
  ): Promise<FastifyReply> => {
    const messages = readMessages(reply.request, null, deps.config.brand)
    const { title } = messages.login
    const body = render(messages)
    return sendPage(reply, deps, { title, body, caller: null, messages, path: '/login', status })
  }

  app.get('/login/code', COUNTED, async (request, reply) => {
    const redirect = safeRedirect(parseRedirect(request.url))
    return show(reply, (messages) => requestCodePage(redirect, messages))
  })

  app.post('/login/code', COUNTED, async (request, reply) => {
    const { email, redirect } = readForm(request)
    if (email === '' || email.length > 254)
      return show(reply, (messages) => requestCodePage(redirect, messages), 400)
    const browser = randomBytes(32).toString('base64url')
    await emailedCodes.request({ email, browser })
    reply.setCookie(COOKIE, browser, { ...scope(config), maxAge: LIFE_S })
    const parts = { email, redirect, code: '', needsCode: false, error: null }
    return show(reply, (messages) => enterCodePage({ ...parts, messages }))
  })

  app.post('/login/code/confirm', COUNTED, async (request, reply) => {
    const { email, redirect, code, secondFactor } = readForm(request)
    const origin = deviceCookie.originOf(request)
    const browser = request.cookies[COOKIE] ?? ''
    try {
      const signIn = { email, browser, code, secondFactor: secondFactor || undefined, origin }
      const user = await emailedCodes.check(signIn)
      setSessionCookie(reply, config, await openSession(deps, user, origin, 'code'))
      reply.clearCookie(COOKIE, scope(config))
      deviceCookie.keep(reply, origin)
      return reply.redirect(redirect, 303)
    } catch (error) {
      if (!(error instanceof Problem) || typeof error.detail !== 'string') throw error
      reply.headers(error.headers)
      const needsCode = identityProblem.is(
        error,
        'two_factor_code_required',
        'two_factor_code_wrong',
      )
      return show(
        reply,
        (messages) =>
          enterCodePage({
            email,
            redirect,
            code,
            needsCode,
            error: describeProblem(messages, error),
            messages,
          }),
        error.status,
      )
    }
  })
}

function scope({ urls }: Config) {
  return {
    path: '/login',
    httpOnly: true,
    secure: urls.storefront.startsWith('https:'),
    sameSite: 'lax' as const,
  }
}

function readForm({ body }: FastifyRequest) {
  const form = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const read = (name: string) => (typeof form[name] === 'string' ? form[name].trim() : '')
  return {
    email: read('email'),
    code: read('code').slice(0, 100),
    secondFactor: read('second_factor').slice(0, 100),
    redirect: safeRedirect(read('redirect')),
  }
}
