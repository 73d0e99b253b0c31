/** Invoices: of a subscription's periods and changes, and of one-time sales. */
import type { Stripe } from 'stripe'
import { blank } from './blank-fields.ts'
import { type Db, type ProcessorDeps, seconds } from './deps.ts'
import { removeUsedDiscounts } from './discounts.ts'
import { emit } from './events.ts'
import { type Line, lineItem, priceLines } from './invoice-lines.ts'
import { all, get, getExisting, newId, put } from './objects.ts'
import { type Attempt, attemptPayment, cancelIntent, createIntent } from './payments.ts'
import { type TaxTerms, toTaxLines } from './tax.ts'

export type Bill = {
  customer: string
  currency: string
  reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update' | 'manual'
  lines: readonly Line[]
  discounts: readonly Stripe.Discount[]
  subscription: Stripe.Subscription | null
  tax: TaxTerms | null
  metadata?: Record<string, string>
}

/** Fields that are equal on all invoices of the sandbox. */
const INVOICE_CONSTANTS = {
  ...blank('invoice'),
  account_country: 'US',
  account_name: 'Sandbox',
  amount_overpaid: 0,
  amount_paid: 0,
  amount_paid_off_stripe: 0,
  amount_shipping: 0,
  attempt_count: 0,
  attempted: false,
  auto_advance: true,
  collection_method: 'charge_automatically',
  customer_tax_exempt: 'none',
  default_tax_rates: [],
  issuer: { type: 'self' },
  payment_settings: {
    default_mandate: null,
    payment_method_options: null,
    payment_method_types: null,
  },
  post_payment_credit_notes_amount: 0,
  pre_payment_credit_notes_amount: 0,
  total_pretax_credit_amounts: [],
}

/**
 * Builds the invoice of a bill as of now, without storing it. A balance in the customer's favour
 * pays as much as possible.
 */
export function buildInvoice(
  deps: Pick<ProcessorDeps, 'db' | 'clock'>,
  bill: Bill,
  id: string,
): Stripe.Invoice {
  const { subscription, currency, tax: terms } = bill
  const customer = getExisting(deps, 'customer', bill.customer)
  const at = seconds(deps)
  const rows = priceLines(deps, bill.lines, bill.discounts, terms)
  const subtotal = bill.lines.reduce((sum, line) => sum + line.amount, 0)
  const offs = bill.discounts.map(({ id: discount }) => ({
    discount,
    amount: rows
      .flatMap(({ off }) => off)
      .reduce((sum, one) => sum + (one.discount === discount ? one.amount : 0), 0),
  }))
  const off = offs.reduce((sum, { amount }) => sum + amount, 0)
  const sumTax = (behavior: string) =>
    rows.reduce(
      (sum, { tax }) =>
        tax.behavior === behavior
          ? { amount: sum.amount + tax.amount, taxable: sum.taxable + tax.taxable }
          : sum,
      { amount: 0, taxable: 0 },
    )
  const [exclusive, inclusive] = [sumTax('exclusive'), sumTax('inclusive')]
  const total = subtotal - off + exclusive.amount
  const credit = total > 0 ? Math.min(total, Math.max(0, -customer.balance)) : total
  const taxes = [
    ...(exclusive.taxable !== 0 ? toTaxLines({ ...exclusive, behavior: 'exclusive' }, terms) : []),
    ...(inclusive.taxable !== 0 ? toTaxLines({ ...inclusive, behavior: 'inclusive' }, terms) : []),
  ]

  return {
    ...INVOICE_CONSTANTS,
    id,
    amount_due: Math.max(0, total - credit),
    amount_remaining: Math.max(0, total - credit),
    automatic_tax: {
      disabled_reason: null,
      enabled: terms !== null,
      liability: terms && { type: 'self' },
      provider: terms && 'stripe',
      status: terms && 'complete',
    },
    billing_reason: bill.reason,
    created: at,
    currency,
    customer: customer.id,
    customer_email: customer.email,
    customer_name: customer.name ?? null,
    customer_tax_ids: all(deps, 'tax_id', customer.id).map(({ type, value }) => ({ type, value })),
    discounts: bill.discounts.map((one) => one.id),
    ending_balance: customer.balance + credit,
    lines: {
      object: 'list',
      data: rows.map((row) => lineItem(id, subscription, row, terms)),
      has_more: false,
      url: `/v1/invoices/${id}/lines`,
    },
    metadata: bill.metadata ?? {},
    number: null,
    parent: subscription && {
      quote_details: null,
      subscription_details: { metadata: subscription.metadata, subscription: subscription.id },
      type: 'subscription_details',
    },
    period_end: at,
    period_start: at,
    starting_balance: customer.balance,
    status: 'draft',
    status_transitions: {
      finalized_at: null,
      marked_uncollectible_at: null,
      paid_at: null,
      voided_at: null,
    },
    subtotal,
    subtotal_excluding_tax: subtotal - inclusive.amount,
    total,
    total_discount_amounts: offs.filter(({ amount }) => amount > 0),
    total_excluding_tax: total - exclusive.amount - inclusive.amount,
    total_taxes: taxes,
  } as unknown as Stripe.Invoice
}

