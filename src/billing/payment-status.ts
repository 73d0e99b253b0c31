/** What the payment that a subscription waits for comes to, in the processor's own words: `requires_action` where the bank asks its customer to confirm. */
import type { Stripe } from 'stripe'
import type { Account } from './accounts.ts'
import type { BillingDeps } from './deps.ts'
import { idOf } from './money/refresh.ts'
import { requireProcessor } from './processor.ts'
import { isLive, newestFirst, type SubscriptionFacts } from './subscription-state.ts'

const WAITING = ['incomplete', 'past_due', 'unpaid', 'paused']

type Waiting = Pick<Stripe.Subscription, 'status' | 'latest_invoice' | 'status_details'>

/** Null where none is missing. Asks the processor once more only of what waits. */
export async function paymentStatusOf(
  deps: Pick<BillingDeps, 'processor'>,
  subscription: Waiting,
): Promise<string | null> {
  return (await openInvoiceOf(deps, subscription))?.payment ?? null
}

/** The open invoice that a subscription waits for. A pause waits for that of its resumption, and for none from before it. */
export async function openInvoiceOf(
  { processor }: Pick<BillingDeps, 'processor'>,
  { status, latest_invoice: latest, status_details: details }: Waiting,
): Promise<{ id: string; payment: string | null } | null> {
  const id = idOf(latest)
  if (id === null || !WAITING.includes(status)) return null
  const invoice = await requireProcessor(processor).invoices.retrieve(id, {
    expand: ['payments.data.payment.payment_intent'],
  })
  const isBeforePause = status === 'paused' && invoice.created < (details?.paused?.transitioned_at ?? 0)
  return invoice.status === 'open' && !isBeforePause ? { id, payment: paymentOf(invoice) } : null
}

/** Of an open invoice. */
export function paymentOf({ payments }: Stripe.Invoice): string | null {
  for (const { payment } of payments?.data ?? []) {
    if (typeof payment.payment_intent === 'object') return payment.payment_intent?.status ?? null
  }
  return null
}

/** Of the subscription that counts; where none runs, of one that waits for its first payment. */
export function missingPayment(
  subscriptions: readonly SubscriptionFacts[],
  counting: SubscriptionFacts | undefined,
): string | null {
  if (counting && isLive(counting)) return counting.paymentStatus ?? null
  return newestUnpaid(subscriptions)?.paymentStatus ?? null
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
    is_pending_newer: counting !== undefined && pending !== undefined && newestFirst(pending, counting) < 0,
  }
}

const newestUnpaid = (subscriptions: readonly SubscriptionFacts[]): SubscriptionFacts | undefined =>
  subscriptions.filter(({ status, paymentStatus }) => status === 'incomplete' && paymentStatus).sort(newestFirst)[0]
