import { recordAudit } from '#audit/audit.ts'
import { lockPayment, type PaymentRow, updatePayment } from '#billing/money/payments.ts'
import { emailRefund } from '#billing/reversals.ts'
import { findOrCreateGuest, recordGuest } from '#identity/account/guest-accounts.ts'
import { isUnclaimed } from '#identity/unclaimed-accounts.ts'
import { findUser, lockUser, type User } from '#identity/users.ts'
import { sendMail } from '#mail/mail.ts'
import { MINUTE_MS, plus } from '#platform/clock.ts'
import { type Db, isUniqueViolation, transaction } from '#platform/db/db.ts'
import { Named, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import type { Secrets } from '#platform/secrets.ts'
import { isTakenBack, settleChain } from '../orders/chains.ts'
import type { Listed } from '../products/product-list.ts'
import { PURCHASE_STATUSES } from '../tables.ts'
import { reportFailedRefund } from '../withdrawals/refunds.ts'
import { type Buyer, revokedEmail, saleEmail } from './emails.ts'
import { hashLicenseKey, parseLicenseKey } from './license-key.ts'
import { buildMembers, buildPurchase, type Payment } from './new-purchase.ts'
import type { PurchaseRow } from './store.ts'
import * as store from './store.ts'

export const CONFIRMATION_JOB = 'storefront.confirm-purchase'
/** Checks whether a tier was paid twice and informs the operator. */
export const PAID_TWICE_JOB = 'storefront.paid-twice'
/** A delay, because two simultaneous payments do not see each other before both have committed. */
const PAID_TWICE_AFTER_MS = MINUTE_MS
/** Compresses a release before its first download. */
export const PREPARE_JOB = 'storefront.prepare-release'
/** Closes an open upgrade after a refund of its purchase. */
export const CLOSE_CHECKOUT_JOB = 'storefront.close-checkout'

export type PurchaseDeps = Pick<
  Platform,
  'config' | 'db' | 'clock' | 'jobs' | 'secrets' | 'business'
> &
  Listed

/**
 * Records a payment; does nothing when it is already recorded. The confirmation with the license
 * key is sent after the commit.
 */
export async function recordPurchase(
  deps: PurchaseDeps,
  payment: Payment,
  /** The address and language that a guest gave at the payment page. */
  guest: Buyer | null,
  settle: (tx: Db) => Promise<void> = async () => {},
): Promise<void> {
  const record = () =>
    transaction(deps.db, (tx) => insertPurchase(deps, tx, payment, guest, settle))
  try {
    await record()
  } catch (error) {
    // Two payments of one guest created the account at once. The second attempt finds it.
    if (guest === null || !isUniqueViolation(error)) throw error
    await record()
  }
}

async function insertPurchase(
  deps: PurchaseDeps,
  tx: Db,
  payment: Payment,
  guest: Buyer | null,
  settle: (tx: Db) => Promise<void>,
): Promise<void> {
  const { clock, jobs, business } = deps
  const now = clock.now()
  // A repeated event must not create the account again after its owner has deleted it.
  if (payment.userId === null && (await store.findByPayment(tx, payment.ref))) return settle(tx)
  const { buyer, claimant, isNew } = await findBuyer(deps, tx, payment, guest)
  const known = await lockPayment(tx, payment.ref, now)
  const isReversed = isTakenBack(known)
  const from = await findOrigin(tx, payment)
  const status = isReversed ? 'refunded' : 'completed'
  const row = buildPurchase(deps, payment, { buyer, claimant, from, status })
  await settle(tx)
  // Among the events of one payment, only the checkout's contains tax.
  if (payment.taxCents !== null)
    await updatePayment({ business }, tx, known, { tax_cents: payment.taxCents })
  if (!(await store.insert(tx, row))) return
  const members = buildMembers(deps, payment, row, { buyer, claimant })
  for (const member of members) await store.insert(tx, member)
  await updatePayment({ business }, tx, known, {
    kind: 'purchase',
    user_id: row.user_id,
    tier: row.tier,
    amount_cents: row.amount_cents,
    currency: row.currency,
    paid_at: known.paid_at ?? now,
  })
  await settleChain(tx, row)
  if (buyer && isNew) await recordGuest(deps, tx, buyer.id)
  if (isReversed) return
  const sold = saleEmail(deps, (buyer ?? claimant ?? guest)?.email ?? null, row)
  await sendMail({ jobs, clock }, tx, sold, { isNotice: true })
  await lookForSecond({ clock, jobs }, tx, row)
  await enqueueDelivery({ jobs }, tx, row, members)
}

/**
 * Compresses the release, and emails the license key. The job only contains the purchase's id,
 * because a key in its payload would not be encrypted.
 */
export async function enqueueDelivery(
  { jobs }: Pick<PurchaseDeps, 'jobs'>,
  tx: Db,
  purchase: Pick<PurchaseRow, 'id' | 'tier'>,
  members: readonly PurchaseRow[] = [],
): Promise<void> {
  for (const { tier } of members.length > 0 ? members : [purchase])
    await jobs.enqueue(tx, PREPARE_JOB, { tier }, { key: `prepare:${tier}` })
  await jobs.enqueue(tx, CONFIRMATION_JOB, { purchaseId: purchase.id })
}

/**
 * Returns the account that has the purchase, or the account that may claim it. Anyone can give any
 * address at the payment page, so an account with a holder has to accept the purchase. Locks the
 * account first, so that its running deletion ends before it is read.
 */
async function findBuyer(
  deps: PurchaseDeps,
  tx: Db,
  { userId }: Payment,
  guest: Buyer | null,
): Promise<{ buyer: User | null; claimant: User | null; isNew: boolean }> {
  if (userId !== null) {
    await lockUser(tx, userId)
    return { buyer: await findUser(tx, userId), claimant: null, isNew: false }
  }
  if (guest === null) return { buyer: null, claimant: null, isNew: false }
  const { user, isNew } = await findOrCreateGuest(deps, tx, guest)
  const isTheirs = user !== null && (await isUnclaimed(tx, user))
  return { buyer: isTheirs ? user : null, claimant: isTheirs ? null : user, isNew }
}

/** Returns the purchase that a payment upgrades or renews. Only its owner's payment does. */
async function findOrigin(tx: Db, { fromId, userId }: Payment): Promise<PurchaseRow | null> {
  const from = fromId === null ? undefined : await store.findById(tx, fromId)
  if (!from || userId === null || (from.user_id !== userId && from.user_id !== null)) return null
  // The lock makes a simultaneous rotation of the license key visible.
  return (await store.lockChain(tx, from)).find(({ id }) => id === from.id) ?? null
}

/** Updates the purchases that depend on a changed payment. */
export async function followPayment(
  deps: Pick<PurchaseDeps, 'config' | 'clock' | 'jobs' | 'productList'>,
  tx: Db,
  payment: PaymentRow,
  before: PaymentRow,
): Promise<void> {
  const { clock, jobs } = deps
  const purchase = await store.findByPayment(tx, payment.id)
  if (!purchase) return
  if (purchase.user_id !== null && payment.refunded_cents > before.refunded_cents) {
    const job = { userId: purchase.user_id, purchaseId: purchase.id }
    await jobs.enqueue(tx, CLOSE_CHECKOUT_JOB, job)
  }
  // Until its claim, the payment belongs to nobody.
  if (purchase.user_id === null && purchase.claimant_id !== null)
    await emailRefund(deps, tx, purchase.claimant_id, payment, before)
  if (purchase.withdrawn_at !== null && payment.refunded_cents < before.refunded_cents)
    await reportFailedRefund(deps, tx, purchase)
  for (const changed of await settleChain(tx, purchase)) {
    if (store.isEnded(changed.row) === store.isEnded(changed.before)) continue
    const isRevoked = store.isEnded(changed.row)
    // The buyer may have bought the tier again meanwhile.
    if (!isRevoked) await lookForSecond({ clock, jobs }, tx, changed.row)
    const byRefund = isRevoked ? payment.is_refunded : before.dispute !== 'lost'
    // The billing room emails refunds.
    if (isRevoked && !byRefund) await emailRevoked(deps, tx, changed.row, 'dispute')
    await recordAudit(tx, {
      actorId: null,
      action: isRevoked ? 'purchase.revoked' : 'purchase.restored',
      subject: `purchase:${changed.row.id}`,
      data: { by: byRefund ? 'refund' : 'dispute', tier: changed.row.tier },
      at: clock.now(),
    })
  }
}

/** Emails the buyer that their license has ended. */
export async function emailRevoked(
  deps: Pick<PurchaseDeps, 'config' | 'clock' | 'jobs' | 'productList'>,
  tx: Db,
  purchase: PurchaseRow,
  reason: 'dispute' | 'seller',
): Promise<void> {
  const buyer = await findUser(tx, purchase.user_id ?? purchase.claimant_id ?? '')
  if (!buyer) return
  await sendMail(deps, tx, revokedEmail(deps, buyer, purchase, reason))
}

async function lookForSecond(
  { clock, jobs }: Pick<PurchaseDeps, 'clock' | 'jobs'>,
  tx: Db,
  { user_id, tier }: PurchaseRow,
) {
  if (user_id === null) return
  await jobs.enqueue(
    tx,
    PAID_TWICE_JOB,
    { userId: user_id, tier },
    { runAt: plus(clock.now(), PAID_TWICE_AFTER_MS), key: `${PAID_TWICE_JOB}:${user_id}:${tier}` },
  )
}

export const PurchaseStatusName = Named('PurchaseStatus', OneOf(...PURCHASE_STATUSES))

/** Returns the purchase of a typed license key, with any status. */
export async function findLicensedPurchase(
  { db, secrets }: Pick<PurchaseDeps, 'db' | 'secrets'>,
  typed: string,
): Promise<PurchaseRow | undefined> {
  const key = parseLicenseKey(typed)
  return key === null ? undefined : store.findByLicenseHash(db, hashLicenseKey(secrets, key))
}

export function openLicenseKey(secrets: Secrets, row: PurchaseRow): string {
  return secrets.open('license-key', row.license_sealed)
}
