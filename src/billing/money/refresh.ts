/**
 * Reads a payment's state from the processor (amount, refunds, disputes) and writes it. The last
 * read wins regardless of the events' order: a read restarts if another one was written meanwhile.
 */
import type { Stripe } from 'stripe'
import { findUser, lockUser } from '#identity/users.ts'
import type { Instant } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { toInstant } from '../accounts.ts'
import { findOwnerId } from '../customers.ts'
import type { BillingDeps } from '../deps.ts'
import { readField, readId, readList, readNumber, readText } from '../object-reader.ts'
import { reportDispute } from '../operator-notices.ts'
import { writeSlices } from '../paid-slices.ts'
import { nullIfMissing, type Processor } from '../processor.ts'
import { listWithFees, readFee } from './fees.ts'
import {
  findPayment,
  lockPayment,
  type PaymentFollower,
  type PaymentRow,
  saveDispute,
  saveRefund,
  updatePayment,
} from './payments.ts'
import type { DisputeState, DisputesTable, RefundsTable } from './tables.ts'

export type MoneyDeps = Pick<
  BillingDeps,
  'config' | 'db' | 'clock' | 'log' | 'inbox' | 'jobs' | 'processor' | 'business'
> & { followers: readonly PaymentFollower[] }

const READINGS_MAX = 10
const LISTED_MAX = 100

/**
 * `unknown`: the processor has no such payment (it was free, or belongs to another account).
 * `foreign`: it pays for nothing that this service sells.
 */
export type Refreshed = 'written' | 'foreign' | 'unknown'

/**
 * Reads and writes the payment; `settle` runs in the same transaction unless the payment is
 * unknown.
 * @throws when the processor cannot be reached.
 */
export async function refreshPayment(
  deps: MoneyDeps,
  id: string,
  settle: (tx: Db) => Promise<void> = async () => {},
): Promise<Refreshed> {
  const { db, processor } = deps
  for (let readings = 1; readings <= READINGS_MAX; readings++) {
    const version = (await findPayment(db, id))?.version ?? 0
    const state = processor && id.startsWith('pi_') ? await readPayment(deps, processor, id) : null
    if (state === null) return 'unknown'
    const outcome = await transaction(db, async (tx) => {
      const written = await writeState(deps, tx, { id, version, state })
      if (written !== 'outdated') await settle(tx)
      return written
    })
    if (outcome !== 'outdated') return outcome
  }
  throw new Error('too many concurrent reads of one payment')
}

/** Changes the row and everything that depends on it, including what it bought. */
export async function changePayment(
  { followers, ...deps }: Pick<MoneyDeps, 'followers' | 'business' | 'config' | 'clock'>,
  tx: Db,
  known: PaymentRow,
  change: Partial<PaymentRow>,
): Promise<void> {
  await updatePayment(deps, tx, known, change)
  const changed = { ...known, ...change }
  for (const follow of followers) await follow(tx, changed, known)
  if (changed.user_id !== null && changed.kind === 'subscription')
    await writeSlices(deps, tx, changed.user_id)
}

type PaymentState = {
  customerId: string | null
  metadata: { userId: string | null; tier: string | null }
  refunds: RefundsTable[]
  disputes: { row: DisputesTable; state: DisputeState | null; due: number | null }[]
  row: Pick<PaymentRow, 'amount_cents' | 'refunded_cents' | 'is_refunded' | 'dispute'>
  /** Absent when the charge lacks them. */
  details: Partial<Pick<PaymentRow, 'currency' | 'paid_at' | 'fee_cents' | 'fee_currency'>>
}

async function readPayment({ clock }: Pick<MoneyDeps, 'clock'>, processor: Processor, id: string) {
  const about = { payment_intent: id, limit: LISTED_MAX }
  const charges = readList(
    await nullIfMissing(listWithFees((params) => processor.charges.list(params), about)),
  )
  const charge = charges.find((item) => readText(item, 'status') === 'succeeded')
  if (!charge) return null
  // The charge itself no longer shows failed refunds.
  const [refunds, disputes] = await Promise.all([
    listWithFees((params) => processor.refunds.list(params), about),
    processor.disputes.list(about),
  ])
  const of = { id, currency: readText(charge, 'currency') ?? 'usd', now: clock.now() }
  const refundRows = readList(refunds).flatMap((refund) =>
    readRow(refund, of, readText(refund, 'status') ?? 'pending'),
  )
  const disputeRows = (readList(disputes) as Stripe.Dispute[]).flatMap((dispute) =>
    readRow(dispute, of, readDisputeStatus(dispute)).map((row) => ({
      row,
      state: readDisputeState(dispute),
      due: readNumber(dispute, 'evidence_details', 'due_by'),
    })),
  )
  const refundedCents = refundRows
    .filter(isRefunding)
    .reduce((sum, { amount_cents }) => sum + amount_cents, 0)
  const amountCents = readNumber(charge, 'amount') ?? 0
  const states = disputeRows.map(({ state }) => state)
  const [currency, createdS] = [readText(charge, 'currency'), readNumber(charge, 'created')]
  const fee = readFee(charge)
  const state: PaymentState = {
    customerId: readId(readField(charge, 'customer')),
    metadata: {
      userId: readText(charge, 'metadata', 'user_id'),
      tier: readText(charge, 'metadata', 'tier'),
    },
    refunds: refundRows,
    disputes: disputeRows,
    row: {
      amount_cents: readNumber(charge, 'amount_captured') || amountCents,
      refunded_cents: refundedCents,
      is_refunded: refundedCents > 0 && refundedCents >= amountCents,
      dispute: (['lost', 'open', 'won'] as const).find((word) => states.includes(word)) ?? null,
    },
    details: {
      ...(currency === null ? {} : { currency }),
      ...(createdS === null ? {} : { paid_at: toInstant(createdS) }),
      ...(fee.fee_cents === null ? {} : fee),
    },
  }
  return state
}

