/** Paying a hosted checkout: what the person's card does, and what becomes of payments that settle later. */
import type { Stripe } from 'stripe'
import { atomically } from '../database.ts'
import { keepMethod, type TestCard } from './cards.ts'
import { offersOf, payerDetails, type Side, withTaxId } from './checkout-sessions.ts'
import { createCustomer, createTaxId } from './customers.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { giveDiscount, passingDiscount } from './discounts.ts'
import { emit } from './events.ts'
import { Fault } from './fault.ts'
import { invoiceOfIntent, markPaid, paidInvoice, subscriptionOf, voidInvoice } from './invoices.ts'
import { all, get, must, put, sideOf } from './objects.ts'
import { setDefaultMethod } from './payment-methods.ts'
import { attemptPayment, newIntent, settleIntent } from './payments.ts'
import { setStatus, startSubscription } from './subscriptions.ts'

const DAY_S = 24 * 3_600
const NO_CARD = 'A card is needed to pay.'
const OTHER_METHOD = 'This checkout takes cards alone.'

/** `card`: null where none is asked for. */
export type Payer = { email: string; name: string; card: TestCard | null; taxId: string; agrees: boolean }

/** @returns the completed session, or the processor's words where the card was refused (the session stays open). */
export function paySession(
  deps: ProcessorDeps,
  id: string,
  payer: Payer,
): { session: Stripe.Checkout.Session } | { refused: string } {
  const session = must<Stripe.Checkout.Session>(deps.db, 'checkout.session', id)
  if (session.status !== 'open') {
    throw new Fault(400, {
      type: 'invalid_request_error',
      message: `This checkout is ${session.status === 'complete' ? 'paid already' : 'expired'}.`,
    })
  }
  if (payer.card && !session.payment_method_types.includes(payer.card.kind)) return { refused: OTHER_METHOD }
  const side = sideOf<Side>(deps.db, id)
  const isAsked = session.consent_collection?.terms_of_service === 'required'
  if (isAsked && !payer.agrees) return { refused: 'You have to accept the terms of service.' }
  const withPayer = {
    ...withTaxId(deps, session, payer.taxId),
    consent: isAsked ? { promotions: null, terms_of_service: 'accepted' as const } : null,
    customer_details: payerDetails(payer.email, payer.name, session.tax_id_collection?.enabled ? payer.taxId : ''),
  }
  if (session.mode === 'subscription') return subscribe(deps, withPayer, side, payer)
  return payOnce(deps, withPayer, side, payer)
}

function payOnce(deps: ProcessorDeps, session: Stripe.Checkout.Session, side: Side, payer: Payer) {
  const customer = session.customer
    ? String(session.customer)
    : session.customer_creation === 'always' || session.invoice_creation?.enabled
      ? createCustomer(deps, { email: payer.email, name: payer.name }).id
      : null
  if (customer) keepTaxId(deps, customer, session)
  if (session.amount_total === 0)
    return { session: complete(deps, { ...session, customer, payment_status: 'no_payment_required' }) }

  const before = session.payment_intent ? get<Stripe.PaymentIntent>(deps.db, String(session.payment_intent)) : undefined
  const intent =
    before && before.amount === session.amount_total
      ? before
      : newIntent(deps, {
          amount: session.amount_total ?? 0,
          currency: session.currency ?? 'usd',
          customer,
          description: side.intentDescription,
          metadata: side.intentMetadata,
          receiptEmail: null,
        })
  if (!payer.card) return { refused: NO_CARD }
  const method = keepMethod(deps, payer.card, customer, payer)
  const attempt = attemptPayment(deps, intent.id, method, true)
  if (attempt.status === 'failed') {
    put(deps.db, { ...session, customer_details: null, payment_intent: intent.id })
    return { refused: attempt.error.message }
  }
  const isPaid = attempt.status === 'succeeded'
  const paid = { ...session, customer, payment_intent: intent.id, payment_status: isPaid ? 'paid' : 'unpaid' } as const
  return { session: complete(deps, isPaid ? withInvoice(deps, paid) : paid) }
}

function subscribe(deps: ProcessorDeps, session: Stripe.Checkout.Session, side: Side, payer: Payer) {
  // A hosted checkout makes the subscription only with a payment: a refused card leaves the session open and nothing else.
  if (payer.card?.first.at === 'never') return { refused: payer.card.first.message }
  if (!payer.card && !needsNoCard(session)) return { refused: NO_CARD }
  const customer = session.customer
    ? String(session.customer)
    : createCustomer(deps, { email: payer.email, name: payer.name }).id
  keepTaxId(deps, customer, session)
  const method = payer.card && keepMethod(deps, payer.card, customer, payer)
  const wanted = {
    customer,
    lines: side.lines,
    metadata: side.subscriptionMetadata,
    method,
    offers: offersOf(deps, session),
    trialEnd: side.trialDays > 0 ? seconds(deps) + side.trialDays * DAY_S : side.trialEnd,
    missingMethod: side.missingMethod,
    session: session.id,
    hasTax: session.automatic_tax.enabled,
    isManaged: session.managed_payments?.enabled ?? false,
  }
  const { subscription, invoice, attempt } = startSubscription(deps, wanted, true)
  if (method) setDefaultMethod(deps, customer, method)
  const status = session.amount_total === 0 ? 'no_payment_required' : attempt.status === 'succeeded' ? 'paid' : 'unpaid'
  return {
    session: complete(deps, {
      ...session,
      customer,
      subscription: subscription.id,
      invoice: invoice.id,
      payment_status: status,
    }),
  }
}

