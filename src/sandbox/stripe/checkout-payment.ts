/** Paying a hosted checkout: what the person's card does, and what becomes of payments that settle later. */
import type { Stripe } from 'stripe'
import { atomically } from '../database.ts'
import { keepMethod, type TestCard } from './cards.ts'
import { payerDetails, type Side } from './checkout-sessions.ts'
import { createCustomer, setDefaultMethod } from './customers.ts'
import { emit } from './events.ts'
import { Fault } from './fault.ts'
import { invoiceOfIntent, markPaid, subscriptionOf, voidInvoice } from './invoices.ts'
import { all, get, must, put, sideOf } from './objects.ts'
import { attemptPayment, newIntent, settleIntent } from './payments.ts'
import { setStatus, startSubscription } from './subscriptions.ts'
import type { World } from './world.ts'

export type Payer = { email: string; name: string; card: TestCard }

/** @returns the completed session, or the processor's words where the card was refused (the session stays open). */
export function paySession(
  world: World,
  id: string,
  payer: Payer,
): { session: Stripe.Checkout.Session } | { refused: string } {
  const session = must<Stripe.Checkout.Session>(world.db, 'checkout.session', id)
  if (session.status !== 'open') {
    throw new Fault(400, {
      type: 'invalid_request_error',
      message: `This checkout is ${session.status === 'complete' ? 'paid already' : 'expired'}.`,
    })
  }
  const side = sideOf<Side>(world.db, id)
  const coupon = side.coupon ? get<Stripe.Coupon>(world.db, side.coupon) : undefined
  const withPayer = { ...session, customer_details: payerDetails(payer.email, payer.name) }
  if (session.mode === 'subscription') return subscribe(world, withPayer, side, payer, coupon)
  return payOnce(world, withPayer, side, payer)
}

function payOnce(world: World, session: Stripe.Checkout.Session, side: Side, payer: Payer) {
  const customer = session.customer
    ? String(session.customer)
    : session.customer_creation === 'always'
      ? createCustomer(world, { email: payer.email, name: payer.name }).id
      : null
  if (session.amount_total === 0)
    return { session: complete(world, { ...session, customer, payment_status: 'no_payment_required' }) }

  const before = session.payment_intent
    ? get<Stripe.PaymentIntent>(world.db, String(session.payment_intent))
    : undefined
  const intent =
    before && before.amount === session.amount_total
      ? before
      : newIntent(world, {
          amount: session.amount_total ?? 0,
          currency: session.currency ?? 'usd',
          customer,
          description: side.intentDescription,
          metadata: side.intentMetadata,
          receiptEmail: null,
        })
  const method = keepMethod(world, payer.card, customer, payer)
  const attempt = attemptPayment(world, intent.id, method, true)
  if (attempt.status === 'failed') {
    put(world.db, { ...session, customer_details: null, payment_intent: intent.id })
    return { refused: attempt.error.message }
  }
  const status = attempt.status === 'succeeded' ? ('paid' as const) : ('unpaid' as const)
  return { session: complete(world, { ...session, customer, payment_intent: intent.id, payment_status: status }) }
}

function subscribe(
  world: World,
  session: Stripe.Checkout.Session,
  side: Side,
  payer: Payer,
  coupon: Stripe.Coupon | undefined,
) {
  // A hosted checkout makes the subscription only with a payment: a refused card leaves the session open and nothing else.
  if (payer.card.first.at === 'never') return { refused: payer.card.first.message }
  const customer = session.customer
    ? String(session.customer)
    : createCustomer(world, { email: payer.email, name: payer.name }).id
  const method = keepMethod(world, payer.card, customer, payer)
  const { subscription, invoice, attempt } = startSubscription(world, {
    customer,
    lines: side.lines,
    metadata: side.subscriptionMetadata,
    method,
    coupon,
    trialDays: side.trialDays ?? 0,
  })
  setDefaultMethod(world, customer, method)
  const status = session.amount_total === 0 ? 'no_payment_required' : attempt.status === 'succeeded' ? 'paid' : 'unpaid'
  return {
    session: complete(world, {
      ...session,
      customer,
      subscription: subscription.id,
      invoice: invoice.id,
      payment_status: status,
    }),
  }
}

function complete(world: World, session: Stripe.Checkout.Session): Stripe.Checkout.Session {
  const completed: Stripe.Checkout.Session = { ...session, status: 'complete', url: null }
  put(world.db, completed, { owner: session.customer ? String(session.customer) : '' })
  const promotionId = session.discounts?.[0]?.promotion_code
  const promotion = typeof promotionId === 'string' ? get<Stripe.PromotionCode>(world.db, promotionId) : undefined
  if (promotion) put(world.db, { ...promotion, times_redeemed: promotion.times_redeemed + 1 })
  emit(world, 'checkout.session.completed', completed)
  return completed
}

/** A debit that was under way has settled: its session, and its subscription where there is one, follow. */
export function settle(world: World, intentId: string, succeeds: boolean): void {
  if (!settleIntent(world, intentId, succeeds)) return
  const invoice = invoiceOfIntent(world, intentId)
  if (invoice && succeeds) {
    markPaid(world, invoice.id)
    setStatus(world, subscriptionOf(invoice), 'active')
  }
  if (invoice && !succeeds) {
    voidInvoice(world, invoice.id)
    setStatus(world, subscriptionOf(invoice), 'incomplete_expired')
  }
  const session = all<Stripe.Checkout.Session>(world.db, 'checkout.session').find(
    (one) => one.payment_intent === intentId || (invoice !== undefined && one.invoice === invoice.id),
  )
  if (!session) return
  const after: Stripe.Checkout.Session = { ...session, payment_status: succeeds ? 'paid' : 'unpaid' }
  put(world.db, after)
  emit(world, succeeds ? 'checkout.session.async_payment_succeeded' : 'checkout.session.async_payment_failed', after)
}

export function settleDue(world: World): void {
  const due = world.db
    .prepare('select payment_intent, outcome from stripe_settlements where due_ms <= ?')
    .all(Date.now())
  if (due.length === 0) return
  atomically(world.db, () => {
    for (const row of due) settle(world, String(row.payment_intent), row.outcome === 'succeeded')
  })
}
