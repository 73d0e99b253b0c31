/** The two steps of a withdrawal, without JavaScript and without sign-in. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Compile } from 'typebox/compile'
import type { App } from '#platform/http/app.ts'
import { type Html, html } from '#platform/http/html.ts'
import { Problem } from '#platform/problem.ts'
import { platformProblem } from '#platform/problems.ts'
import { describeProblem, type PageMessages, readMessages } from '../messages/pages.ts'
import { findStoreCaller, SESSION_COOKIE, type SessionDeps } from '../sessions/sessions.ts'
import {
  beginWithdrawal,
  confirmWithdrawal,
  type WithdrawalDeps,
  WithdrawalForm,
  type WithdrawalView,
} from '../withdrawals/withdrawals.ts'
import { type LayoutDeps, sendPage } from './layout.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const isWithdrawalForm = Compile(WithdrawalForm)

type Deps = SessionDeps & WithdrawalDeps & LayoutDeps
type Values = Partial<Record<'order' | 'email' | 'reason' | 'id', string>>

export function withdrawalPages(app: App, deps: Deps): void {
  const findCaller = (request: FastifyRequest) =>
    findStoreCaller(deps, request.cookies[SESSION_COOKIE])
  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    render: (messages: PageMessages) => Html,
    status = 200,
  ): Promise<FastifyReply> => {
    const caller = await findCaller(request)
    const messages = readMessages(request, caller, deps.config.brand)
    const { title } = messages.withdrawal
    return sendPage(reply, deps, { title, body: render(messages), caller, messages, status })
  }

  app.get('/withdraw', { config: { access: 'anyone' } }, async (request, reply) => {
    const { order } = request.query as { order?: unknown }
    const values = {
      order: typeof order === 'string' ? order : '',
      email: (await findCaller(request))?.email ?? '',
    }
    return show(request, reply, (messages) => withdrawPage({ values, error: null, messages }))
  })

  app.post(
    '/withdraw',
    { config: { access: 'anyone', limit: 'general' } },
    async (request, reply) => {
      const values = (request.body ?? {}) as Values
      const again = (say: (messages: PageMessages) => string, status: number) =>
        show(
          request,
          reply,
          (messages) => withdrawPage({ values, error: say(messages), messages }),
          status,
        )
      if (!isWithdrawalForm.Check(values))
        return again(({ withdrawal }) => withdrawal.incomplete, 400)
      try {
        const withdrawal = await beginWithdrawal(deps, values, request.ip)
        return await show(request, reply, (messages) => confirmPage(withdrawal, messages))
      } catch (error) {
        if (!(error instanceof Problem) || typeof error.detail !== 'string') throw error
        reply.headers(error.headers)
        return again((messages) => describeProblem(messages, error), error.status)
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
      return show(request, reply, withdrawnPage)
    },
  )
}

function withdrawPage({
  values,
  error,
  messages: { withdrawal: text },
}: {
  values: Values
  error: string | null
  messages: PageMessages
}): Html {
  return html`<div class="narrow">
<h1>${text.title}</h1>
<p class="lead">${text.lead}</p>
${error && html`<div class="notice bad" role="alert"><p>${error}</p></div>`}
<form class="card" method="post" action="/withdraw">
<div class="field"><label for="order">${text.order}</label><input id="order" name="order" required maxlength="100" value="${values.order}"></div>
<div class="field"><label for="email">${text.email}</label><input id="email" name="email" type="email" autocomplete="email" required maxlength="254" value="${values.email}"></div>
<div class="field"><label for="reason">${text.reason}</label><textarea id="reason" name="reason" maxlength="2000">
${values.reason}</textarea></div>
<button class="button wide">${text.button}</button>
</form></div>`
}

/** The second step. */
function confirmPage(
  { id, order, email }: WithdrawalView,
  { withdrawal: text }: PageMessages,
): Html {
  return html`<div class="narrow"><h1>${text.confirm}</h1>
<div class="card"><p>${text.statement(order)}</p><p class="soft">${text.receipt(email)}</p>
<form method="post" action="/withdraw/confirm"><input type="hidden" name="id" value="${id}"><button class="button wide">${text.confirmButton}</button></form></div></div>`
}

function withdrawnPage({ withdrawal: text }: PageMessages): Html {
  return html`<div class="narrow"><h1>${text.confirmed}</h1>
<div class="notice" role="status"><p>${text.confirmedText} <a href="/contact">${text.contact}</a>.</p></div></div>`
}
