/**
 * A plan that was paid twice, for example in two tabs: the newer subscription stays, the older one
 * is refunded and cancelled. If credit paid part of the older one, it is credited instead. The
 * customer gets one email either way.
 */
import { findUser } from '#identity/users.ts'
import { planReplacedEmail } from '#mail/billing-emails.ts'
import { HOUR_MS } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import type { Locale } from '#platform/locale.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import { type CancelRequest, cancelSubscription } from './cancellations.ts'
import type { BillingDeps } from './deps.ts'
import { saveSubscriptionInvoices } from './money/invoices.ts'
import { type MoneyDeps, refreshPayment } from './money/refresh.ts'
import { markSent, sendNotice } from './notices.ts'
import { readField, readId, readList, readNumber, readText } from './object-reader.ts'
import { reportRefundedDouble } from './operator-notices.ts'
import { nullIfMissing, requireProcessor } from './processor.ts'
import { buildRefundKey } from './reversals.ts'
import type { SubscriptionFacts } from './subscription-state.ts'

/**
 * A second checkout of the same price within this time is a mistake; after a longer time the plan
 * may have been used.
 */
const DOUBLE_WITHIN_S = HOUR_MS / 1000

export function isDouble(older: SubscriptionFacts, newer: SubscriptionFacts): boolean {
  return older.priceIds[0] === newer.priceIds[0] && newer.created - older.created <= DOUBLE_WITHIN_S
}

export const REPLACE_JOB = 'billing.replace-subscription'
export type ReplaceRequest = CancelRequest & {
  userId: string
  insteadOf: string
  isDouble: boolean
}

/** Ends a subscription that another one replaced. Idempotent. */
export async function replaceSubscription(
  deps: BillingDeps & MoneyDeps,
  { userId, isDouble, ...request }: ReplaceRequest,
): Promise<void> {
  const refunded = isDouble ? await refundPayment(deps, userId, request) : null
  const isEnded = await cancelSubscription(
    deps,
    refunded === null ? request : { ...request, isCredited: false, isBilled: false },
  )
  const isCredited = refunded === null && request.isCredited !== false
  // Credit reduces the allowance now, since its event may arrive late.
  if (isCredited) await saveSubscriptionInvoices(deps, request.subscriptionId)
  if (!isEnded && refunded === null) return
  await transaction(deps.db, async (tx) => {
    const user = await findUser(tx, userId)
    if (!user || (refunded === null && !isCredited)) return
    const { language } = deps.config.brand
    await sendNotice(
      deps,
      tx,
      userId,
      `replaced:${request.subscriptionId}`,
      planReplacedEmail(deps.config, {
        user,
        refunded: formatRefund(refunded, user.locale ?? language),
      }),
    )
    const amount = formatRefund(refunded, language)
    if (amount !== null)
      await reportRefundedDouble(deps, tx, user, { ...request, refunded: amount })
  })
}

type Refund = { amount: number; currency: string }

const formatRefund = (refund: Refund | null, locale: Locale): string | null =>
  refund && formatMoney(refund.amount, refund.currency, { locale })

/**
 * Refunds the older payment and returns the amount; null unless a card or bank paid all
 * of it.
 */
async function refundPayment(
  deps: MoneyDeps,
  userId: string,
  request: Omit<ReplaceRequest, 'userId' | 'isDouble'>,
): Promise<Refund | null> {
  const { invoices, refunds, subscriptions } = requireProcessor(deps.processor)
  const replacement = await nullIfMissing(subscriptions.retrieve(request.insteadOf))
  if (replacement?.status !== 'active') return null
  const { data } = await invoices.list({
    subscription: request.subscriptionId,
    limit: 2,
    expand: ['data.payments'],
  })
  const [invoice] = data
  const paid = readList(readField(invoice, 'payments')).filter(
    (payment) => readText(payment, 'status') === 'paid',
  )
  const intent = readId(readField(paid[0], 'payment', 'payment_intent'))
  const [cents, total, currency] = [
    readNumber(invoice, 'amount_paid'),
    readNumber(invoice, 'total'),
    readText(invoice, 'currency'),
  ]
  if (data.length !== 1 || paid.length !== 1 || !intent || !cents || cents !== total || !currency)
    return null
  // The email about the replaced plan names the refund, so the usual refund email is skipped.
  await transaction(deps.db, (tx) => markSent(deps, tx, userId, buildRefundKey(intent, cents)))
  await refunds
    .create(
      { payment_intent: intent, reason: 'duplicate' },
      { idempotencyKey: `refund-double:${intent}` },
    )
    .catch((error: { code?: string }) => {
      if (error.code !== 'charge_already_refunded') throw error
    })
  // The refunded payment buys nothing from now on, even if its event arrives late.
  await refreshPayment(deps, intent)
  return { amount: inUnits(cents, currency), currency }
}
