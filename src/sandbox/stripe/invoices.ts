/** What a subscription asks for, period by period. */
import type { Stripe } from 'stripe'
import { decimal, discountOn, productName } from './catalogue.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { emit } from './events.ts'
import { INVOICE_CONSTANTS } from './invoice-object.ts'
import { all, get, must, newId, put } from './objects.ts'
import { type Attempt, attemptPayment, newIntent } from './payments.ts'

export type Line = {
  description: string
  amount: number
  price: Stripe.Price
  item: string
  from: number
  to: number
  proration: boolean
  quantity: number
}

/** A finalised, open invoice with its payment intent (none where nothing is to pay). */
export function newInvoice(
  deps: ProcessorDeps,
  subscription: Stripe.Subscription,
  reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update',
  lines: Line[],
  coupon?: Stripe.Coupon,
): Stripe.Invoice {
  const { db } = deps
  const customer = must<Stripe.Customer>(db, 'customer', String(subscription.customer))
  const id = newId('in')
  const at = seconds(deps)
  const subtotal = lines.reduce((sum, line) => sum + line.amount, 0)
  const off = discountOn(Math.max(subtotal, 0), coupon)
  const total = subtotal - off
  const number = `${customer.invoice_prefix ?? 'SANDBOX'}-${String(customer.next_invoice_sequence ?? 1).padStart(4, '0')}`
  put(db, { ...customer, next_invoice_sequence: (customer.next_invoice_sequence ?? 1) + 1 })

  const invoice = {
    ...INVOICE_CONSTANTS,
    id,
    amount_due: Math.max(total, 0),
    amount_remaining: Math.max(total, 0),
    billing_reason: reason,
    created: at,
    currency: subscription.currency,
    customer: customer.id,
    customer_email: customer.email,
    customer_name: customer.name ?? null,
    customer_phone: customer.phone ?? null,
    effective_at: at,
    lines: {
      object: 'list',
      data: lines.map((line) => lineItem(deps, id, subscription, line)),
      has_more: false,
      url: `/v1/invoices/${id}/lines`,
    },
    number,
    parent: {
      quote_details: null,
      subscription_details: { metadata: subscription.metadata, subscription: subscription.id },
      type: 'subscription_details',
    },
    period_end: at,
    period_start: at,
    status: 'open',
    status_transitions: { finalized_at: at, marked_uncollectible_at: null, paid_at: null, voided_at: null },
    subtotal,
    subtotal_excluding_tax: subtotal,
    total,
    total_discount_amounts: off > 0 ? [{ amount: off, discount: newId('di') }] : [],
    total_excluding_tax: total,
  } as unknown as Stripe.Invoice
  put(db, invoice, { owner: customer.id })

  if (invoice.amount_due > 0) askForPayment(deps, invoice)
  emit(deps, 'invoice.created', { ...invoice, status: 'draft' })
  emit(deps, 'invoice.finalized', invoice)
  return invoice
}

/** The payment intent of an open invoice, and the row that ties the two. */
function askForPayment(deps: ProcessorDeps, invoice: Stripe.Invoice): void {
  const intent = newIntent(deps, {
    amount: invoice.amount_due,
    currency: invoice.currency,
    customer: String(invoice.customer),
    description: invoice.billing_reason === 'subscription_create' ? 'Subscription creation' : 'Subscription update',
    metadata: {},
    receiptEmail: null,
  })
  const payment: Stripe.InvoicePayment = {
    id: newId('inpay'),
    object: 'invoice_payment',
    amount_paid: null,
    amount_requested: invoice.amount_due,
    created: seconds(deps),
    currency: invoice.currency,
    invoice: invoice.id,
    is_default: true,
    livemode: false,
    payment: { payment_intent: intent.id, type: 'payment_intent' },
    status: 'open',
    status_transitions: { canceled_at: null, paid_at: null },
  }
  put(deps.db, payment, { owner: invoice.id })
}

/** Tries to collect an open invoice; one with nothing to pay is paid at once. */
export function collect(
  deps: ProcessorDeps,
  invoiceId: string,
  method: Stripe.PaymentMethod | undefined,
  present: boolean,
): Attempt {
  const invoice = must<Stripe.Invoice>(deps.db, 'invoice', invoiceId)
  if (invoice.amount_due === 0) {
    markPaid(deps, invoice.id)
    return { status: 'succeeded' }
  }
  const outcome: Attempt = method
    ? attemptPayment(deps, intentOf(deps, invoiceId), method, present)
    : {
        status: 'failed',
        error: { type: 'card_error', code: 'missing_payment_method', message: 'There is no payment method.' },
      }

  if (outcome.status === 'succeeded') markPaid(deps, invoiceId)
  if (outcome.status === 'failed') markUnpaid(deps, invoiceId)
  return outcome
}

