/**
 * Subscriptions whose payment was taken back. While a bank disputes a payment, the plan is closed
 * and nothing is charged. A lost dispute, or a full refund of the latest payment, ends the
 * subscription without credit.
 */
import './money/tables.ts'
import { findUser } from '#identity/users.ts'
import { disputedEmail, type RefundedPurchase, refundedEmail } from '#mail/billing-emails.ts'
import type { Db } from '#platform/db/db.ts'
import { formatDate } from '#platform/locale.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import { CANCEL_JOB, type CancelRequest } from './cancellations.ts'
import type { BillingDeps } from './deps.ts'
import type { PaymentRow } from './money/payments.ts'
import { sendNotice } from './notices.ts'
import { readOpenInvoice } from './payment-status.ts'
import { nullIfMissing, requireProcessor } from './processor.ts'
import { PAUSED_FROM, SUSPENDED } from './subscription-facts.ts'
import { isLive, type SubscriptionFacts } from './subscription-state.ts'

/** `disputed`: a bank holds the money. `reversed`: the money is gone. */
export type Reversal = 'disputed' | 'reversed'

/** Returns reversals by subscription id; subscriptions with valid payments are absent. */
export async function findReversals(db: Db, userId: string): Promise<Map<string, Reversal>> {
  const paid = await db
    .selectFrom('invoices as i')
    .innerJoin('payments as p', 'p.id', 'i.payment_id')
    .select(['i.subscription_id', 'p.dispute', 'p.is_refunded'])
    .where('i.user_id', '=', userId)
    .where('i.paid_cents', '>', 0)
    .orderBy('i.created_at')
    .orderBy('i.id')
    .execute()
  const reversals = new Map<string, Reversal>()
  for (const [id, rows] of Map.groupBy(paid, ({ subscription_id }) => subscription_id ?? '')) {
    const isLost = rows.some(({ dispute }) => dispute === 'lost')
    if (isLost || rows.at(-1)?.is_refunded) reversals.set(id, 'reversed')
    else if (rows.some(({ dispute }) => dispute === 'open')) reversals.set(id, 'disputed')
  }
  return reversals
}

/**
 * Returns the subscription with its effective status, also before the processor has suspended or
 * cancelled it.
 */
export function withReversal(
  subscription: SubscriptionFacts,
  reversals: ReadonlyMap<string, Reversal>,
): SubscriptionFacts {
  const reversal = reversals.get(subscription.id)
  if (!reversal || !isLive(subscription)) return subscription
  return { ...subscription, status: reversal === 'reversed' ? 'canceled' : 'paused' }
}

export const SUSPEND_JOB = 'billing.suspend-subscription'
export type SuspendRequest = { userId: string; subscriptionId: string; suspends: boolean }

/**
 * Enqueues the suspensions and cancellations at the processor, in the transaction that read the
 * subscriptions.
 */
export async function applyReversals(
  { jobs }: Pick<BillingDeps, 'jobs'>,
  tx: Db,
  {
    userId,
    read,
    reversals,
  }: {
    userId: string
    read: readonly SubscriptionFacts[]
    reversals: ReadonlyMap<string, Reversal>
  },
): Promise<void> {
  for (const subscription of read.filter(isLive)) {
    const reversal = reversals.get(subscription.id)
    if (reversal === 'reversed') {
      const request: CancelRequest = {
        subscriptionId: subscription.id,
        isCredited: false,
        isBilled: false,
      }
      await jobs.enqueue(tx, CANCEL_JOB, request, {
        key: `${CANCEL_JOB}:${subscription.id}:reversed`,
      })
      continue
    }
    const suspends = reversal === 'disputed'
    // A paused plan charges nothing either, and cannot be resumed while the payment is disputed.
    if (
      suspends === (subscription.isSuspendedForDispute === true) ||
      (suspends && subscription.status === 'paused')
    )
      continue
    const request: SuspendRequest = { userId, subscriptionId: subscription.id, suspends }
    await jobs.enqueue(tx, SUSPEND_JOB, request, {
      key: `${SUSPEND_JOB}:${subscription.id}:${suspends}`,
    })
  }
}

/**
 * Voids invoices while the payment is disputed, or resumes billing. `sync` reads the user again
 * afterwards.
 */
