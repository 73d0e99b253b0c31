/**
 * A purchase is recorded once per payment, and never before the payment is made. The processor's
 * events may arrive in any order: a refund that arrives before its purchase is stored with the
 * payment.
 */
import { randomUUID } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { recordAudit } from '#audit/audit.ts'
import { lockPayment, type PaymentRow, updatePayment } from '#billing/money/payments.ts'
import { findProduct, PRODUCT_DEFAULTS, type Tier } from '#catalogue/catalogue.ts'
import { findUser, lockUser } from '#identity/users.ts'
import { MINUTE_MS, plus } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { Instant, Named, Nullable, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import type { Secrets } from '#platform/secrets.ts'
import { isTakenBack, settleChain } from '../orders/chains.ts'
import { isCovered, type ProductDeps, showReleases } from '../products/releases.ts'
import { PURCHASE_STATUSES } from '../tables.ts'
import { maskLicenseKey, newLicenseKey, parseLicenseKey } from './license-key.ts'
import type { PurchaseRow } from './store.ts'
import * as store from './store.ts'

export const CONFIRMATION_JOB = 'storefront.confirm-purchase'
/** Checks whether a tier was paid twice and informs the operator. */
export const PAID_TWICE_JOB = 'storefront.paid-twice'
/** A delay, because two simultaneous payments do not see each other before both have committed. */
const PAID_TWICE_AFTER_MS = MINUTE_MS
/** Compresses a release before its first download. */
export const PREPARE_JOB = 'storefront.prepare-release'
const DOWNLOADS_MAX = 5

export type Payment = {
  /** The payment intent, or the checkout session where the total was 0. */
  ref: string
  checkoutSessionId: string | null
  userId: string
  tier: Tier
  amountCents: number
  /** Null when the event does not contain it. */
  taxCents: number | null
  currency: string
}

export type PurchaseDeps = Pick<
  Platform,
  'config' | 'db' | 'clock' | 'jobs' | 'secrets' | 'business'
>

/**
 * Records a payment; does nothing when it is already recorded. The confirmation with the license
 * key is sent after the commit.
 */
export async function recordPurchase(
  { config, db, clock, jobs, secrets, business }: PurchaseDeps,
  payment: Payment,
  settle: (tx: Db) => Promise<void> = async () => {},
) {
  const now = clock.now()
  const key = newLicenseKey()
  const { updatesMonths: months } = findProduct(config.catalogue, payment.tier) ?? PRODUCT_DEFAULTS

  await transaction(db, async (tx) => {
    // Locks the buyer's row first, so that a running account deletion ends before the buyer is
    // read.
    await lockUser(tx, payment.userId)
    const buyer = await findUser(tx, payment.userId)
    const known = await lockPayment(tx, payment.ref, now)
    const isReversed = isTakenBack(known)
    const id = randomUUID()
    const row: PurchaseRow = {
      owner: buyer?.id ?? id,
      id,
      chain_id: id,
      from_id: null,
      user_id: buyer?.id ?? null,
      tier: payment.tier,
      status: isReversed ? 'refunded' : 'completed',
      payment_ref: payment.ref,
      checkout_session_id: payment.checkoutSessionId,
      amount_cents: payment.amountCents,
      currency: payment.currency,
      license_hash: hashLicenseKey(secrets, key),
      license_sealed: secrets.seal('license-key', key),
      download_count: 0,
      max_downloads: DOWNLOADS_MAX,
      last_download_at: null,
      entitled_until: months === null ? null : addMonths(now, months),
      activation_count: 0,
      activations_limit: null,
      waiver_json: null,
      withdrawn_at: null,
      revoked_at: null,
      created_at: now,
    }
    await settle(tx)
    // Among the events of one payment, only the checkout's contains tax.
    if (payment.taxCents !== null)
      await updatePayment({ business }, tx, known, { tax_cents: payment.taxCents })
    if (!(await store.insert(tx, row))) return
    await updatePayment({ business }, tx, known, {
      kind: 'purchase',
      user_id: row.user_id,
      tier: row.tier,
      amount_cents: row.amount_cents,
      currency: row.currency,
      paid_at: known.paid_at ?? now,
    })
    if (isReversed) return
    await lookForSecond({ clock, jobs }, tx, row)
    // The job only contains the purchase's id, because a key in its payload would not be encrypted.
    await jobs.enqueue(tx, PREPARE_JOB, { tier: payment.tier }, { key: `prepare:${payment.tier}` })
    await jobs.enqueue(tx, CONFIRMATION_JOB, { purchaseId: id })
  })
}

/** Updates the purchases that depend on a changed payment. */
export async function followPayment(
  { clock, jobs }: Pick<PurchaseDeps, 'clock' | 'jobs'>,
  tx: Db,
  payment: PaymentRow,
  before: PaymentRow,
): Promise<void> {
  const purchase = await store.findByPayment(tx, payment.id)
  if (!purchase) return
  for (const changed of await settleChain(tx, purchase)) {
    if (store.isEnded(changed.row) === store.isEnded(changed.before)) continue
    const isRevoked = store.isEnded(changed.row)
    // The buyer may have bought the tier again meanwhile.
    if (!isRevoked) await lookForSecond({ clock, jobs }, tx, changed.row)
    const byRefund = isRevoked ? payment.is_refunded : before.dispute !== 'lost'
    await recordAudit(tx, {
      actorId: null,
      action: isRevoked ? 'purchase.revoked' : 'purchase.restored',
      subject: `purchase:${changed.row.id}`,
      data: { by: byRefund ? 'refund' : 'dispute', tier: changed.row.tier },
      at: clock.now(),
    })
  }
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

export const PurchaseView = Type.Object(
  {
    id: Type.String(),
    tier: Type.String(),
    status: PurchaseStatusName,
    license_key_masked: Type.String(),
    download_count: Type.Integer(),
    max_downloads: Type.Integer(),
    /** Null: updates never end. */
    entitled_until: Nullable(Instant),
    // The release that a download would get now; null when nothing is published.
    version: Nullable(Type.String()),
    created_at: Instant,
  },
  { title: 'Purchase' },
)
export type PurchaseView = Static<typeof PurchaseView>

/** Lists the user's purchases, newest first. */
export async function listPurchases(
  deps: Pick<PurchaseDeps, 'db' | 'secrets'> & ProductDeps,
  userId: string,
): Promise<PurchaseView[]> {
  const rows = await store.listOfUser(deps.db, userId)
  return Promise.all(
    rows.map(async (row) => {
      const releases = await showReleases(deps, row.tier)
      return {
        id: row.id,
        tier: row.tier,
        status: row.status,
        license_key_masked: maskLicenseKey(openLicenseKey(deps.secrets, row)),
        download_count: row.download_count,
        max_downloads: row.max_downloads,
        entitled_until: row.entitled_until,
        version:
          releases.find((release) => isCovered(release, row.entitled_until))?.version ?? null,
        created_at: row.created_at,
      }
    }),
  )
}

/** Returns the purchase of a typed license key, whatever its status. */
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

export function hashLicenseKey(secrets: Secrets, key: string): string {
  return secrets.hash('license-key', key)
}

/** Returns the same day of a later month, or that month's last day. */
function addMonths(instant: string, months: number): string {
  const date = new Date(instant)
  const day = date.getUTCDate()
  date.setUTCMonth(date.getUTCMonth() + months)
  if (date.getUTCDate() !== day) date.setUTCDate(0)
  return date.toISOString()
}
