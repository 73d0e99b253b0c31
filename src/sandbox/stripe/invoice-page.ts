/** The hosted invoice: its lines, its PDF, and a way to pay the open amount. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Stripe } from 'stripe'
import { type Html, html } from '#platform/http/html.ts'
import { money, show, time } from '../page.ts'
import { OPEN } from '../route.ts'
import { cardByNumber, describeMethod, keepMethod } from './cards.ts'
import { completePaidCheckout } from './checkout-payment.ts'
import type { PageDeps, ProcessorDeps } from './deps.ts'
import { refused } from './fault.ts'
import { badge, cardChoice, field, toIso } from './hosted-page.ts'
import { describeTax, invoicePdf } from './invoice-pdf.ts'
import { findIntentId } from './invoices.ts'
import { get, getExisting } from './objects.ts'
import { defaultMethod, setDefaultMethod } from './payment-methods.ts'
import type { Attempt } from './payments.ts'
import { retryInvoice } from './subscriptions.ts'

type Params = { Params: { id: string } }

export function invoicePages(app: FastifyInstance, deps: PageDeps): void {
  app.get<Params>('/invoices/:id', OPEN, (request, reply) =>
    showInvoice(deps, reply, request.params.id, null),
  )

  app.get<Params>('/receipts/:id', OPEN, (request, reply) => {
    const charge = getExisting(deps, 'charge', request.params.id)
    const { amount, amount_refunded: refunded, currency, created } = charge
    const main = html`<div class="card narrow"><h1>Receipt</h1><p class="quiet">${charge.billing_details.email ?? ''} · ${time(toIso(created))}</p>
<div class="between"><span>Paid</span><span class="amount">${money(amount, currency)}</span></div>
${refunded > 0 ? html`<div class="between"><span>Refunded</span><span class="amount">${money(refunded, currency)}</span></div>` : ''}</div>`
    return show(reply, { title: 'Receipt', place: 'processor', main, hosted: true })
  })

  app.get<Params>('/invoices/:id/pdf', OPEN, (request, reply) => {
    const invoice = getExisting(deps, 'invoice', request.params.id)
    return reply
      .type('application/pdf')
      .header('content-disposition', `inline; filename="Invoice-${invoice.number ?? 'draft'}.pdf"`)
      .header('cache-control', 'no-store')
      .send(invoicePdf(invoice))
  })

  app.post<Params>('/invoices/:id', OPEN, async (request, reply) => {
    const { id } = request.params
    const attempt = await deps.act(() => payInvoice(deps, id, field(request.body, 'card')))
    if (attempt.status === 'failed') return showInvoice(deps, reply, id, attempt.error.message)
    const next = attempt.status === 'requires_action' ? attempt.url : `/sandbox/invoices/${id}`
    return reply.redirect(next, 303)
  })
}

/** A different card replaces the card on file. */
function payInvoice(deps: ProcessorDeps, id: string, number: string): Attempt {
  const invoice = getExisting(deps, 'invoice', id)
  if (invoice.status !== 'open') throw refused(400, `This invoice is ${invoice.status}.`)
  if (findPayment(deps, id)?.status === 'processing')
    throw refused(400, 'This invoice is being paid: its bank is asked.')
  const customer = getExisting(deps, 'customer', String(invoice.customer))
  const card = cardByNumber(number)
  const { email, name = null } = customer
  const method = card
    ? keepMethod(deps, card, customer.id, { name, email })
    : defaultMethod(deps, customer.id)
  const attempt = retryInvoice(deps, invoice, method, true)
  if (attempt.status !== 'succeeded') return attempt
  if (card && method) setDefaultMethod(deps, customer.id, method)
  completePaidCheckout(deps, invoice)
  return attempt
}

const findPayment = (deps: ProcessorDeps, invoiceId: string) =>
  get<Stripe.PaymentIntent>(deps, findIntentId(deps, invoiceId))

export function showInvoice(
  deps: ProcessorDeps,
  reply: FastifyReply,
  id: string,
  refused: string | null,
): FastifyReply {
  const invoice = getExisting(deps, 'invoice', id)
  const { currency } = invoice
  const off = (invoice.total_discount_amounts ?? []).reduce((sum, { amount }) => sum + amount, 0)
  const onFile = defaultMethod(deps, String(invoice.customer))
  const payment = findPayment(deps, id)
  const waits = invoice.status === 'open' && payment?.status === 'requires_action'
  const row = (left: string | Html | null, minor: number) =>
    html`<div class="between"><span>${left}</span><span class="amount">${money(minor, currency)}</span></div>`
  const main = html`<div class="card narrow"><div class="between"><h1>Invoice ${invoice.number ?? '(draft)'}</h1>${badge(String(invoice.status))}</div>
<p class="quiet">${invoice.customer_name ?? ''} ${invoice.customer_email ?? ''} · ${time(toIso(invoice.created))}</p>
${invoice.lines.data.map((line) => row(line.description, line.amount))}
<hr class="quiet">
${off > 0 ? row('Discount', -off) : ''}
${(invoice.total_taxes ?? []).map((tax) => row(describeTax(tax), tax.amount))}
${row(html`<strong>Total</strong>`, invoice.total)}
${row('Amount due', invoice.amount_remaining)}
${invoice.status === 'draft' ? '' : html`<p><a href="/sandbox/invoices/${id}/pdf">Download the PDF</a></p>`}
${refused === null ? '' : html`<p class="notice bad" role="alert">${refused}</p>`}
${
  waits
    ? html`<p class="notice bad" role="status">Your bank asks you to confirm this payment.</p>
<p><a class="button" href="/sandbox/confirm/${payment?.id}">Confirm the payment</a></p>`
    : ''
}
${payment?.status === 'processing' ? html`<p class="notice" role="status">It is being paid: the bank has not spoken yet.</p>` : ''}
${
  invoice.status === 'open' && payment?.status !== 'processing'
    ? html`${waits ? '' : html`<form method="post" action="/sandbox/invoices/${id}"><button>Pay with ${describeMethod(onFile)}</button></form>`}
<details><summary>Use another card</summary><form method="post" action="/sandbox/invoices/${id}">${cardChoice('4242424242424242')}<button>Pay ${money(invoice.amount_remaining, currency)}</button></form></details>`
    : ''
}</div>`
  return show(
    reply,
    { title: 'Invoice', place: 'processor', main, hosted: true },
    refused === null ? 200 : 402,
  )
}