export function markPaid(deps: ProcessorDeps, invoiceId: string): Stripe.Invoice {
  const invoice = must<Stripe.Invoice>(deps.db, 'invoice', invoiceId)
  const at = seconds(deps)
  const paid: Stripe.Invoice = {
    ...invoice,
    status: 'paid',
    amount_paid: invoice.amount_due,
    amount_remaining: 0,
    attempted: true,
    attempt_count: invoice.attempt_count + (invoice.amount_due > 0 ? 1 : 0),
    auto_advance: false,
    next_payment_attempt: null,
    status_transitions: { ...invoice.status_transitions, paid_at: at },
  }
  put(deps.db, paid)
  for (const payment of paymentsOf(deps, invoiceId)) {
    put(deps.db, {
      ...payment,
      amount_paid: payment.amount_requested,
      status: 'paid',
      status_transitions: { canceled_at: null, paid_at: at },
    })
  }
  emit(deps, 'invoice.paid', paid)
  emit(deps, 'invoice.payment_succeeded', paid)
  return paid
}

export function markUnpaid(deps: ProcessorDeps, invoiceId: string): Stripe.Invoice {
  const invoice = must<Stripe.Invoice>(deps.db, 'invoice', invoiceId)
  const unpaid: Stripe.Invoice = {
    ...invoice,
    attempted: true,
    attempt_count: invoice.attempt_count + 1,
    next_payment_attempt: invoice.billing_reason === 'subscription_create' ? null : seconds(deps) + 3 * 24 * 3_600,
  }
  put(deps.db, unpaid)
  emit(deps, 'invoice.payment_failed', unpaid)
  return unpaid
}

export function voidInvoice(deps: ProcessorDeps, invoiceId: string): void {
  const invoice = must<Stripe.Invoice>(deps.db, 'invoice', invoiceId)
  const voided = {
    ...invoice,
    status: 'void',
    status_transitions: { ...invoice.status_transitions, voided_at: seconds(deps) },
  }
  put(deps.db, voided)
  emit(deps, 'invoice.voided', voided)
}

export const paymentsOf = ({ db }: Pick<ProcessorDeps, 'db'>, invoiceId: string) =>
  all<Stripe.InvoicePayment>(db, 'invoice_payment', invoiceId)

export function intentOf(deps: Pick<ProcessorDeps, 'db'>, invoiceId: string): string {
  return String(paymentsOf(deps, invoiceId)[0]?.payment.payment_intent ?? '')
}

/** The invoice a payment intent collects, when there is one. */
export function invoiceOfIntent(deps: Pick<ProcessorDeps, 'db'>, intentId: string): Stripe.Invoice | undefined {
  const payment = all<Stripe.InvoicePayment>(deps.db, 'invoice_payment').find(
    (one) => one.payment.payment_intent === intentId,
  )
  return payment && get<Stripe.Invoice>(deps.db, String(payment.invoice))
}

export const subscriptionOf = (invoice: Stripe.Invoice): string =>
  String(invoice.parent?.subscription_details?.subscription ?? '')

function lineItem(deps: ProcessorDeps, invoice: string, subscription: Stripe.Subscription, line: Line): object {
  return {
    id: newId('il'),
    object: 'line_item',
    amount: line.amount,
    currency: line.price.currency,
    description: line.proration ? line.description : `${line.quantity} × ${productName(deps, line.price)}`,
    discount_amounts: [],
    discountable: !line.proration,
    discounts: [],
    invoice,
    livemode: false,
    metadata: subscription.metadata,
    parent: {
      invoice_item_details: null,
      subscription_item_details: {
        invoice_item: null,
        proration: line.proration,
        proration_details: { credited_items: null },
        subscription: subscription.id,
        subscription_item: line.item,
      },
      type: 'subscription_item_details',
    },
    period: { start: line.from, end: line.to },
    pretax_credit_amounts: [],
    pricing: {
      price_details: { price: line.price.id, product: String(line.price.product) },
      type: 'price_details',
      unit_amount_decimal: decimal(line.price.unit_amount ?? 0),
    },
    quantity: line.quantity,
    quantity_decimal: String(line.quantity),
    subscription: subscription.id,
    subtotal: line.amount,
    taxes: [],
  }
}