/** Creates a finalised, open invoice with its payment intent (none when nothing is due). */
export function createInvoice(deps: ProcessorDeps, bill: Bill): Stripe.Invoice {
  const draft = buildInvoice(deps, bill, newId('in'))
  return finalize(deps, put(deps, draft, { owner: bill.customer }))
}

/** Creates the invoice of a sale that the payment intent has paid (none when nothing was due). */
export function createPaidInvoice(
  deps: ProcessorDeps,
  bill: Bill,
  intent: string | null,
): Stripe.Invoice {
  const draft = {
    ...buildInvoice(deps, bill, newId('in')),
    starting_balance: 0,
    ending_balance: null,
  }
  const due = { ...draft, amount_due: draft.total, amount_remaining: draft.total }
  put(deps, due, { owner: bill.customer })
  return markPaid(deps, finalize(deps, due, intent ?? undefined).id)
}

/** Creates a draft, which is not due until it is finalised. */
export function createDraft(deps: ProcessorDeps, bill: Bill): Stripe.Invoice {
  const draft = { ...buildInvoice(deps, bill, newId('in')), auto_advance: false }
  return put(deps, draft, { owner: bill.customer })
}

function finalize(deps: ProcessorDeps, draft: Stripe.Invoice, intent?: string): Stripe.Invoice {
  const customer = getExisting(deps, 'customer', String(draft.customer))
  const { next_invoice_sequence: sequence = 1, balance } = customer
  const at = seconds(deps)
  put(deps, {
    ...customer,
    next_invoice_sequence: sequence + 1,
    balance: draft.ending_balance ?? balance,
  })
  const open: Stripe.Invoice = {
    ...draft,
    effective_at: at,
    hosted_invoice_url: `${deps.origin()}/sandbox/invoices/${draft.id}`,
    invoice_pdf: `${deps.origin()}/sandbox/invoices/${draft.id}/pdf`,
    number: `${customer.invoice_prefix}-${String(sequence).padStart(4, '0')}`,
    status: 'open',
    status_transitions: { ...draft.status_transitions, finalized_at: at },
  }
  put(deps, open)
  spendDiscounts(deps, open)
  if (open.amount_due > 0) addPayment(deps, open, intent)
  return open
}

function spendDiscounts(deps: ProcessorDeps, invoice: Stripe.Invoice): void {
  const subscription = get<Stripe.Subscription>(deps, readSubscriptionId(invoice))
  const used = (invoice.total_discount_amounts ?? []).map(({ discount }) => String(discount))
  if (subscription && used.length > 0) put(deps, removeUsedDiscounts(deps, subscription, used))
}

