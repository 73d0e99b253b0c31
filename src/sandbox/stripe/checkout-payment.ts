/** Payment of a hosted checkout, including payments that settle later. */
import type { Stripe } from 'stripe'
import { atomically } from '../database.ts'
import { cardByNumber, keepMethod, type TestCard } from './cards.ts'
import { listOffers, payerDetails, type Side, withTaxId } from './checkout-sessions.ts'
import { createCustomer, createTaxId } from './customers.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { grantDiscount, previewDiscount } from './discounts.ts'
import { emit } from './events.ts'
import { refused } from './fault.ts'
import {
  createPaidInvoice,
  findIntentId,
  findInvoiceByIntent,
  markPaid,
  markUnpaid,
  readSubscriptionId,
} from './invoices.ts'
import { all, get, getExisting, getSide, put } from './objects.ts'
import { setDefaultMethod } from './payment-methods.ts'
import {
  attemptPayment,
  cancelIntent,
  confirmIntent,
  createIntent,
  NOT_CONFIRMED,
  settleIntent,
} from './payments.ts'
import type { NewSubscription } from './subscription-object.ts'
import {
  applyPaidInvoice,
  expireIncomplete,
  retryInvoice,
  type Started,
  startSubscription,
} from './subscriptions.ts'

const DAY_S = 24 * 3_600
const OTHER_METHOD = 'This checkout takes cards alone.'

export type Payer = {
  email: string
  name: string
  card: TestCard
  taxId: string
  agrees: boolean
  /** The bank has approved the card for later charges. */
  isConfirmed?: boolean
}

/**
 * The completed session. While it stays open: the page of the payer's bank (`asks`), or the message
 * of a declined card (`refused`).
 */
export type Paid = { session: Stripe.Checkout.Session } | { asks: string } | { refused: string }

export function paySession(deps: ProcessorDeps, id: string, payer: Payer): Paid {
  const session = getExisting(deps, 'checkout.session', id)
  if (session.status !== 'open') {
    throw refused(
      400,
      `This checkout is ${session.status === 'complete' ? 'paid already' : 'expired'}.`,
    )
  }
  if (!session.payment_method_types.includes(payer.card.kind)) return { refused: OTHER_METHOD }
  const side = getSide<Side>(deps, id)
  const isAsked = session.consent_collection?.terms_of_service === 'required'
  if (isAsked && !payer.agrees) return { refused: 'You have to accept the terms of service.' }
  const withPayer = {
    ...withTaxId(deps, session, payer.taxId),
    consent: isAsked ? { promotions: null, terms_of_service: 'accepted' as const } : null,
    customer_details: payerDetails(
      payer.email,
      payer.name,
      session.tax_id_collection?.enabled ? payer.taxId : '',
    ),
  }
  if (session.mode === 'subscription') return subscribe(deps, withPayer, side, payer)
  return payOnce(deps, withPayer, side, payer)
}

function payOnce(
  deps: ProcessorDeps,
  session: Stripe.Checkout.Session,
  side: Side,
  payer: Payer,
): Paid {
  const customer = session.customer
    ? String(session.customer)
    : session.invoice_creation?.enabled
      ? createCustomer(deps, { email: payer.email, name: payer.name }).id
      : null
  if (customer) storeTaxIds(deps, customer, session)
  if (session.amount_total === 0)
    return {
      session: complete(deps, { ...session, customer, payment_status: 'no_payment_required' }),
    }

  const before = session.payment_intent
    ? get<Stripe.PaymentIntent>(deps, String(session.payment_intent))
    : undefined
  const isSame = before?.amount === session.amount_total
  // Otherwise the payer could still confirm it at their bank and pay the order twice.
  if (before && !isSame) cancelIntent(deps, before.id)
  const intent =
    before && isSame
      ? before
      : createIntent(deps, {
          amount: session.amount_total ?? 0,
          currency: session.currency ?? 'usd',
          customer,
          description: null,
          metadata: side.intentMetadata,
        })
  const method = keepMethod(deps, payer.card, customer, payer)
  const attempt = attemptPayment(deps, intent.id, method, true)
  if (attempt.status === 'failed') {
    put(deps, { ...session, customer_details: null, payment_intent: intent.id })
    return { refused: attempt.error.message }
  }
  if (attempt.status === 'requires_action') {
    put(deps, { ...session, customer, payment_intent: intent.id })
    return { asks: attempt.url }
  }
  const isPaid = attempt.status === 'succeeded'
  const paid = {
    ...session,
    customer,
    payment_intent: intent.id,
    payment_status: isPaid ? 'paid' : 'unpaid',
  } as const
  return { session: complete(deps, isPaid ? addInvoice(deps, paid) : paid) }
}

