/** The hosted checkout: the order on the left, the payment form on the right. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Stripe } from 'stripe'
import { html } from '#platform/http/html.ts'
import { money, show } from '../page.ts'
import { OPEN } from '../route.ts'
import { cardByNumber } from './cards.ts'
import { findPendingConfirmation, paySession } from './checkout-payment.ts'
import {
  applyPromotion,
  isTrial,
  listLineItems,
  removePromotion,
  type Side,
} from './checkout-sessions.ts'
import type { PageDeps, ProcessorDeps } from './deps.ts'
import { cardChoice, field } from './hosted-page.ts'
import { get, getExisting, getSide } from './objects.ts'

type Params = { Params: { id: string } }
type CheckoutInput = {
  refused?: string
  code?: string
  card?: string
  email?: string
  name?: string
}

export function checkoutPages(app: FastifyInstance, deps: PageDeps): void {
  app.get<Params>('/pay/:id', OPEN, (request, reply) =>
    showCheckout(deps, reply, request.params.id, {}),
  )

  app.post<Params>('/pay/:id/code', OPEN, async (request, reply) => {
    const code = field(request.body, 'code')
    const isKnown = await deps.act(() => applyPromotion(deps, request.params.id, code))
    if (!isKnown) return showCheckout(deps, reply, request.params.id, { code })
    return reply.redirect(`/sandbox/pay/${request.params.id}`, 303)
  })

  app.post<Params>('/pay/:id/code/remove', OPEN, async (request, reply) => {
    await deps.act(() => removePromotion(deps, request.params.id))
    return reply.redirect(`/sandbox/pay/${request.params.id}`, 303)
  })

  app.post<Params>('/pay/:id', OPEN, async (request, reply) => {
    const { id } = request.params
    const input: CheckoutInput = {
      card: field(request.body, 'card') || '4242424242424242',
      email: field(request.body, 'email').trim(),
      name: field(request.body, 'name').trim(),
    }
    const card = cardByNumber(input.card ?? '')
    if (card === undefined)
      return showCheckout(deps, reply, id, {
        ...input,
        refused: 'Your card number is invalid. Choose one of the test cards.',
      })
    const before = getExisting(deps, 'checkout.session', id)
    const email = input.email || before.customer_details?.email || before.customer_email || ''
    if (!/^[^\s@]+@[^\s@]+$/.test(email))
      return showCheckout(deps, reply, id, {
        ...input,
        refused: 'An email address is needed for the receipt.',
      })

    const paid = await deps.act(() =>
      paySession(deps, id, {
        card,
        email,
        name: input.name ?? '',
        taxId: field(request.body, 'tax_id').trim(),
        agrees: field(request.body, 'terms') === 'on',
      }),
    )
    if ('refused' in paid) return showCheckout(deps, reply, id, { ...input, refused: paid.refused })
    return reply.redirect('asks' in paid ? paid.asks : successUrl(paid.session), 303)
  })
}

/** Returns the address for the payer after the payment. */
export const successUrl = ({ id, success_url: url }: Stripe.Checkout.Session): string =>
  (url ?? '/sandbox').replaceAll('{CHECKOUT_SESSION_ID}', id)

export function showCheckout(
  deps: ProcessorDeps,
  reply: FastifyReply,
  id: string,
  input: CheckoutInput,
): FastifyReply {
  const session = getExisting(deps, 'checkout.session', id)
  if (session.status !== 'open') return showClosedCheckout(reply, session)

  const main = html`<div class="split">
${renderOrder(deps, session, input.code)}
${renderPayment(deps, session, input)}</div>`
  return show(
    reply,
    { title: 'Checkout', place: 'processor', main, hosted: true },
    input.refused ? 402 : 200,
  )
}

function showClosedCheckout(reply: FastifyReply, session: Stripe.Checkout.Session): FastifyReply {
  const isComplete = session.status === 'complete'
  const back = isComplete
    ? session.success_url?.replaceAll('{CHECKOUT_SESSION_ID}', session.id)
    : session.cancel_url
  const main = html`<div class="card narrow"><h1>${isComplete ? 'Already paid' : 'This checkout has expired'}</h1>
<p class="quiet">${isComplete ? 'No further action is needed.' : 'Go back and start again.'}</p>
<p><a class="button" href="${back ?? '/sandbox'}">Go back</a></p></div>`
  return show(reply, { title: 'Checkout', place: 'processor', main, hosted: true }, 410)
}