/** Creates the payment intent of an open invoice and the row that links both. */
function addPayment(deps: ProcessorDeps, invoice: Stripe.Invoice, known?: string): void {
  const intent = known
    ? { id: known }
    : createIntent(deps, {
        amount: invoice.amount_due,
        currency: invoice.currency,
        customer: String(invoice.customer),
        description:
          invoice.billing_reason === 'subscription_create'
            ? 'Subscription creation'
            : 'Subscription update',
        metadata: {},
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
  put(deps, payment, { owner: invoice.id })
}

/** Tries to collect an open invoice; one with nothing to pay is paid at once. */
export function collect(
  deps: ProcessorDeps,
  invoiceId: string,
  method: Stripe.PaymentMethod | undefined,
  present: boolean,
): Attempt {
  const invoice = getExisting(deps, 'invoice', invoiceId)
  if (invoice.amount_due === 0) {
    markPaid(deps, invoice.id)
    return { status: 'succeeded' }
  }
  const outcome: Attempt = method
    ? attemptPayment(deps, findIntentId(deps, invoiceId), method, present)
    : {
        status: 'failed',
        error: {
          type: 'card_error',
          code: 'missing_payment_method',
          message: 'There is no payment method.',
        },
      }

  if (outcome.status === 'succeeded') markPaid(deps, invoiceId)
  if (outcome.status === 'failed') markUnpaid(deps, invoiceId)
  if (outcome.status === 'requires_action') markActionRequired(deps, invoiceId, present)
  return outcome
}

export function markPaid(deps: ProcessorDeps, invoiceId: string): Stripe.Invoice {
  const invoice = getExisting(deps, 'invoice', invoiceId)
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
  put(deps, paid)
  for (const payment of listPayments(deps, invoiceId)) {
    put(deps, {
      ...payment,
      amount_paid: payment.amount_requested,
      status: 'paid',
      status_transitions: { canceled_at: null, paid_at: at },
    })
  }
  emit(deps, 'invoice.paid', paid)
  return paid
}

/** Days between payment attempts. */
const RETRY_DAYS = [3, 5, 7]
const DAY_S = 24 * 3_600

export function markUnpaid(deps: ProcessorDeps, invoiceId: string): Stripe.Invoice {
  const unpaid = countAttempt(deps, invoiceId)
  emit(deps, 'invoice.payment_failed', unpaid)
  return unpaid
}

/**
 * The bank requires confirmation. Without the customer the payment fails for now and is retried
 * like others.
 */
function markActionRequired(deps: ProcessorDeps, invoiceId: string, present: boolean): void {
  const attempted = countAttempt(deps, invoiceId)
  if (!present) emit(deps, 'invoice.payment_failed', attempted)
  emit(deps, 'invoice.payment_action_required', attempted)
}

function countAttempt(deps: ProcessorDeps, invoiceId: string): Stripe.Invoice {
  const invoice = getExisting(deps, 'invoice', invoiceId)
  const days =
    invoice.billing_reason === 'subscription_create' ? undefined : RETRY_DAYS[invoice.attempt_count]
  return put(deps, {
    ...invoice,
    attempted: true,
    attempt_count: invoice.attempt_count + 1,
    next_payment_attempt: days === undefined ? null : seconds(deps) + days * DAY_S,
  })
}

export function voidInvoice(deps: ProcessorDeps, invoiceId: string): void {
  const invoice = getExisting(deps, 'invoice', invoiceId)
  const voided: Stripe.Invoice = {
    ...invoice,
    status: 'void',
    auto_advance: false,
    next_payment_attempt: null,
    status_transitions: { ...invoice.status_transitions, voided_at: seconds(deps) },
  }
  put(deps, voided)
  cancelIntent(deps, findIntentId(deps, invoiceId))
  emit(deps, 'invoice.voided', voided)
}

export const listPayments = (deps: Db, invoiceId: string) => all(deps, 'invoice_payment', invoiceId)

export function findIntentId(deps: Db, invoiceId: string): string {
  return String(listPayments(deps, invoiceId)[0]?.payment.payment_intent ?? '')
}

export function findInvoiceByIntent(deps: Db, intentId: string): Stripe.Invoice | undefined {
  const payment = all(deps, 'invoice_payment').find(
    (one) => one.payment.payment_intent === intentId,
  )
  return payment && get<Stripe.Invoice>(deps, String(payment.invoice))
}

export const readSubscriptionId = (invoice: Stripe.Invoice): string =>
  String(invoice.parent?.subscription_details?.subscription ?? '')
