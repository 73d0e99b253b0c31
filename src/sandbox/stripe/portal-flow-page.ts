/** Portal pages of deep links: change the card, or cancel with a reason. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Stripe } from 'stripe'
import { type Html, html } from '#platform/http/html.ts'
import { show, time } from '../page.ts'
import { OPEN } from '../route.ts'
import type { PageDeps, ProcessorDeps } from './deps.ts'
import { cardChoice, field, toIso } from './hosted-page.ts'
import { getExisting } from './objects.ts'
import { changeCard } from './payment-methods.ts'
import { updateSubscription } from './subscription-changes.ts'

type Params = { Params: { id: string } }
type Session = Stripe.BillingPortal.Session
type Flow = Stripe.BillingPortal.Session.Flow

const FEEDBACK: Stripe.Subscription.CancellationDetails.Feedback[] = [
  'missing_features',
  'other',
  'too_complex',
  'too_expensive',
  'unused',
]

export function portalFlowPages(app: FastifyInstance, deps: PageDeps): void {
  const findSession = (id: string) => getExisting(deps, 'billing_portal.session', id)

  app.get<Params>('/portal/:id/flow', OPEN, (request, reply) =>
    showFlow(deps, reply, findSession(request.params.id), null),
  )

  app.post<Params>('/portal/:id/flow', OPEN, async (request, reply) => {
    const session = findSession(request.params.id)
    if (!session.flow) return reply.redirect(`/sandbox/portal/${session.id}`, 303)
    const { flow } = session
    const refused = await deps.act(() => runFlow(deps, session, flow, request.body))
    if (refused !== null) return showFlow(deps, reply, session, refused)
    const { redirect } = flow.after_completion
    return reply.redirect(redirect?.return_url ?? `/sandbox/portal/${session.id}?notice=Done.`, 303)
  })
}

/** Returns the reason of a refusal, or null. */
function runFlow(deps: ProcessorDeps, session: Session, flow: Flow, form: unknown): string | null {
  const cancel = flow.subscription_cancel
  if (!cancel) return changeCard(deps, session.customer, field(form, 'card'))
  const coupon = cancel.retention?.coupon_offer?.coupon
  updateSubscription(
    deps,
    cancel.subscription,
    coupon && field(form, 'choice') === 'stay'
      ? { discounts: [{ coupon }] }
      : {
          cancel_at_period_end: 'true',
          cancellation_details: {
            feedback: field(form, 'feedback'),
            comment: field(form, 'comment'),
          },
        },
  )
  return null
}

function showFlow(
  deps: ProcessorDeps,
  reply: FastifyReply,
  session: Session,
  refused: string | null,
): FastifyReply {
  if (!session.flow) return reply.redirect(`/sandbox/portal/${session.id}`, 303)
  const [title, body] = buildForm(deps, session.flow)
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

function buildForm(deps: ProcessorDeps, flow: Flow): [string, Html] {
  if (flow.subscription_cancel)
    return ['Cancel the subscription', cancelForm(deps, flow.subscription_cancel)]
  return [
    'Change the payment method',
    html`${cardChoice('4242424242424242')}<button>Save the card</button>`,
  ]
}

function cancelForm(
  deps: ProcessorDeps,
  { subscription: id, retention }: Stripe.BillingPortal.Session.Flow.SubscriptionCancel,
) {
  const { items } = getExisting(deps, 'subscription', id)
  const end = time(toIso(items.data[0]?.current_period_end ?? 0))
  const offered = retention?.coupon_offer
  const coupon = offered && getExisting(deps, 'coupon', offered.coupon)
  return html`${coupon ? html`<p class="notice">Keep your subscription and get ${coupon.name ?? `${coupon.percent_off} % off`}. <button name="choice" value="stay">Keep subscription</button></p>` : ''}
<p>The subscription stays active until ${end} and is not renewed.</p>
<div class="field"><label for="feedback">Why are you cancelling?</label><select id="feedback" name="feedback"><option value="">Prefer not to say</option>${FEEDBACK.map((word) => html`<option value="${word}">${word.replaceAll('_', ' ')}</option>`)}</select></div>
<div class="field"><label for="comment">What could be better?</label><input id="comment" name="comment" type="text" maxlength="500"></div>
<button class="danger" name="choice" value="cancel">Cancel the subscription</button>`
}
