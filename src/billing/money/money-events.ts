/**
 * Events about refunds and disputes, of subscriptions and purchases alike. An event only triggers a
 * read; when the processor does not have the payment, the event itself is applied.
 */
import type { Stripe } from 'stripe'
import { transaction } from '#platform/db/db.ts'
import type { Inbox, InboxEvent } from '#platform/jobs/inbox.ts'
import { hasAnyAccount } from '../accounts.ts'
import type { EventListener } from '../missed-events.ts'
import { readId } from '../object-reader.ts'
import { lockPayment, type PaymentRow } from './payments.ts'
import {
  changePayment,
  isRefunding,
  type MoneyDeps,
  readDisputeState,
  refreshPayment,
} from './refresh.ts'
import type { DisputeState } from './tables.ts'

export const MONEY_SOURCE = 'processor.money'

export type MoneyEvent =
  | { kind: 'refunded'; paymentId: string; refundedCents: number; isFull: boolean }
  | { kind: 'refund-failed'; paymentId: string }
  | { kind: 'disputed'; paymentId: string; dispute: DisputeState }

/** Both webhook endpoints accept these types. */
export const MONEY_EVENT_TYPES = [
  'charge.refunded',
  'refund.failed',
  'refund.updated',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'charge.dispute.funds_reinstated',
] as const

export const MONEY_EVENTS: EventListener = {
  source: MONEY_SOURCE,
  types: MONEY_EVENT_TYPES,
  isAwaiting: ({ db }) => hasAnyAccount(db),
  read: (event) => readMoneyEvent(event as Stripe.Event),
}

/** Stores events about refunds and disputes; returns false for other types. */
export async function receiveMoneyEvent(
  { inbox }: { inbox: Inbox },
  sent: Stripe.Event,
): Promise<boolean> {
  if (!MONEY_EVENT_TYPES.some((type) => type === sent.type)) return false
  const event = readMoneyEvent(sent)
  if (event) await inbox.receive(MONEY_SOURCE, sent.id, event)
  return true
}

function readMoneyEvent(event: Stripe.Event): MoneyEvent | null {
  switch (event.type) {
    case 'charge.refunded':
      return readRefund(event.data.object)
    case 'refund.failed':
    case 'refund.updated':
      return readFailedRefund(event.data.object)
    case 'charge.dispute.created':
    case 'charge.dispute.updated':
    case 'charge.dispute.closed':
      return readDispute(event.data.object, readDisputeState(event.data.object))
    case 'charge.dispute.funds_reinstated':
      return readDispute(event.data.object, 'won')
    default:
      return null
  }
}

/** Idempotent. @throws when the processor cannot be reached; the inbox retries. */
export async function applyMoneyEvent(
  deps: MoneyDeps,
  event: MoneyEvent,
  settle: InboxEvent['settle'],
): Promise<void> {
  if ((await refreshPayment(deps, event.paymentId, settle)) !== 'unknown') return
  await transaction(deps.db, async (tx) => {
    const known = await lockPayment(tx, event.paymentId, deps.clock.now())
    await changePayment(deps, tx, known, computeChange(event, known))
    await settle(tx)
  })
}

function computeChange(event: MoneyEvent, known: PaymentRow): Partial<PaymentRow> {
  switch (event.kind) {
    case 'refunded':
      return {
        // Of two partial refunds the later event may arrive first, so the sum only grows.
        refunded_cents: Math.max(known.refunded_cents, event.refundedCents),
        // A refund event that arrives after its failure revokes again: without the processor, their
        // order is unknown.
        is_refunded: known.is_refunded || event.isFull,
      }
    case 'refund-failed':
      // The sum stays: several events report one failure, and each would subtract it again.
      return { is_refunded: false }
    case 'disputed':
      // A late opening event does not reopen a closed dispute.
      return event.dispute === 'open' && known.dispute !== null ? {} : { dispute: event.dispute }
  }
}

function readRefund(charge: Stripe.Charge): MoneyEvent | null {
  const paymentId = readId(charge.payment_intent)
  if (!paymentId) return null
  const isFull =
    charge.refunded === true || (charge.amount > 0 && charge.amount_refunded >= charge.amount)
  return { kind: 'refunded', paymentId, refundedCents: charge.amount_refunded ?? 0, isFull }
}

/** A failed refund: the bank could not return the money to the payer. */
function readFailedRefund(refund: Stripe.Refund): MoneyEvent | null {
  const paymentId = readId(refund.payment_intent)
  if (!paymentId || isRefunding(refund)) return null
  return { kind: 'refund-failed', paymentId }
}

function readDispute(dispute: Stripe.Dispute, state: DisputeState | null): MoneyEvent | null {
  const paymentId = readId(dispute.payment_intent)
  return paymentId && state ? { kind: 'disputed', paymentId, dispute: state } : null
}
