/**
 * Reads what became of a payment from the processor (what was paid, refunds, disputes) and writes it. Whatever the order of events, the
 * last reading decides: one during which another was written begins anew.
 */
import type { Stripe } from 'stripe'
import { findUser, lockUser } from '#identity/users.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { instantOf } from '../accounts.ts'
import { ownerOf } from '../customers.ts'
import type { BillingDeps } from '../deps.ts'
import { tellOfDispute } from '../operator-notices.ts'
import { type Processor, unlessMissing } from '../processor.ts'
import {
  findPayment,
  keepDispute,
  keepRefund,
  lockPayment,
  type PaymentFollower,
  type PaymentRow,
  updatePayment,
} from './payments.ts'
import type { DisputeState, RefundsTable } from './tables.ts'

export type MoneyDeps = Pick<
  BillingDeps,
  'config' | 'db' | 'clock' | 'log' | 'inbox' | 'jobs' | 'processor' | 'business'
> & {
  followers: readonly PaymentFollower[]
}

const READINGS_MAX = 10
const LISTED_MAX = 100

/** `unknown`: the processor knows no such payment (it was free, or another account's). `foreign`: none of what we sell. */
export type Refreshed = 'written' | 'foreign' | 'unknown'

/** `settle` is written with it, unless the payment is unknown. @throws when the processor cannot be asked. */
export async function refreshPayment(
  deps: MoneyDeps,
  id: string,
  settle: (tx: Db) => Promise<void> = async () => {},
): Promise<Refreshed> {
  const { db, processor } = deps
  for (let readings = 1; readings <= READINGS_MAX; readings++) {
    const version = (await findPayment(db, id))?.version ?? 0
    const state = processor && id.startsWith('pi_') ? await readPayment(processor, id) : null
    if (state === null) return 'unknown'
    const outcome = await transaction(db, async (tx) => {
      const written = await writeState(deps, tx, { id, version, state })
      if (written !== 'outdated') await settle(tx)
      return written
    })
    if (outcome !== 'outdated') return outcome
  }
  throw new Error('a payment is read by too many at once')
}

/** Changes the row, and what hangs on it. */
export async function changePayment(
  { followers, business }: Pick<MoneyDeps, 'followers' | 'business'>,
  tx: Db,
  known: PaymentRow,
  change: Partial<PaymentRow>,
): Promise<void> {
  await updatePayment({ business }, tx, known, change)
  for (const follow of followers) await follow(tx, { ...known, ...change }, known)
}

type PaymentState = {
  customerId: string | null
  metadata: Stripe.Metadata
  refunds: RefundsTable[]
  disputes: Stripe.Dispute[]
  row: Pick<PaymentRow, 'amount_cents' | 'currency' | 'paid_at' | 'refunded_cents' | 'is_refunded' | 'dispute'>
}

async function readPayment(processor: Processor, id: string): Promise<PaymentState | null> {
  const about = { payment_intent: id, limit: LISTED_MAX }
  const charge = (await unlessMissing(processor.charges.list(about)))?.data.find(({ status }) => status === 'succeeded')
  if (!charge) return null
  // Of refunds that failed the charge tells nothing any more.
  const [{ data: refunds }, { data: disputes }] = await Promise.all([
    processor.refunds.list(about),
    processor.disputes.list(about),
  ])
  const refundedCents = refunds.filter(isRefunding).reduce((sum, { amount }) => sum + amount, 0)
  const words = disputes.map(disputeStateOf)
  return {
    customerId: idOf(charge.customer),
    metadata: charge.metadata ?? {},
    refunds: refunds.map((one) => ({ ...rowOf(one, id), status: one.status ?? 'pending' })),
    disputes,
    row: {
      amount_cents: charge.amount_captured || charge.amount,
      currency: charge.currency,
      paid_at: instantOf(charge.created),
      refunded_cents: refundedCents,
      is_refunded: refundedCents > 0 && refundedCents >= charge.amount,
      dispute: (['lost', 'open', 'won'] as const).find((word) => words.includes(word)) ?? null,
    },
  }
}

function rowOf({ id, amount, currency, reason, created }: Stripe.Refund | Stripe.Dispute, paymentId: string) {
  return {
    id,
    payment_id: paymentId,
    amount_cents: amount,
    currency,
    reason: reason ?? null,
    created_at: instantOf(created),
  }
}

async function writeState(
  deps: MoneyDeps,
  tx: Db,
  { id, version, state }: { id: string; version: number; state: PaymentState },
): Promise<Refreshed | 'outdated'> {
  const { customerId, metadata, refunds, disputes, row } = state
  const isPurchase = metadata.user_id !== undefined && metadata.tier !== undefined
  const ownerNow = () => (customerId === null ? null : ownerOf(tx, customerId))
  // The user's row first: a deletion that is under way ends before this looks who is there.
  const payer = (await ownerNow()) ?? (isPurchase ? metadata.user_id : null)
  if (payer) await lockUser(tx, payer)
  const owner = await ownerNow()
  if (owner === null && !isPurchase && !(await findPayment(tx, id))) return 'foreign'

  const known = await lockPayment(tx, id, deps.clock.now())
  if (known.version !== version) return 'outdated'
  for (const refund of refunds) await keepRefund(tx, refund)
  const buyer = isPurchase ? await findUser(tx, metadata.user_id ?? '') : null
  const userId = known.user_id ?? owner ?? buyer?.id ?? null
  for (const dispute of disputes) {
    await keepDispute(tx, { ...rowOf(dispute, id), status: wordOf(dispute) })
    if (disputeStateOf(dispute) === 'open') await tellOfDispute(deps, tx, dispute, { payment: id, userId })
  }
  await changePayment(deps, tx, known, {
    ...row,
    user_id: userId,
    customer_id: owner === null ? known.customer_id : customerId,
    kind: known.kind ?? (isPurchase ? 'purchase' : owner === null ? null : 'subscription'),
    tier: known.tier ?? (isPurchase ? (metadata.tier ?? null) : null),
    version: version + 1,
  })
  return 'written'
}

/** True while the money of a refund is with the payer, or on its way there. */
export function isRefunding({ status }: { status: string | null }): boolean {
  return status !== 'failed' && status !== 'canceled'
}

/** Null for an inquiry, which takes no money, and for one that was prevented. */
export function disputeStateOf({ status, balance_transactions }: Stripe.Dispute): DisputeState | null {
  switch (status) {
    case 'needs_response':
    case 'under_review':
      return 'open'
    case 'won':
      return 'won'
    case 'lost': {
      // Also a lost one may be reinstated later: then what was taken has been given back.
      const moved = balance_transactions ?? []
      const netCents = moved.reduce((sum, { amount }) => sum + amount, 0)
      return moved.length > 1 && netCents >= 0 ? 'won' : 'lost'
    }
    default:
      return null
  }
}

/** The processor's word, and our own for one that was reinstated, which the processor calls lost as before. */
export function wordOf(dispute: Stripe.Dispute): string {
  return dispute.status === 'lost' && disputeStateOf(dispute) === 'won' ? 'reinstated' : dispute.status
}

export function idOf(value: string | { id: string } | null | undefined): string | null {
  return typeof value === 'string' ? value : (value?.id ?? null)
}
