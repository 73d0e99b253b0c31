/** One thing to do in the portal, reached by a deep link: another card, another plan, a pause, or the end with its reason. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Stripe } from 'stripe'
import { type Html, html } from '#platform/http/html.ts'
import { atomically } from '../database.ts'
import { money, show, time } from '../page.ts'
import { OPEN } from '../route.ts'
import { productName } from './catalogue.ts'
import type { Courier } from './deliveries.ts'
import type { ProcessorDeps } from './deps.ts'
import { cardChoice, faultsAsPages, field, isoOf } from './hosted-page.ts'
import { all, must } from './objects.ts'
import { pauseSubscription } from './pauses.ts'
import { changeCard } from './payment-methods.ts'
import { previewInvoice } from './previews.ts'
import { FEEDBACK, updateSubscription } from './subscription-changes.ts'

type Params = { Params: { id: string } }
type Session = Stripe.BillingPortal.Session
type Flow = Stripe.BillingPortal.Session.Flow

const WEBHOOK_PATIENCE_MS = 3_000

export function portalFlowPages(app: FastifyInstance, deps: ProcessorDeps, courier: Courier): void {
  faultsAsPages(app)
  const sessionOf = (id: string) => must<Session>(deps.db, 'billing_portal.session', id)

  app.get<Params>('/portal/:id/flow', OPEN, (request, reply) =>
    showFlow(deps, reply, sessionOf(request.params.id), null),
  )

  app.post<Params>('/portal/:id/flow', OPEN, async (request, reply) => {
    const session = sessionOf(request.params.id)
    if (!session.flow) return reply.redirect(`/sandbox/portal/${session.id}`, 303)
    const { flow } = session
    const refused = atomically(deps.db, () => act(deps, session, flow, request.body))
    await courier.settled(WEBHOOK_PATIENCE_MS)
    if (refused !== null) return showFlow(deps, reply, session, refused)
    const { redirect, hosted_confirmation: confirmation } = flow.after_completion
    if (redirect) return reply.redirect(redirect.return_url, 303)
    if (confirmation) return showDone(reply, session, confirmation.custom_message)
    return reply.redirect(`/sandbox/portal/${session.id}?said=Done.`, 303)
  })
}

/** @returns why it was refused */
function act(deps: ProcessorDeps, session: Session, flow: Flow, form: unknown): string | null {
  if (flow.type === 'payment_method_update')
    return changeCard(deps, session.customer, field(form, 'card'))
  const coupon = flow.subscription_cancel?.retention?.coupon_offer?.coupon
  if (flow.subscription_cancel && coupon && field(form, 'choice') === 'stay')
    updateSubscription(deps, flow.subscription_cancel.subscription, { discounts: [{ coupon }] })
  else if (flow.subscription_cancel)
    updateSubscription(deps, flow.subscription_cancel.subscription, {
      cancel_at_period_end: 'true',
      cancellation_details: { feedback: field(form, 'feedback'), comment: field(form, 'comment') },
    })
  if (flow.subscription_pause)
    pauseSubscription(deps, flow.subscription_pause.subscription, {
      bill_for: { unused_time_from: { type: 'none' } },
    })
  const change = changeOf(deps, flow, field(form, 'price'))
  if (change) {
    const wanted = {
      items: change.items,
      proration_behavior: 'always_invoice',
      payment_behavior: 'error_if_incomplete',
    }
    updateSubscription(deps, change.subscription, wanted)
  }
  return null
}

/** The items of a change: those of the link, or the plan that the person chose. */
function changeOf(deps: ProcessorDeps, flow: Flow, price: string) {
  const confirm = flow.subscription_update_confirm
  if (confirm) {
    const items = confirm.items.map((one) => ({
      id: one.id ?? '',
      price: one.price ?? '',
      quantity: String(one.quantity ?? 1),
    }))
    return { subscription: confirm.subscription, items }
  }
  const id = flow.subscription_update?.subscription
  if (!id || price === '') return null
  const item = must<Stripe.Subscription>(deps.db, 'subscription', id).items.data[0]
  return { subscription: id, items: [{ id: item?.id ?? '', price }] }
}

