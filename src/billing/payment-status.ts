/** What the payment that a subscription waits for comes to, in the processor's own words: `requires_action` where the bank asks its customer to confirm. */
import type { Stripe } from 'stripe'
import type { BillingDeps } from './deps.ts'
import { idOf } from './money/refresh.ts'
import { requireProcessor } from './processor.ts'
import { isLive, type SubscriptionFacts } from './subscription-state.ts'

const WAITING = ['incomplete', 'past_due', 'unpaid', 'paused']

/** Null where none is missing. Asks the processor once more only of what waits. */
export async function paymentStatusOf(
  { processor }: Pick<BillingDeps, 'processor'>,
  { status, latest_invoice: latest }: Pick<Stripe.Subscription, 'status' | 'latest_invoice'>,
): Promise<string | null> {
  const id = idOf(latest)
  if (id === null || !WAITING.includes(status)) return null
  const invoice = await requireProcessor(processor).invoices.retrieve(id, {
    expand: ['payments.data.payment.payment_intent'],
  })
  return invoice.status === 'open' ? paymentOf(invoice) : null
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
  return (
    subscriptions.find(({ status, paymentStatus }) => status === 'incomplete' && paymentStatus)?.paymentStatus ?? null
  )
}
