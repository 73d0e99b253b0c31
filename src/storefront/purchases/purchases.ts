import { recordAudit } from '#audit/audit.ts'
import {
  findPayments,
  lockPayment,
  type PaymentRow,
  updatePayment,
} from '#billing/money/payments.ts'
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
import { readEmailMessages } from '../messages/emails.ts'
import { isTakenBack, type Settled, settleChain } from '../orders/chains.ts'
import type { Listed } from '../products/product-list.ts'
import { PURCHASE_STATUSES } from '../tables.ts'
import { reportFailedRefund } from '../withdrawals/refunds.ts'
import { type Buyer, type Keys, keptPaymentEmail, revokedEmail, saleEmail } from './emails.ts'
import { hashLicenseKey, maskLicenseKey, parseLicenseKey } from './license-key.ts'
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
/** Closes the open upgrades and renewals of a license after a refund. */
export const CLOSE_CHECKOUTS_JOB = 'storefront.close-checkout'

export type PurchaseDeps = Pick<
  Platform,
  'config' | 'db' | 'clock' | 'jobs' | 'secrets' | 'business'
> &
  Listed

type NoticeDeps = Pick<PurchaseDeps, 'config' | 'clock' | 'jobs' | 'secrets' | 'productList'>

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
  const settled = await settleChain(tx, row)
  if (buyer && isNew) await recordGuest(deps, tx, buyer.id)
  await reportKeptPayments(deps, tx, settled)
  const isEnded = settled.some((one) => one.row.id === row.id && store.isEnded(one.row))
  if (isReversed || isEnded) return
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
  deps: NoticeDeps,
  tx: Db,
  payment: PaymentRow,
  before: PaymentRow,
): Promise<void> {
  const { clock, jobs } = deps
  const purchase = await store.findByPayment(tx, payment.id)
  if (!purchase) return
  const isLost = payment.dispute === 'lost' && before.dispute !== 'lost'
  if (purchase.user_id !== null && (isLost || payment.refunded_cents > before.refunded_cents)) {
    const job = { userId: purchase.user_id, purchaseId: purchase.id }
    await jobs.enqueue(tx, CLOSE_CHECKOUTS_JOB, job)
  }
  if (purchase.withdrawn_at !== null && payment.refunded_cents < before.refunded_cents)
    await reportFailedRefund(deps, tx, purchase)
  const settled = await settleChain(tx, purchase)
  await emailBuyer(deps, tx, purchase, [payment, before])
  await reportKeptPayments(deps, tx, settled)
  for (const changed of settled) {
    // The products of a bundle follow its order, which has the emails and the log.
    if (changed.row.chain_id !== purchase.chain_id) continue
    if (store.isEnded(changed.row) === store.isEnded(changed.before)) continue
    const isRevoked = store.isEnded(changed.row)
    // The buyer may have bought the tier again meanwhile.
    if (!isRevoked) await lookForSecond({ clock, jobs }, tx, changed.row)
    const byRefund = isRevoked ? payment.is_refunded : before.dispute !== 'lost'
    if (isRevoked && !byRefund && store.isCurrent(changed.before))
      await emailRevoked(deps, tx, changed.row, 'dispute')
    await recordAudit(tx, {
      actorId: null,
      action: isRevoked ? 'purchase.revoked' : 'purchase.restored',
      subject: `purchase:${changed.row.id}`,
      data: { by: byRefund ? 'refund' : 'dispute', tier: changed.row.tier },
      at: clock.now(),
    })
  }
}

/** Emails a refund to the buyer, who may not have claimed the purchase yet. */
async function emailBuyer(
  deps: NoticeDeps,
  tx: Db,
  purchase: PurchaseRow,
  [payment, before]: readonly [PaymentRow, PaymentRow],
): Promise<void> {
  const buyer = await findUser(tx, purchase.user_id ?? purchase.claimant_id ?? '')
  if (!buyer) return
  const { config, productList } = deps
  const { product, refundEnds } = readEmailMessages(buyer.locale ?? config.brand.language)
  const hasEnded = !(await store.listChain(tx, purchase)).some(store.isCurrent)
  await emailRefund(deps, tx, buyer.id, payment, before, {
    facts: [[product, productList.getName(purchase.tier)]],
    ending: hasEnded ? refundEnds[store.isBundle(purchase) ? 'bundle' : 'license'] : null,
  })
}

/**
 * Reports purchases to the operator that ended while their payment was kept: a payment before it
 * was taken back, or a buyer paid for an ended license. Only the operator can decide on a refund.
 */
export async function reportKeptPayments(
  deps: NoticeDeps,
  tx: Db,
  settled: readonly Settled[],
): Promise<void> {
  const ended = settled.filter(({ row, before }) => store.isEnded(row) && !store.isEnded(before))
  const payments = await findPayments(
    tx,
    ended.map(({ row }) => row.payment_ref),
  )
  for (const { row } of ended) {
    const payment = payments.get(row.payment_ref)
    const isKept = payment && !isTakenBack(payment) && payment.refunded_cents < row.amount_cents
    if (!isKept || row.withdrawn_at !== null) continue
    const buyer = await findUser(tx, row.user_id ?? row.claimant_id ?? '')
    const email = keptPaymentEmail(deps, buyer?.email ?? null, row)
    await sendMail(deps, tx, email, { isNotice: true })
  }
}

/** Emails the buyer that their license has ended. */
export async function emailRevoked(
  deps: NoticeDeps,
  tx: Db,
  purchase: PurchaseRow,
  reason: 'dispute' | 'seller',
): Promise<void> {
  const buyer = await findUser(tx, purchase.user_id ?? purchase.claimant_id ?? '')
  if (!buyer) return
  const keys = await readKeys(deps, tx, purchase)
  const masked = {
    licenseKey: maskLicenseKey(keys.licenseKey),
    members: keys.members.map(({ tier, licenseKey }) => ({
      tier,
      licenseKey: maskLicenseKey(licenseKey),
    })),
  }
  await sendMail(deps, tx, revokedEmail(deps, buyer, purchase, { ...masked, reason }))
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

/** Returns the license key of a purchase, or those of the products of a bundle. */
export async function readKeys(
  { secrets }: Pick<PurchaseDeps, 'secrets'>,
  db: Db,
  purchase: PurchaseRow,
): Promise<Keys> {
  const members = await store.listMembers(db, purchase)
  return {
    licenseKey: openLicenseKey(secrets, purchase),
    members: members.map((row) => ({ tier: row.tier, licenseKey: openLicenseKey(secrets, row) })),
  }
}

export function openLicenseKey(secrets: Secrets, row: PurchaseRow): string {
  return secrets.open('license-key', row.license_sealed)
}
