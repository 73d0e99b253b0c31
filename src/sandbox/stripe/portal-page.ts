/**
 * The hosted customer portal. In addition to the customer's controls it has buttons that exist
 * only in the sandbox: renew, fail, retry.
 */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Stripe } from 'stripe'
import { type Html, html } from '#platform/http/html.ts'
import { money, show, time } from '../page.ts'
import { OPEN } from '../route.ts'
import { describeMethod } from './cards.ts'
import { productName } from './catalogue.ts'
import type { PageDeps, ProcessorDeps } from './deps.ts'
import { refused } from './fault.ts'
import { badge, cardChoice, field, toIso } from './hosted-page.ts'
import { all, getExisting } from './objects.ts'
import { changeCard, defaultMethod } from './payment-methods.ts'
import { paymentTable } from './payment-table.ts'
import { updateSubscription } from './subscription-changes.ts'
import {
  cancelNow,
  hasEnded,
  markUnpaid,
  pause,
  renew,
  resumePaused,
  retryPayment,
} from './subscriptions.ts'

type Params = { Params: { id: string; action: string } }

type Act = (deps: ProcessorDeps, subscription: string, form: unknown) => unknown

/** The effect of each button on a subscription of the customer; its new state shows the result. */
const ACTIONS: Record<string, Act> = {
  'cancel-at-end': (deps, id) => updateSubscription(deps, id, { cancel_at_period_end: 'true' }),
  resume: (deps, id) => updateSubscription(deps, id, { cancel_at_period_end: 'false' }),
  'cancel-now': (deps, id) => cancelNow(deps, id),
  'change-plan': (deps, id, form) => {
    const item = getExisting(deps, 'subscription', id).items.data[0]
    return updateSubscription(deps, id, {
      items: [{ id: item?.id ?? '', price: field(form, 'price') }],
      proration_behavior: 'always_invoice',
    })
  },
  'renew-well': (deps, id) => renew(deps, id, true),
  'renew-badly': (deps, id) => renew(deps, id, false),
  pause,
  unpause: resumePaused,
  'give-up': markUnpaid,
  retry: retryPayment,
}

export function portalPages(app: FastifyInstance, deps: PageDeps): void {
  app.get<Params & { Querystring: { notice?: string } }>('/portal/:id', OPEN, (request, reply) =>
    showPortal(deps, reply, request.params.id, request.query.notice),
  )

  app.post<Params>('/portal/:id/card', OPEN, async (request, reply) => {
    const { customer } = getExisting(deps, 'billing_portal.session', request.params.id)
    const reason = await deps.act(() => changeCard(deps, customer, field(request.body, 'card')))
    const notice = encodeURIComponent(reason ?? 'The card was changed.')
    return reply.redirect(`/sandbox/portal/${request.params.id}?notice=${notice}`, 303)
  })

  app.post<Params>('/portal/:id/:action', OPEN, async (request, reply) => {
    const session = getExisting(deps, 'billing_portal.session', request.params.id)
    const act = ACTIONS[request.params.action]
    const subscription = getExisting(deps, 'subscription', field(request.body, 'subscription'))
    if (!act || subscription.customer !== session.customer) {
      throw refused(404, 'Unknown action of the portal.')
    }
    await deps.act(() => act(deps, subscription.id, request.body))
    return reply.redirect(`/sandbox/portal/${session.id}`, 303)
  })
}

