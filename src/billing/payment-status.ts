/**
 * The state of the payment that a subscription waits for, as the processor names it: `requires_action` when the customer must confirm it
 * at their bank.
 */
import type { Stripe } from 'stripe'
import type { Account } from './accounts.ts'
import type { BillingDeps } from './deps.ts'
import { at, idOf, listOf, number, text } from './object-reader.ts'
import { requireProcessor, unlessMissing } from './processor.ts'
import { isLive, newestFirst, type SubscriptionFacts } from './subscription-state.ts'

const WAITING = ['incomplete', 'past_due', 'unpaid', 'paused']

type Waiting = Pick<Stripe.Subscription, 'status' | 'latest_invoice' | 'status_details'>

export type OpenInvoice = {
  id: string
  payment: string | null
  error: string | null
  dueCents: number | null
}

/** Null where none is missing. Asks the processor once more only of what waits. */
export async function readMissingPayment(
  deps: Pick<BillingDeps, 'processor'>,
  subscription: Waiting,
): Promise<Pick<SubscriptionFacts, 'paymentStatus' | 'paymentError' | 'paymentDueCents'>> {
  const open = await openInvoiceOf(deps, subscription)
  return {
    paymentStatus: open?.payment ?? null,
    paymentError: open?.error ?? null,
    paymentDueCents: open?.dueCents ?? null,
  }
}

/** The open invoice that a subscription waits for. A pause waits for that of its resumption, and for none from before it. */
export async function openInvoiceOf(
  { processor }: Pick<BillingDeps, 'processor'>,
  { status, latest_invoice: latest, status_details: details }: Waiting,
): Promise<OpenInvoice | null> {
  const id = idOf(latest)
  if (id === null || !WAITING.includes(status)) return null
  const invoice = await unlessMissing(
    requireProcessor(processor).invoices.retrieve(id, {
      expand: ['payments.data.payment.payment_intent'],
    }),
  )
  if (text(invoice, 'status') !== 'open') return null
  const createdS = number(invoice, 'created')
  const pausedS = number(details, 'paused', 'transitioned_at')
  const isBeforePause =
    status === 'paused' && createdS !== null && pausedS !== null && createdS < pausedS
  if (isBeforePause) return null
  const intents = listOf(at(invoice, 'payments')).map((one) => at(one, 'payment', 'payment_intent'))
  const intent = intents.find((one) => one instanceof Object) ?? null
  return {
    id,
    payment: text(intent, 'status'),
    error: text(intent, 'last_payment_error', 'message'),
    dueCents: number(invoice, 'amount_remaining'),
  }
}

/** Of the subscription that counts; where none runs, of one that waits for its first payment. */
export function missingPayment(
  subscriptions: readonly SubscriptionFacts[],
  counting: SubscriptionFacts | undefined,
): Pick<Account, 'payment_status' | 'payment_error' | 'payment_due_cents'> {
  const waiting = counting && isLive(counting) ? counting : newestUnpaid(subscriptions)
  return {
    payment_status: waiting?.paymentStatus ?? null,
    payment_error: waiting?.paymentError ?? null,
    payment_due_cents: waiting?.paymentDueCents ?? null,
  }
}

/** The checkout that waits for its first payment beside a subscription that runs. */
export function pendingCheckout(
  subscriptions: readonly SubscriptionFacts[],
  counting: SubscriptionFacts | undefined,
): Pick<Account, 'pending_price_id' | 'pending_payment_status' | 'is_pending_newer'> {
  const pending = counting && isLive(counting) ? newestUnpaid(subscriptions) : undefined
  return {
    pending_price_id: pending?.priceIds[0] ?? null,
    pending_payment_status: pending?.paymentStatus ?? null,
    is_pending_newer:
      counting !== undefined && pending !== undefined && newestFirst(pending, counting) < 0,
  }
}

const newestUnpaid = (subscriptions: readonly SubscriptionFacts[]): SubscriptionFacts | undefined =>
  subscriptions
    .filter(({ status, paymentStatus }) => status === 'incomplete' && paymentStatus)
    .sort(newestFirst)[0]