function keepTaxId(
  deps: ProcessorDeps,
  customer: string,
  { customer_details: details }: Stripe.Checkout.Session,
): void {
  for (const { type, value } of details?.tax_ids ?? []) createTaxId(deps, customer, { type, value: value ?? '' })
}

/** The invoice of a one-time sale that asked for one, paid by the payment that is made. */
function withInvoice(deps: ProcessorDeps, session: Stripe.Checkout.Session): Stripe.Checkout.Session {
  const { invoice_creation: wanted, customer, currency, payment_intent: intent } = session
  if (!wanted?.enabled || typeof customer !== 'string' || session.invoice) return session
  const side = sideOf<Side>(deps.db, session.id)
  const at = seconds(deps)
  const offers = offersOf(deps, session).map((offer) => passingDiscount(deps, offer, customer))
  for (const one of offers) put(deps.db, one, { owner: customer })
  const invoice = paidInvoice(
    deps,
    {
      customer,
      currency: currency ?? 'usd',
      reason: 'manual',
      lines: side.lines.map(({ price, quantity, name }) => ({
        description: name,
        amount: (price.unit_amount ?? 0) * quantity,
        price,
        item: null,
        from: at,
        to: at,
        proration: false,
        quantity,
      })),
      discounts: offers,
      subscription: null,
      tax: side.tax,
      metadata: wanted.invoice_data.metadata ?? {},
    },
    typeof intent === 'string' ? intent : null,
  )
  return { ...session, invoice: invoice.id }
}

/** Nothing is due today, and the service asks for a card only where something is. */
export const needsNoCard = (session: Stripe.Checkout.Session): boolean =>
  session.amount_total === 0 && session.payment_method_collection === 'if_required'

function complete(deps: ProcessorDeps, session: Stripe.Checkout.Session): Stripe.Checkout.Session {
  const completed: Stripe.Checkout.Session = { ...session, status: 'complete', url: null }
  put(deps.db, completed, { owner: session.customer ? String(session.customer) : '' })
  // A subscription's are given with it.
  if (session.mode === 'payment') {
    const to = { customer: session.customer as string | null, subscription: null, session: session.id }
    for (const offer of offersOf(deps, session)) giveDiscount(deps, offer, to)
  }
  emit(deps, 'checkout.session.completed', completed)
  return completed
}

/** A debit that was under way has settled: its session, and its subscription where there is one, follow. */
export function settle(deps: ProcessorDeps, intentId: string, succeeds: boolean): void {
  if (!settleIntent(deps, intentId, succeeds)) return
  const invoice = invoiceOfIntent(deps, intentId)
  if (invoice && succeeds) {
    markPaid(deps, invoice.id)
    setStatus(deps, subscriptionOf(invoice), 'active')
  }
  if (invoice && !succeeds) {
    voidInvoice(deps, invoice.id)
    setStatus(deps, subscriptionOf(invoice), 'incomplete_expired')
  }
  const session = all<Stripe.Checkout.Session>(deps.db, 'checkout.session').find(
    (one) => one.payment_intent === intentId || (invoice !== undefined && one.invoice === invoice.id),
  )
  if (!session) return
  const spoken: Stripe.Checkout.Session = { ...session, payment_status: succeeds ? 'paid' : 'unpaid' }
  const after = succeeds ? withInvoice(deps, spoken) : spoken
  put(deps.db, after)
  emit(deps, succeeds ? 'checkout.session.async_payment_succeeded' : 'checkout.session.async_payment_failed', after)
}

/** Every bank speaks at once. */
export function settleAll(deps: ProcessorDeps): void {
  for (const row of deps.db.prepare('select payment_intent, outcome from stripe_settlements').all())
    settle(deps, String(row.payment_intent), row.outcome === 'succeeded')
}

export function settleDue(deps: ProcessorDeps): void {
  const due = deps.db
    .prepare('select payment_intent, outcome from stripe_settlements where due_ms <= ?')
    .all(Date.now())
  if (due.length === 0) return
  atomically(deps.db, () => {
    for (const row of due) settle(deps, String(row.payment_intent), row.outcome === 'succeeded')
  })
}