function showPortal(
  deps: ProcessorDeps,
  reply: FastifyReply,
  id: string,
  notice: string | undefined,
): FastifyReply {
  const session = getExisting(deps, 'billing_portal.session', id)
  const customer = getExisting(deps, 'customer', session.customer)
  if (customer.deleted as unknown) throw refused(410, 'This customer is deleted.')
  const subscriptions = all(deps, 'subscription', customer.id)
  const live = subscriptions.filter((one) => !hasEnded(one))
  const invoices = all(deps, 'invoice', customer.id).slice(0, 24)
  const here = `/sandbox/portal/${id}`

  const main = html`
${session.return_url ? html`<p><a href="${session.return_url}">← Back to the service</a></p>` : ''}
<h1>Your billing</h1>
<p class="quiet">${customer.name ?? ''} ${customer.email ? html`· ${customer.email}` : ''}</p>
${notice ? html`<p class="notice" role="status">${notice.slice(0, 200)}</p>` : ''}
${live.length === 0 ? html`<div class="card"><h2>No subscription</h2><p class="quiet">${subscriptions.length > 0 ? 'The last subscription has ended.' : 'There is no subscription yet.'}</p></div>` : live.map((one) => subscriptionCard(deps, here, one))}
<section class="card" aria-labelledby="card"><h2 id="card">Payment method</h2>
<p>${describeMethod(defaultMethod(deps, customer.id))}</p>
<details><summary>Use another card</summary><form method="post" action="${here}/card">${cardChoice('4242424242424242')}<button>Save the card</button></form></details></section>
<section class="card" aria-labelledby="invoices"><h2 id="invoices">Invoices</h2>
${
  invoices.length === 0
    ? html`<p class="quiet">None yet.</p>`
    : html`<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Number</th><th scope="col">Date</th><th scope="col">For</th><th scope="col">Status</th><th scope="col" class="right">Total</th></tr></thead><tbody>
${invoices.map((invoice) => html`<tr><td class="mono">${invoice.number ? html`<a href="/sandbox/invoices/${invoice.id}">${invoice.number}</a>` : 'draft'}</td><td>${time(toIso(invoice.created))}</td><td>${invoice.lines.data.at(-1)?.description}</td><td>${badge(String(invoice.status))}</td><td class="right amount">${money(invoice.total, invoice.currency)}</td></tr>`)}
</tbody></table></div>`
}</section>
<section class="card" aria-labelledby="payments"><h2 id="payments">Payments <span class="small quiet">– only in the sandbox</span></h2>
${paymentTable(deps, all(deps, 'charge', customer.id), here)}</section>`
  return show(reply, { title: 'Your billing', place: 'processor', main, hosted: true })
}

function subscriptionCard(
  deps: ProcessorDeps,
  here: string,
  subscription: Stripe.Subscription,
): Html {
  const item = subscription.items.data[0]
  if (!item) return html``
  const prices = all(deps, 'price').filter(
    (price) => price.active && price.recurring && price.id !== item.price.id,
  )
  const end = time(toIso(item.current_period_end))
  const press = (action: string, words: string, kind = 'plain') =>
    html`<form method="post" action="${here}/${action}"><input type="hidden" name="subscription" value="${subscription.id}"><button class="${kind}">${words}</button></form>`

  return html`<section class="card" aria-label="Subscription">
<div class="between"><h2>${productName(deps, item.price)}</h2>${badge(subscription.status)}</div>
<p><strong class="amount">${money((item.price.unit_amount ?? 0) * (item.quantity ?? 1), item.price.currency)}</strong> per ${item.price.recurring?.interval}.
${subscription.cancel_at_period_end ? html`Ends on ${end}.` : html`Renews on ${end}.`}</p>
<div class="row">
${subscription.cancel_at_period_end ? press('resume', 'Resume', '') : press('cancel-at-end', 'Cancel at period end')}
${subscription.status === 'paused' ? press('unpause', 'Resume', '') : ''}
${subscription.status === 'active' ? press('pause', 'Pause') : ''}
${press('cancel-now', 'Cancel now', 'danger')}
</div>
${
  subscription.status === 'incomplete'
    ? html`<p class="small quiet">The first payment is pending. Settle the bank debit below, or confirm the payment on the invoice.</p>`
    : html`<h3>Change the plan</h3>
<form method="post" action="${here}/change-plan" class="row"><input type="hidden" name="subscription" value="${subscription.id}">
<label for="price-${subscription.id}" class="small">New plan</label><select class="grow" id="price-${subscription.id}" name="price">${prices.map((price) => html`<option value="${price.id}">${productName(deps, price)}, ${money(price.unit_amount ?? 0, price.currency)} per ${price.recurring?.interval}</option>`)}</select>
<button class="plain">Change</button></form>
<h3>Simulate time <span class="small quiet">– only in the sandbox</span></h3>
<div class="row">
${press('renew-well', 'End the period; renewal succeeds')}
${press('renew-badly', 'End the period; renewal fails')}
${subscription.status === 'paused' ? '' : press('give-up', 'All payment retries fail')}
${subscription.status === 'past_due' || subscription.status === 'unpaid' ? press('retry', 'Retry the open payment', '') : ''}
</div>`
}
</section>`
}