function subscribe(
  deps: ProcessorDeps,
  session: Stripe.Checkout.Session,
  side: Side,
  payer: Payer,
): Paid {
  // A hosted checkout creates the subscription only with a payment. A declined card leaves the
  // session open and changes nothing.
  if (payer.card.first.at === 'never') return { refused: payer.card.first.message }
  const customer = session.customer
    ? String(session.customer)
    : createCustomer(deps, { email: payer.email, name: payer.name }).id
  storeTaxIds(deps, customer, session)
  if (payer.card.asks && session.amount_total === 0 && !payer.isConfirmed) {
    put(
      deps,
      { ...session, customer },
      { side: { ...side, payer: { ...payer, card: payer.card.number } } },
    )
    return { asks: `${deps.origin()}/sandbox/confirm/${session.id}` }
  }
  const method = keepMethod(deps, payer.card, customer, payer)
  const newSubscription: NewSubscription = {
    customer,
    lines: side.lines,
    metadata: side.subscriptionMetadata,
    method,
    offers: listOffers(deps, session),
    trialEnd: side.trialDays > 0 ? seconds(deps) + side.trialDays * DAY_S : null,
    session: session.id,
    hasTax: session.automatic_tax.enabled,
    isManaged: session.managed_payments?.enabled ?? false,
  }
  const { subscription, invoice, attempt } =
    retryFirstPayment(deps, session, method) ?? startSubscription(deps, newSubscription)
  if (attempt.status === 'requires_action') {
    put(deps, { ...session, customer, invoice: invoice.id })
    return { asks: attempt.url }
  }
  if (attempt.status === 'failed') return { refused: attempt.error.message }
  setDefaultMethod(deps, customer, method)
  const status =
    session.amount_total === 0
      ? 'no_payment_required'
      : attempt.status === 'succeeded'
        ? 'paid'
        : 'unpaid'
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

/**
 * Reuses the subscription of an unconfirmed payment with another card. A subscription with another
 * price is replaced.
 */
function retryFirstPayment(
  deps: ProcessorDeps,
  session: Stripe.Checkout.Session,
  method: Stripe.PaymentMethod,
): Started | null {
  const invoice = session.invoice ? getExisting(deps, 'invoice', String(session.invoice)) : null
  if (invoice?.status !== 'open') return null
  if (invoice.amount_due !== session.amount_total) {
    expireIncomplete(deps, invoice)
    return null
  }
  const id = readSubscriptionId(invoice)
  const attempt = retryInvoice(deps, invoice, method, true)
  return {
    subscription: getExisting(deps, 'subscription', id),
    invoice: getExisting(deps, 'invoice', invoice.id),
    attempt,
  }
}

/**
 * Returns the bank's confirmation: for the stored card of a trial's payer (`cs_…`), or for a
 * payment (`pi_…`), with seller and amount.
 */
export function readBankQuestion(
  deps: ProcessorDeps,
  id: string,
): { amount: number; currency: string } {
  if (!id.startsWith('cs_')) {
    const { status, amount, currency } = getExisting(deps, 'payment_intent', id)
    if (status === 'requires_action') return { amount, currency }
  } else {
    const { status, currency } = getExisting(deps, 'checkout.session', id)
    if (status === 'open' && getSide<Side>(deps, id).payer)
      return { amount: 0, currency: currency ?? 'usd' }
  }
  throw refused(410, 'The bank asks nothing any more.')
}

/** Returns the id of the pending confirmation of an open checkout; null when there is none. */
export function findPendingConfirmation(
  deps: ProcessorDeps,
  { id, payment_intent, invoice }: Stripe.Checkout.Session,
): string | null {
  if (getSide<Side>(deps, id).payer) return id
  const intent = payment_intent ?? (invoice ? findIntentId(deps, String(invoice)) : null)
  return get<Stripe.PaymentIntent>(deps, String(intent))?.status === 'requires_action'
    ? String(intent)
    : null
}

/**
 * The next page of the payer: `session` is complete, `invoice` has a separate page, and `refused`
 * explains why another card is needed.
 */
export type BankAnswer = {
  session: Stripe.Checkout.Session | null
  invoice: string | null
  refused: string | null
}

/**
 * Applies the payer's answer on the bank's page to the invoice, the subscription and their
 * checkout.
 */
export function answerBank(deps: ProcessorDeps, id: string, confirms: boolean): BankAnswer {
  readBankQuestion(deps, id)
  if (id.startsWith('cs_')) return answerTrial(deps, id, confirms)
  const { payment_method: method, customer } = confirmIntent(deps, id, confirms)
  const invoice = findInvoiceByIntent(deps, id)
  const session = findSession(deps, id, invoice)
  const open = session?.status === 'open' ? session : null
  if (invoice && confirms) {
    markPaid(deps, invoice.id)
    if (customer && method)
      setDefaultMethod(deps, String(customer), getExisting(deps, 'payment_method', String(method)))
    applyPaidInvoice(deps, invoice)
  }
  if (invoice && !confirms) emit(deps, 'invoice.payment_failed', invoice)
  if (!confirms) return { session: open, invoice: invoice?.id ?? null, refused: NOT_CONFIRMED }
  if (invoice)
    return { session: completePaidCheckout(deps, invoice), invoice: invoice.id, refused: null }
  if (!open) return { session: null, invoice: null, refused: null }
  const paid: Stripe.Checkout.Session = { ...open, payment_status: 'paid' }
  return { session: complete(deps, addInvoice(deps, paid)), invoice: null, refused: null }
}

/**
 * Completes the checkout of a subscription whose first invoice was paid on any page. Returns null
 * when none was open.
 */
export function completePaidCheckout(
  deps: ProcessorDeps,
  invoice: Stripe.Invoice,
): Stripe.Checkout.Session | null {
  const session = findSession(deps, '', invoice)
  if (session?.status !== 'open') return null
  return complete(deps, {
    ...session,
    subscription: readSubscriptionId(invoice),
    payment_status: 'paid',
  })
}

function answerTrial(deps: ProcessorDeps, id: string, confirms: boolean): BankAnswer {
  const { payer, ...side } = getSide<Side>(deps, id)
  const session = put(deps, getExisting(deps, 'checkout.session', id), { side })
  const card = payer && cardByNumber(payer.card)
  if (!card || !confirms) return { session, invoice: null, refused: NOT_CONFIRMED }
  const done = paySession(deps, id, { ...payer, card, isConfirmed: true })
  if ('session' in done) return { session: done.session, invoice: null, refused: null }
  return { session, invoice: null, refused: 'refused' in done ? done.refused : NOT_CONFIRMED }
}

function findSession(deps: ProcessorDeps, intentId: string, invoice: Stripe.Invoice | undefined) {
  return all(deps, 'checkout.session').find(
    (one) =>
      one.payment_intent === intentId || (invoice !== undefined && one.invoice === invoice.id),
  )
}

/** Expires a subscription whose first payment failed. Ends the retries of later payments. */
function failFirstPayment(deps: ProcessorDeps, invoice: Stripe.Invoice): void {
  const subscription = get<Stripe.Subscription>(deps, readSubscriptionId(invoice))
  if (subscription?.status === 'incomplete') expireIncomplete(deps, invoice)
  else markUnpaid(deps, invoice.id)
}

function storeTaxIds(
  deps: ProcessorDeps,
  customer: string,
  { customer_details: details }: Stripe.Checkout.Session,
): void {
  for (const { type, value } of details?.tax_ids ?? [])
    createTaxId(deps, customer, { type, value: value ?? '' })
}

/** Creates the invoice that a one-time sale requested, paid by the payment of the sale. */
function addInvoice(
  deps: ProcessorDeps,
  session: Stripe.Checkout.Session,
): Stripe.Checkout.Session {
  const { invoice_creation: wanted, customer, currency, payment_intent: intent } = session
  if (!wanted?.enabled || typeof customer !== 'string' || session.invoice) return session
  const side = getSide<Side>(deps, session.id)
  const at = seconds(deps)
  const offers = listOffers(deps, session).map((offer) => previewDiscount(deps, offer, customer))
  for (const discount of offers) put(deps, discount, { owner: customer })
  const invoice = createPaidInvoice(
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

function complete(deps: ProcessorDeps, session: Stripe.Checkout.Session): Stripe.Checkout.Session {
  const completed: Stripe.Checkout.Session = { ...session, status: 'complete', url: null }
  put(deps, completed, { owner: session.customer ? String(session.customer) : '' })
  // A subscription's discounts are granted when it is created.
  if (session.mode === 'payment') {
    const to = {
      customer: session.customer as string | null,
      subscription: null,
      session: session.id,
    }
    for (const offer of listOffers(deps, session)) grantDiscount(deps, offer, to)
  }
  emit(deps, 'checkout.session.completed', completed)
  return completed
}

/** Settles a pending bank debit, and updates its session and its subscription, if any. */
export function settle(deps: ProcessorDeps, intentId: string, succeeds: boolean): void {
  if (!settleIntent(deps, intentId, succeeds)) return
  const invoice = findInvoiceByIntent(deps, intentId)
  if (invoice && succeeds) {
    markPaid(deps, invoice.id)
    applyPaidInvoice(deps, invoice)
  }
  if (invoice && !succeeds) failFirstPayment(deps, invoice)
  const session = findSession(deps, intentId, invoice)
  if (!session) return
  const spoken: Stripe.Checkout.Session = {
    ...session,
    payment_status: succeeds ? 'paid' : 'unpaid',
  }
  const after = succeeds ? addInvoice(deps, spoken) : spoken
  put(deps, after)
  emit(
    deps,
    succeeds ? 'checkout.session.async_payment_succeeded' : 'checkout.session.async_payment_failed',
    after,
  )
}

/** Settles the pending debits that are due by then. Acquires no write lock when none is. */
export function settleDue(deps: ProcessorDeps, untilMs: number): void {
  const due = deps.db
    .prepare('select payment_intent, outcome from stripe_settlements where due_ms <= ?')
    .all(untilMs)
  if (due.length === 0) return
  atomically(deps.db, () => {
    for (const row of due) settle(deps, String(row.payment_intent), row.outcome === 'succeeded')
  })
}