function showFlow(
  deps: ProcessorDeps,
  reply: FastifyReply,
  session: Session,
  refused: string | null,
): FastifyReply {
  if (!session.flow) return reply.redirect(`/sandbox/portal/${session.id}`, 303)
  const [title, body] = formOf(deps, session.flow)
  const main = html`<div class="card narrow">${session.return_url ? html`<p><a href="${session.return_url}">← Back to the service</a></p>` : ''}
<h1>${title}</h1>
${refused === null ? '' : html`<p class="notice bad" role="alert">${refused}</p>`}
<form method="post" action="/sandbox/portal/${session.id}/flow">${body}</form></div>`
  return show(
    reply,
    { title, place: 'processor', main, hosted: true },
    refused === null ? 200 : 402,
  )
}

function formOf(deps: ProcessorDeps, flow: Flow): [string, Html] {
  if (flow.subscription_cancel)
    return ['Cancel the subscription', cancelForm(deps, flow.subscription_cancel)]
  if (flow.subscription_pause)
    return [
      'Pause the subscription',
      html`<p>Nothing is billed until you resume it.</p><button>Pause</button>`,
    ]
  if (flow.subscription_update)
    return ['Change the plan', plansForm(deps, flow.subscription_update.subscription)]
  if (flow.subscription_update_confirm) return ['Confirm the change', confirmForm(deps, flow)]
  return [
    'Change the payment method',
    html`${cardChoice('4242424242424242')}<button>Save the card</button>`,
  ]
}

function cancelForm(
  deps: ProcessorDeps,
  { subscription: id, retention }: Stripe.BillingPortal.Session.Flow.SubscriptionCancel,
) {
  const { items } = must<Stripe.Subscription>(deps.db, 'subscription', id)
  const end = time(isoOf(items.data[0]?.current_period_end ?? 0))
  const offered = retention?.coupon_offer
  const coupon = offered && must<Stripe.Coupon>(deps.db, 'coupon', offered.coupon)
  return html`${coupon ? html`<p class="notice">Stay, and have ${coupon.name ?? `${coupon.percent_off} % off`}. <button name="choice" value="stay">Stay</button></p>` : ''}
<p>It goes on until ${end}, and is not renewed.</p>
<div class="field"><label for="feedback">Why do you leave?</label><select id="feedback" name="feedback"><option value="">I would rather not say</option>${FEEDBACK.map((word) => html`<option value="${word}">${word.replaceAll('_', ' ')}</option>`)}</select></div>
<div class="field"><label for="comment">What could be better?</label><input id="comment" name="comment" type="text" maxlength="500"></div>
<button class="danger" name="choice" value="cancel">Cancel the subscription</button>`
}

function plansForm(deps: ProcessorDeps, id: string): Html {
  const { items } = must<Stripe.Subscription>(deps.db, 'subscription', id)
  const now = items.data[0]?.price
  const prices = all<Stripe.Price>(deps.db, 'price').filter(
    (price) =>
      price.active && price.recurring && price.id !== now?.id && price.currency === now?.currency,
  )
  return html`<div class="field"><label for="price">New plan</label><select id="price" name="price">${prices.map((price) => html`<option value="${price.id}">${productName(deps, price)}, ${money(price.unit_amount ?? 0, price.currency)} per ${price.recurring?.interval}</option>`)}</select></div>
<p class="small quiet">What is left of your period is given back, and the rest is due now.</p><button>Change</button>`
}

function confirmForm(deps: ProcessorDeps, flow: Flow): Html {
  const { subscription, items } = changeOf(deps, flow, '') ?? { subscription: '', items: [] }
  const details = { items, proration_behavior: 'always_invoice' }
  const preview = previewInvoice(deps, { subscription, subscription_details: details })
  return html`${preview.lines.data.map((line) => html`<div class="between"><span>${line.description}</span><span class="amount">${money(line.amount, preview.currency)}</span></div>`)}
<hr class="quiet"><div class="between"><strong>Due today</strong><strong class="amount">${money(preview.amount_due, preview.currency)}</strong></div><button>Confirm</button>`
}

function showDone(reply: FastifyReply, session: Session, message: string | null): FastifyReply {
  const main = html`<div class="card narrow"><h1>Done</h1><p>${message ?? 'Your change is saved.'}</p>
<p><a class="button" href="${session.return_url ?? '/sandbox'}">Back to the service</a></p></div>`
  return show(reply, { title: 'Done', place: 'processor', main, hosted: true })
}
