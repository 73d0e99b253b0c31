/** The buyer's page, and its forms, which work without scripts. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { withTimeout } from '#billing/processor.ts'
import type { Caller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Problem } from '#platform/problem.ts'
import { type ClaimDeps, claimWaiting } from '../claims/claims.ts'
import type { DownloadDeps } from '../downloads/downloads.ts'
import { createToken, deleteToken } from '../downloads/tokens.ts'
import { type ActivationDeps, releaseOfUser } from '../licences/activations.ts'
import { describeProblem, type PageMessages, readMessages } from '../messages/pages.ts'
import { type CheckoutState, confirmCheckout, type PaymentDeps } from '../payments/payments.ts'
import { type RotationDeps, rotateKey } from '../purchases/rotation.ts'
import { findStoreCaller, SESSION_COOKIE, type StoreCaller } from '../sessions/sessions.ts'
import { readDashboard } from './dashboard-data.ts'
import { type DashboardNotice, dashboardPage } from './dashboard-page.ts'
import { type LayoutDeps, sendPage } from './layout.ts'

type Deps = DownloadDeps & PaymentDeps & ActivationDeps & RotationDeps & ClaimDeps & LayoutDeps

const COUNTED = { config: { access: 'anyone' as const, limit: 'general' as const } }
const REFRESH_SECONDS = 5
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const TOKEN_NAME = /^[^\p{Cc}\u2028\u2029]{1,100}$/u
const TOKEN_DAYS: readonly string[] = ['30', '90', '365', '730']

/** Changes a purchase. Returns what the page shows once; null: the page is loaded again. */
type Change = (
  userId: string,
  form: Record<string, string>,
  messages: PageMessages,
) => Promise<DashboardNotice | null>

export function dashboardRoutes(app: App, deps: Deps): void {
  app.get('/dashboard', COUNTED, async (request, reply) => {
    const caller = await findCaller(deps, request)
    if (!caller) return reply.redirect(`/login?redirect=${encodeURIComponent(request.url)}`, 302)
    const payment = await readPayment(deps, request, caller)
    return show(reply, caller, payment && { kind: 'payment', state: payment })
  })

  const changes: Record<string, Change> = {
    claim: async (userId, { purchase = '' }) => {
      await claimWaiting(deps, userId, purchase)
      return null
    },
    'rotate-key': async (userId, { purchase = '' }) => {
      await rotateKey(deps, userId, purchase)
      return null
    },
    release: async (userId, { purchase = '', item = '' }) => {
      await releaseOfUser(deps, userId, purchase, item)
      return null
    },
    tokens: async (userId, { purchase = '', name = '', days = '' }, { license }) => {
      if (!TOKEN_NAME.test(name) || !TOKEN_DAYS.includes(days))
        return { kind: 'error', text: license.nameMissing }
      const created = await createToken(deps, userId, purchase, { name, days: Number(days) })
      return { kind: 'token', name, token: created.token }
    },
    'delete-token': async (userId, { purchase = '', item = '' }) => {
      await deleteToken(deps, userId, purchase, item)
      return null
    },
  }
  for (const [name, change] of Object.entries(changes)) {
    app.post(`/dashboard/${name}`, COUNTED, async (request, reply) => {
      const caller = await findCaller(deps, request)
      if (!caller) return reply.redirect('/login?redirect=/dashboard', 303)
      const form = readForm(request)
      // No other text is the id of anything.
      if (![form.purchase, form.item ?? form.purchase].every((id) => UUID.test(id ?? '')))
        return reply.redirect('/dashboard', 303)
      const messages = readMessages(request, caller, deps.config.brand)
      try {
        const notice = await change(caller.userId, form, messages)
        if (notice === null) return reply.redirect(`/dashboard#purchase-${form.purchase}`, 303)
        return await show(reply, caller, notice, notice.kind === 'error' ? 400 : 200)
      } catch (error) {
        if (!(error instanceof Problem) || typeof error.detail !== 'string') throw error
        reply.headers(error.headers)
        return show(
          reply,
          caller,
          { kind: 'error', text: describeProblem(messages, error) },
          error.status,
        )
      }
    })
  }

  async function show(
    reply: FastifyReply,
    caller: StoreCaller,
    notice: DashboardNotice | null,
    status = 200,
  ): Promise<FastifyReply> {
    const isPending = notice?.kind === 'payment' && notice.state === 'pending'
    const messages = readMessages(reply.request, caller, deps.config.brand)
    const dashboard = await readDashboard(deps, caller.userId)
    return sendPage(reply, deps, {
      title: messages.purchases.title,
      body: dashboardPage(deps.productList, dashboard, notice, messages),
      caller,
      messages,
      path: '/dashboard',
      status,
      ...(isPending ? { refreshSeconds: REFRESH_SECONDS } : {}),
    })
  }
}

const findCaller = (deps: Deps, request: FastifyRequest) =>
  findStoreCaller(deps, request.cookies[SESSION_COOKIE])

/** Longest wait for the processor. After it, the page shows "pending" and reloads. */
const CONFIRM_MS = 3_000

/**
 * Confirms the checkout at the processor, because the buyer may return before the webhook arrives.
 */
async function readPayment(
  deps: PaymentDeps,
  request: FastifyRequest,
  { userId }: Caller,
): Promise<CheckoutState | null> {
  const { success, session_id } = request.query as Record<string, unknown>
  if (success !== 'true' || typeof session_id !== 'string' || session_id === '') return null
  return withTimeout(confirmCheckout(deps, session_id, userId), CONFIRM_MS).catch((error) => {
    request.log.warn({ err: error, reqId: request.id }, 'a checkout could not be confirmed yet')
    return 'pending' as const
  })
}

function readForm({ body }: FastifyRequest): Record<string, string> {
  const fields = typeof body === 'object' && body !== null ? Object.entries(body) : []
  return Object.fromEntries(
    fields.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value.trim()]] : [])),
  )
}
