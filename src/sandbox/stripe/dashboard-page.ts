/**
 * The processor's dashboard: customers, payments, and every event with the result of its delivery.
 */

import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Stripe } from 'stripe'
import { html } from '#platform/http/html.ts'
import { inMinorUnits } from '#platform/money.ts'
import { notFound, show, time as timeOf } from '../page.ts'
import { OPEN } from '../route.ts'
import { settle } from './checkout-payment.ts'
import { clockCard, clockRoutes } from './clock-page.ts'
import { listDeliveries, resend } from './deliveries.ts'
import type { PageDeps, ProcessorDeps } from './deps.ts'
import { closeDispute, openDispute, reinstateDispute, requireDispute } from './disputes.ts'
import { missingObject, refused } from './fault.ts'
import { badge, field, toIso } from './hosted-page.ts'
import type { StoredEvent } from './objects.ts'
import { all, get, getExisting } from './objects.ts'
import { paymentTable } from './payment-table.ts'
import { createRefund, failRefund } from './payments.ts'
import { createPortalSession } from './portal-sessions.ts'
import { hasEnded } from './subscriptions.ts'
import type { TimeTravel } from './time-travel.ts'

const SHOWN_MAX = 50
type Act = (deps: ProcessorDeps, charge: Stripe.Charge, form: unknown) => unknown

/** The effect of each button on a payment. */
const ACTIONS: Record<string, Act> = {
  refund: (deps, charge, form) => {
    const units = field(form, 'units')
    const minor = inMinorUnits(Number(units), charge.currency)
    if (units !== '' && !Number.isFinite(minor)) throw refused(400, `'${units}' is not an amount.`)
    return createRefund(deps, {
      charge: charge.id,
      ...(units === '' ? {} : { amount: String(minor) }),
    })
  },
  'fail-refund': failRefund,
  dispute: (deps, charge) => openDispute(deps, charge.id),
  lose: (deps, charge) => closeDispute(deps, requireDispute(deps, charge), 'lost'),
  win: (deps, charge) => closeDispute(deps, requireDispute(deps, charge), 'won'),
  reinstate: (deps, charge) => reinstateDispute(deps, requireDispute(deps, charge)),
  settle: (deps, charge) => settle(deps, String(charge.payment_intent), true),
  bounce: (deps, charge) => settle(deps, String(charge.payment_intent), false),
}

export function dashboardPages(app: FastifyInstance, deps: PageDeps, time: TimeTravel): void {
  clockRoutes(app, deps, time)

  app.get('/processor', OPEN, (_request, reply) => showDesk(deps, reply, time))

  app.post<{ Params: { id: string; action: string } }>(
    '/processor/charges/:id/:action',
    OPEN,
    async (request, reply) => {
      const act = ACTIONS[request.params.action]
      if (!act) throw missingObject('action', request.params.action)
      const charge = getExisting(deps, 'charge', request.params.id)
      await deps.act(() => act(deps, charge, request.body))
      const back = field(request.body, 'back')
      return reply.redirect(/^\/sandbox\/[\w/]+$/.test(back) ? back : '/sandbox/processor', 303)
    },
  )

  app.post<{ Params: { id: string } }>(
    '/processor/customers/:id/portal',
    OPEN,
    async (request, reply) => {
      const portal = await deps.act(() =>
        createPortalSession(deps, { customer: request.params.id }, ''),
      )
      return reply.redirect(portal.url, 303)
    },
  )

  app.get<{ Params: { id: string } }>('/processor/events/:id', OPEN, (request, reply) => {
    const event = get<StoredEvent>(deps, request.params.id)
    return event?.object === 'event'
      ? showEvent(deps, reply, event)
      : notFound(reply, 'processor', 'event')
  })

  app.post<{ Params: { id: string } }>(
    '/processor/events/:id/resend',
    OPEN,
    async (request, reply) => {
      const event = getExisting(deps, 'event', request.params.id)
      resend(deps, event.id)
      return reply.redirect(`/sandbox/processor/events/${event.id}`, 303)
    },
  )
}

function showDesk(deps: ProcessorDeps, reply: FastifyReply, time: TimeTravel): FastifyReply {
  const customers = all(deps, 'customer')
    .filter((one) => !one.deleted)
    .slice(0, SHOWN_MAX)
  const events = all(deps, 'event').slice(0, SHOWN_MAX)
  const main = html`<h1>Processor</h1>
<p class="quiet">Implements the part of Stripe’s API that the service uses. Sends signed events to ${deps.endpoints().map((one, index) => html`${index > 0 ? ' and ' : ''}<code>${one.url}</code>`)}.</p>
${clockCard(deps, time)}
<section class="card" aria-labelledby="customers"><h2 id="customers">Customers</h2>
${
  customers.length === 0
    ? html`<p class="quiet">No customers yet. The first checkout creates one.</p>`
    : html`<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Customer</th><th scope="col">Email</th><th scope="col">Subscription</th><th scope="col">Since</th><th scope="col">Portal</th></tr></thead><tbody>
${customers.map((customer) => {
  const live = all(deps, 'subscription', customer.id).find((one) => !hasEnded(one))
  return html`<tr><td>${customer.name ?? html`<span class="mono small">${customer.id}</span>`}</td><td>${customer.email}</td><td>${live ? badge(live.status) : html`<span class="quiet">none</span>`}</td><td class="small">${timeOf(toIso(customer.created))}</td>
<td><form method="post" action="/sandbox/processor/customers/${customer.id}/portal"><button class="plain">Open</button></form></td></tr>`
})}</tbody></table></div>`
}</section>
<section class="card" aria-labelledby="payments"><h2 id="payments">Payments</h2>${paymentTable(deps, all(deps, 'charge').slice(0, SHOWN_MAX), '/sandbox/processor')}</section>
<section class="card" aria-labelledby="events"><h2 id="events">Events</h2>
${
  events.length === 0
    ? html`<p class="quiet">None yet.</p>`
    : html`<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Type</th><th scope="col">At</th><th scope="col">Delivered</th></tr></thead><tbody>
${events.map(
  (
    event,
  ) => html`<tr><td><a class="mono" href="/sandbox/processor/events/${event.id}">${event.type}</a></td><td class="small">${timeOf(toIso(event.created))}</td>
<td>${listDeliveries(deps, event.id).map((one) => html`<span class="small">${one.endpoint} ${badge(one.state)} </span>`)}</td></tr>`,
)}</tbody></table></div>`
}</section>`
  return show(reply, { title: 'Processor', place: 'processor', main })
}

function showEvent(deps: ProcessorDeps, reply: FastifyReply, event: StoredEvent): FastifyReply {
  const main = html`<p><a href="/sandbox/processor">← Processor</a></p>
<h1 class="mono">${event.type}</h1>
<dl><dt>Id</dt><dd class="mono">${event.id}</dd><dt>At</dt><dd>${timeOf(toIso(event.created))}</dd>
${listDeliveries(deps, event.id).map((one) => html`<dt>To ${one.endpoint}</dt><dd>${badge(one.state)} ${one.attempts} ${one.attempts === 1 ? 'attempt' : 'attempts'}${one.note && one.note !== 'ok' ? html`, ${one.note}` : ''}</dd>`)}</dl>
<form method="post" action="/sandbox/processor/events/${event.id}/resend"><button class="plain">Send again</button></form>
<h2>Payload</h2>
<pre tabindex="0" aria-label="The event as JSON">${JSON.stringify(event, null, 2)}</pre>`
  return show(reply, { title: event.type, place: 'processor', main })
}