function renderOrder(
  deps: ProcessorDeps,
  session: Stripe.Checkout.Session,
  unknownCode: string | undefined,
) {
  const { id } = session
  const currency = session.currency ?? 'usd'
  const total = session.amount_total ?? 0
  const off = session.total_details?.amount_discount ?? 0
  const lines = listLineItems(deps, session)
  const side = getSide<Side>(deps, id)
  const trial = `${side.trialDays} days free`
  const recurring = lines[0]?.price?.recurring
  const promotion = session.discounts?.[0]?.promotion_code
  const code =
    typeof promotion === 'string' ? get<Stripe.PromotionCode>(deps, promotion)?.code : undefined

  return html`<section aria-labelledby="order">
${session.cancel_url ? html`<p><a href="${session.cancel_url}">← Back</a></p>` : ''}
<h1 id="order" class="quiet">${session.mode === 'subscription' ? 'Subscribe' : 'Pay'}</h1>
<p class="total amount">${money(total, currency)}${recurring ? html` <span class="small quiet">${isTrial(side) ? `today: ${trial}` : off > 0 ? 'today' : `per ${recurring.interval}`}</span>` : ''}</p>
<div class="card">
${lines.map((line) => html`<div class="between"><span>${line.description}${(line.quantity ?? 1) > 1 ? ` × ${line.quantity}` : ''}</span><span class="amount">${money(line.amount_subtotal, currency)}</span></div>`)}
${off > 0 ? html`<div class="between"><span>Code <code>${code}</code></span><span class="amount">−${money(off, currency)}</span></div>` : ''}
${session.automatic_tax.enabled ? html`<div class="between"><span>Tax</span><span class="amount">${money(session.total_details?.amount_tax ?? 0, currency)}</span></div>` : ''}
<hr class="quiet">
<div class="between"><strong>Due today</strong><strong class="amount">${money(total, currency)}</strong></div>
</div>
${session.allow_promotion_codes ? promotionForm(id, code, unknownCode) : ''}
</section>`
}

function renderPayment(
  deps: ProcessorDeps,
  session: Stripe.Checkout.Session,
  input: CheckoutInput,
) {
  const { id } = session
  const currency = session.currency ?? 'usd'
  const total = session.amount_total ?? 0
  const email = input.email || session.customer_details?.email || session.customer_email || ''
  const confirmationId = findPendingConfirmation(deps, session)

  return html`<section class="card" aria-labelledby="paying">
<h2 id="paying">Payment</h2>
${input.refused ? html`<p class="notice bad" role="alert">${input.refused}</p>` : ''}
${confirmationId && !input.refused ? html`<p class="notice bad" role="status">Your bank asks you to confirm this payment. <a href="/sandbox/confirm/${confirmationId}">Confirm it</a>, or use another card.</p>` : ''}
<form method="post" action="/sandbox/pay/${id}">
<div class="field"><label for="email">Email</label><input id="email" name="email" type="email" autocomplete="email" required value="${email}"></div>
<div class="field"><label for="name">Name</label><input id="name" name="name" type="text" autocomplete="name" value="${input.name || session.customer_details?.name || ''}"></div>
${total > 0 || session.mode === 'subscription' ? cardChoice(input.card || '4242424242424242', session.payment_method_types) : html`<p class="quiet">Nothing to pay, so no card is needed.</p>`}
${session.tax_id_collection?.enabled ? html`<div class="field"><label for="tax-id">Tax ID (businesses only)</label><input id="tax-id" name="tax_id" type="text" autocomplete="off" placeholder="DE123456789"></div>` : ''}
${session.consent_collection?.terms_of_service === 'required' ? html`<label class="choice"><input type="checkbox" name="terms" required><span class="grow">${session.custom_text.terms_of_service_acceptance?.message ?? 'I agree to the terms of service.'}</span></label>` : ''}
<button class="full" type="submit">${session.mode === 'subscription' ? 'Subscribe' : total > 0 ? `Pay ${money(total, currency)}` : 'Complete the order'}</button>
</form>
<p class="small quiet">These are test cards. No bank is contacted.</p>
</section>`
}

function promotionForm(id: string, applied: string | undefined, unknown: string | undefined) {
  if (applied) {
    return html`<form method="post" action="/sandbox/pay/${id}/code/remove"><button class="plain">Remove code ${applied}</button></form>`
  }
  return html`<form method="post" action="/sandbox/pay/${id}/code">
${unknown === undefined ? '' : html`<p class="notice bad" role="alert">The code “${unknown}” is not valid.</p>`}
<label for="code">Promotion code</label>
<div class="row"><input id="code" name="code" type="text" autocomplete="off" class="grow" required><button class="plain">Apply</button></div>
<p class="small quiet">Try <code>WELCOME10</code>, <code>MINUS20</code> or <code>FREE100</code>.</p></form>`
}
