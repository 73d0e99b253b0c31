/** The two steps of a withdrawal, without JavaScript and without sign-in. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Compile } from 'typebox/compile'
import type { App } from '#platform/http/app.ts'
import { type Html, html } from '#platform/http/html.ts'
import { Problem } from '#platform/problem.ts'
import { platformProblem } from '#platform/problems.ts'
import { findStoreCaller, SESSION_COOKIE, type SessionDeps } from '../sessions/sessions.ts'
import {
  beginWithdrawal,
  confirmWithdrawal,
  type WithdrawalDeps,
  WithdrawalForm,
  type WithdrawalView,
} from '../withdrawals/withdrawals.ts'
import { type LayoutDeps, sendPage } from './layout.ts'

const TITLE = 'Withdraw from a purchase'
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const isWithdrawalForm = Compile(WithdrawalForm)

type Deps = SessionDeps & WithdrawalDeps & LayoutDeps
type Values = Partial<Record<'order' | 'email' | 'reason' | 'id', string>>

export function withdrawalPages(app: App, deps: Deps): void {
  const findCaller = (request: FastifyRequest) =>
    findStoreCaller(deps, request.cookies[SESSION_COOKIE])
  const show = async (request: FastifyRequest, reply: FastifyReply, body: Html, status = 200) =>
    sendPage(reply, deps, { title: TITLE, body, caller: await findCaller(request), status })

  app.get('/withdraw', { config: { access: 'anyone' } }, async (request, reply) => {
    const { order } = request.query as { order?: unknown }
    const values = {
      order: typeof order === 'string' ? order : '',
      email: (await findCaller(request))?.email ?? '',
    }
    return show(request, reply, withdrawPage({ values, error: null }))
  })

  app.post(
    '/withdraw',
    { config: { access: 'anyone', limit: 'general' } },
    async (request, reply) => {
      const values = (request.body ?? {}) as Values
      const again = (error: string, status: number) =>
        show(request, reply, withdrawPage({ values, error }), status)
      if (!isWithdrawalForm.Check(values))
        return again('Enter the order and a valid email address.', 400)
      try {
        const withdrawal = await beginWithdrawal(deps, values, request.ip)
        return show(request, reply, confirmPage(withdrawal))
      } catch (error) {
        if (!(error instanceof Problem) || typeof error.detail !== 'string') throw error
        reply.headers(error.headers)
        return again(error.detail, error.status)
      }
    },
  )

  app.post(
    '/withdraw/confirm',
    { config: { access: 'anyone', limit: 'general' } },
    async (request, reply) => {
      const { id = '' } = (request.body ?? {}) as Values
      if (!UUID.test(id)) throw platformProblem('not_found')
      await confirmWithdrawal(deps, id)
      return show(request, reply, withdrawnPage())
    },
  )
}

function withdrawPage({ values, error }: { values: Values; error: string | null }): Html {
  return html`<div class="narrow">
<h1>Withdraw from a purchase</h1>
<p class="lead">Consumers may withdraw within 14 days, without a reason and without an account. The order number is in your purchase email.</p>
${error && html`<div class="notice bad" role="alert"><p>${error}</p></div>`}
<form class="card" method="post" action="/withdraw">
<div class="field"><label for="order">Order</label><input id="order" name="order" required maxlength="100" value="${values.order}"></div>
<div class="field"><label for="email">Email of the purchase</label><input id="email" name="email" type="email" autocomplete="email" required maxlength="254" value="${values.email}"></div>
<div class="field"><label for="reason">Reason (optional)</label><textarea id="reason" name="reason" maxlength="2000">
${values.reason}</textarea></div>
<button class="button wide">Continue</button>
</form></div>`
}

/** The second step. */
function confirmPage({ id, statement, email }: WithdrawalView): Html {
  return html`<div class="narrow"><h1>Confirm your withdrawal</h1>
<div class="card"><p>${statement}</p><p class="soft">We email a receipt to ${email} at once.</p>
<form method="post" action="/withdraw/confirm"><input type="hidden" name="id" value="${id}"><button class="button wide">Confirm withdrawal</button></form></div></div>`
}

function withdrawnPage(): Html {
  return html`<div class="narrow"><h1>Withdrawal confirmed</h1>
<div class="notice" role="status"><p>If the order and the email address belong together, a receipt is on its way to that address. If none arrives, <a href="/contact">contact us</a>.</p></div></div>`
}