export async function suspendSubscription(
  deps: Pick<BillingDeps, 'processor' | 'db'>,
  { userId, subscriptionId, suspends }: SuspendRequest,
  sync: (userId: string) => Promise<unknown>,
): Promise<void> {
  const { subscriptions, invoices } = requireProcessor(deps.processor)
  const isDisputed = (await findReversals(deps.db, userId)).get(subscriptionId) === 'disputed'
  const found =
    isDisputed === suspends ? await nullIfMissing(subscriptions.retrieve(subscriptionId)) : null
  if (found && isLive(found)) {
    const isPausing = Boolean(found.metadata?.[PAUSED_FROM])
    await subscriptions.update(subscriptionId, {
      // A pause requested by the customer stays.
      ...(suspends
        ? { pause_collection: { behavior: 'void' as const } }
        : isPausing
          ? {}
          : { pause_collection: '' as const }),
      metadata: { [SUSPENDED]: suspends ? 'true' : '' },
    })
    // The processor would still collect an invoice that is already open.
    const open = suspends ? await readOpenInvoice(deps, found) : null
    if (open) await invoices.voidInvoice(open.id, {}, { idempotencyKey: `void:${open.id}` })
  }
  await sync(userId)
}

export const REVERSAL_JOB = 'billing.follow-reversal'

/** Reads a subscription again after its payment was disputed, refunded or returned. */
export async function followPayment(
  deps: Pick<BillingDeps, 'config' | 'jobs' | 'clock'>,
  tx: Db,
  payment: PaymentRow,
  before: PaymentRow,
): Promise<void> {
  await emailPayer(deps, tx, payment, before)
  if (payment.kind !== 'subscription') return
  if (payment.dispute === before.dispute && payment.is_refunded === before.is_refunded) return
  await enqueueReversalSync(deps, tx, payment)
}

/** Emails refunds and disputes of subscription payments. */
async function emailPayer(
  deps: Pick<BillingDeps, 'config' | 'jobs' | 'clock'>,
  tx: Db,
  payment: PaymentRow,
  before: PaymentRow,
): Promise<void> {
  const { id, user_id: userId, currency, kind } = payment
  if (userId === null) return
  // The shop emails refunds of purchases, with their products.
  if (kind !== 'purchase') await emailRefund(deps, tx, userId, payment, before)
  if (kind !== 'subscription' || payment.dispute !== 'open' || before.dispute === 'open') return
  const user = before.paid_at === null ? null : await findUser(tx, userId)
  if (!user?.is_active) return
  const amount = formatMoney(inUnits(payment.amount_cents, currency), currency, {
    locale: user.locale ?? deps.config.brand.language,
  })
  const email = disputedEmail(deps.config, { user, amount })
  await sendNotice(deps, tx, user.id, `disputed:${id}`, email)
}

/**
 * Emails a new refund to a user. Skips refunds that were recorded before the payment itself.
 * `purchase`: its facts, and the sentence when its license has ended.
 */
export async function emailRefund(
  deps: Pick<BillingDeps, 'config' | 'jobs' | 'clock'>,
  tx: Db,
  userId: string,
  payment: PaymentRow,
  before: PaymentRow,
  purchase: RefundedPurchase = { facts: [], ending: null },
): Promise<void> {
  const { id, currency, refunded_cents: refunded } = payment
  if (before.paid_at === null || refunded <= before.refunded_cents) return
  const user = await findUser(tx, userId)
  if (!user?.is_active) return
  const locale = user.locale ?? deps.config.brand.language
  const formatCents = (cents: number) => formatMoney(inUnits(cents, currency), currency, { locale })
  const email = refundedEmail(deps.config, {
    user,
    amount: formatCents(refunded - before.refunded_cents),
    paid: formatCents(payment.amount_cents),
    day: formatDate(payment.paid_at, locale),
    isEnding: payment.kind === 'subscription' && payment.is_refunded,
    purchase,
  })
  await sendNotice(deps, tx, user.id, buildRefundKey(id, refunded), email)
}

/** Key of the email about a payment's refunds: one email for each refunded sum. */
export const buildRefundKey = (paymentId: string, refundedCents: number): string =>
  `refunded:${paymentId}:${refundedCents}`

export async function enqueueReversalSync(
  { jobs }: Pick<BillingDeps, 'jobs'>,
  tx: Db,
  payment: PaymentRow,
): Promise<void> {
  const { id, user_id: userId, dispute, is_refunded } = payment
  if (userId === null) return
  await jobs.enqueue(
    tx,
    REVERSAL_JOB,
    { userId },
    { key: `${REVERSAL_JOB}:${id}:${dispute}:${is_refunded}` },
  )
}