/** Returns a refund or dispute as a list of one row; empty without an id. */
function readRow(
  object: unknown,
  of: { id: string; currency: string; now: Instant },
  status: string,
): (RefundsTable & DisputesTable)[] {
  const [id, createdS] = [readText(object, 'id'), readNumber(object, 'created')]
  if (id === null) return []
  return [
    {
      id,
      payment_id: of.id,
      amount_cents: readNumber(object, 'amount') ?? 0,
      currency: readText(object, 'currency') ?? of.currency,
      ...readFee(object),
      status,
      reason: readText(object, 'reason'),
      created_at: createdS === null ? of.now : toInstant(createdS),
    },
  ]
}

async function writeState(
  deps: MoneyDeps,
  tx: Db,
  { id, version, state }: { id: string; version: number; state: PaymentState },
): Promise<Refreshed | 'outdated'> {
  const { customerId, metadata, refunds, disputes, row, details } = state
  const isPurchase = metadata.userId !== null && metadata.tier !== null
  const findOwner = () => (customerId === null ? null : findOwnerId(tx, customerId))
  // Locks the user first, so that a concurrent deletion finishes before the owner is read.
  const payer = (await findOwner()) ?? (isPurchase ? metadata.userId : null)
  if (payer) await lockUser(tx, payer)
  const owner = await findOwner()
  if (owner === null && !isPurchase && !(await findPayment(tx, id))) return 'foreign'

  const known = await lockPayment(tx, id, deps.clock.now())
  if (known.version !== version) return 'outdated'
  for (const refund of refunds) await saveRefund(tx, refund)
  const buyer = isPurchase ? await findUser(tx, metadata.userId ?? '') : null
  const userId = known.user_id ?? owner ?? buyer?.id ?? null
  const kind = known.kind ?? (isPurchase ? 'purchase' : owner === null ? null : 'subscription')
  for (const { row: disputeRow, state: word, due } of disputes) {
    await saveDispute(tx, disputeRow)
    if (word)
      await reportDispute(deps, tx, disputeRow, {
        state: word,
        payment: { id, kind, user_id: userId },
        due,
      })
  }
  await changePayment(deps, tx, known, {
    ...row,
    ...details,
    paid_at: details.paid_at ?? known.paid_at ?? deps.clock.now(),
    user_id: userId,
    customer_id: owner === null ? known.customer_id : customerId,
    kind,
    tier: known.tier ?? (isPurchase ? metadata.tier : null),
    version: version + 1,
  })
  return 'written'
}

/** Returns true while the payer has the refunded money, or it is on its way. */
export function isRefunding({ status }: { status: string | null }): boolean {
  return status !== 'failed' && status !== 'canceled'
}

/** Returns null for inquiries, which hold no money, and for prevented disputes. */
export function readDisputeState(dispute: Stripe.Dispute): DisputeState | null {
  switch (readText(dispute, 'status')) {
    case 'needs_response':
    case 'under_review':
      return 'open'
    case 'won':
      return 'won'
    case 'lost': {
      // A lost dispute may be reinstated later: then the withdrawn money has been returned.
      const moved = readList(readField(dispute, 'balance_transactions'))
      const netCents = moved.reduce<number>(
        (sum, transaction) => sum + (readNumber(transaction, 'amount') ?? 0),
        0,
      )
      return moved.length > 1 && netCents >= 0 ? 'won' : 'lost'
    }
    default:
      return null
  }
}

/**
 * Returns the processor's status, or `reinstated` for a dispute that the processor still calls
 * lost.
 */
export function readDisputeStatus(dispute: Stripe.Dispute): string {
  const word = readText(dispute, 'status') ?? 'unknown'
  return word === 'lost' && readDisputeState(dispute) === 'won' ? 'reinstated' : word
}
