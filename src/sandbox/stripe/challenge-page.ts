/**
 * The page of the payer's bank (3-D Secure): asks the payer to confirm the payment, then redirects
 * back to the checkout or the invoice.
 */
import type { FastifyInstance } from 'fastify'
import { html } from '#platform/http/html.ts'
import { money, show } from '../page.ts'
import { OPEN } from '../route.ts'
import { showCheckout, successUrl } from './checkout-page.ts'
import { answerBank, readBankQuestion } from './checkout-payment.ts'
import type { PageDeps } from './deps.ts'
import { field } from './hosted-page.ts'
import { showInvoice } from './invoice-page.ts'

type Params = { Params: { id: string } }

export function challengePages(app: FastifyInstance, deps: PageDeps): void {
  app.get<Params>('/confirm/:id', OPEN, (request, reply) => {
    const { id } = request.params
    const { amount, currency } = readBankQuestion(deps, id)
    const main = html`<div class="card narrow"><p class="small quiet">SANDBOX BANK · 3-D Secure</p>
<h1>Confirm this payment</h1>
<p>${amount > 0 ? html`The sandbox requests <strong class="amount">${money(amount, currency)}</strong>.` : 'The sandbox requests to save this card for later payments. Nothing is charged now.'}</p>
<form method="post" action="/sandbox/confirm/${id}" class="row"><button name="answer" value="complete">Complete</button><button class="danger" name="answer" value="fail">Fail</button></form>
<p class="small quiet">A real bank uses a code or an app here. To test an unconfirmed payment, leave this page.</p></div>`
    return show(reply, { title: 'Confirm the payment', place: 'processor', main, hosted: true })
  })

  app.post<Params>('/confirm/:id', OPEN, async (request, reply) => {
    const confirms = field(request.body, 'answer') === 'complete'
    const { session, invoice, refused } = await deps.act(() =>
      answerBank(deps, request.params.id, confirms),
    )
    if (session && refused === null) return reply.redirect(successUrl(session), 303)
    if (session) return showCheckout(deps, reply, session.id, { refused: refused ?? '' })
    if (invoice && refused !== null) return showInvoice(deps, reply, invoice, refused)
    return reply.redirect(invoice ? `/sandbox/invoices/${invoice}` : '/sandbox', 303)
  })
}
