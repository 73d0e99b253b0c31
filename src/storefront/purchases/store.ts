import type { ExpressionBuilder, Selectable } from 'kysely'
import type { Tier } from '#catalogue/catalogue.ts'
import type { Instant } from '#platform/clock.ts'
import { type Db, forUpdate } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import { claimName, findNameOwner, insertName, moveNames, releaseNames } from '#platform/lookups.ts'
import type { PurchaseStatus } from '../tables.ts'

export type PurchaseRow = Selectable<Tables['purchases']>

/** Returns true once neither the key nor the downloads work any more. */
export const isEnded = ({ status }: Pick<PurchaseRow, 'status'>): boolean =>
  status === 'refunded' || status === 'withdrawn' || status === 'revoked'

/** Returns true while the tier cannot be bought again. */
export const isOwned = ({ status }: Pick<PurchaseRow, 'status'>): boolean => OWNED.includes(status)

const OWNED: readonly PurchaseStatus[] = ['completed', 'disputed']

/** Returns true for the purchase of a chain that the buyer uses. */
export const isCurrent = (purchase: Pick<PurchaseRow, 'status'>): boolean =>
  !isEnded(purchase) && purchase.status !== 'upgraded'

/** Begins the payment of a free product, which the payment processor does not know. */
export const FREE_PREFIX = 'free_'

/** Begins the payment of a product that its bundle's purchase paid for. */
export const MEMBER_PREFIX = 'bundle_'

/** Returns true for free products and for products in a bundle, which have no separate payment. */
export const isUnpaid = ({ payment_ref }: Pick<PurchaseRow, 'payment_ref'>): boolean =>
  payment_ref.startsWith(FREE_PREFIX) || payment_ref.startsWith(MEMBER_PREFIX)

type BundlePart = Pick<PurchaseRow, 'id' | 'bundle_id'>
/** Returns true for the purchase of a bundle, which has the payment and no license. */
export const isBundle = ({ id, bundle_id }: BundlePart): boolean => bundle_id === id

/** Returns true for a product of a bundle: it lives and ends with the bundle's purchase. */
export const isMember = ({ id, bundle_id }: BundlePart): boolean =>
  bundle_id !== null && bundle_id !== id

export function listOfUser(db: Db, userId: string): Promise<PurchaseRow[]> {
  return db
    .selectFrom('purchases')
    .selectAll()
    .where('owner', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

export function findOfUser(db: Db, userId: string, id: string): Promise<PurchaseRow | undefined> {
  return db
    .selectFrom('purchases')
    .selectAll()
    .where('owner', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Lists the purchases that guests made for the address of the user, who has not claimed them. */
export function listClaimable(db: Db, userId: string): Promise<PurchaseRow[]> {
  return db
    .selectFrom('purchases')
    .selectAll()
    .where('claimant_id', '=', userId)
    .where(isOrder)
    .execute()
}

/** Leaves out the products of bundles: a bundle is one order. */
export const isOrder = (e: ExpressionBuilder<Tables, 'purchases'>) =>
  e.or([e('bundle_id', 'is', null), e('bundle_id', '=', e.ref('id'))])

/** Lists the purchases of the products of a bundle; none for another purchase. */
export async function listMembers(db: Db, purchase: BundlePart): Promise<PurchaseRow[]> {
  if (!isBundle(purchase)) return []
  return db
    .selectFrom('purchases')
    .selectAll()
    .where('bundle_id', '=', purchase.id)
    .where('id', '!=', purchase.id)
    .orderBy('tier')
    .execute()
}

export function findById(db: Db, id: string): Promise<PurchaseRow | undefined> {
  return db.selectFrom('purchases').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Returns the purchase that currently holds the key, or the newest of its chain. */
export async function findByLicenseHash(db: Db, hash: string): Promise<PurchaseRow | undefined> {
  const owner = await findNameOwner(db, 'license', hash)
  if (owner === null) return undefined
  const chain = await db
    .selectFrom('purchases')
    .selectAll()
    .where('owner', '=', owner)
    .where('license_hash', '=', hash)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
  return chain.find(isCurrent) ?? chain[0]
}

export function findByCheckoutSession(db: Db, sessionId: string): Promise<PurchaseRow | undefined> {
  return db
    .selectFrom('purchases')
    .selectAll()
    .where('checkout_session_id', '=', sessionId)
    .executeTakeFirst()
}

export function findByPayment(db: Db, paymentRef: string): Promise<PurchaseRow | undefined> {
  return db
    .selectFrom('purchases')
    .selectAll()
    .where('payment_ref', '=', paymentRef)
    .executeTakeFirst()
}

/** Returns the purchases of payments, by payment. */
export async function findByPayments(
  db: Db,
  paymentRefs: readonly string[],
): Promise<Map<string, PurchaseRow>> {
  if (paymentRefs.length === 0) return new Map()
  const rows = await db
    .selectFrom('purchases')
    .selectAll()
    .where('payment_ref', 'in', paymentRefs)
    .execute()
  return new Map(rows.map((row) => [row.payment_ref, row]))
}

/** Returns the current purchases whose updates end after `from` and not after `to`. */
export function findEnding(db: Db, from: Instant, to: Instant): Promise<PurchaseRow[]> {
  return db
    .selectFrom('purchases')
    .selectAll()
    .where('entitled_until', '>', from)
    .where('entitled_until', '<=', to)
    .where('status', 'in', ['completed', 'expired'])
    .where('user_id', 'is not', null)
    .execute()
}

/** Returns the payments that have a purchase. */
export async function recordedPayments(db: Db, paymentRefs: readonly string[]): Promise<string[]> {
  if (paymentRefs.length === 0) return []
  const rows = await db
    .selectFrom('purchases')
    .select('payment_ref')
    .where('payment_ref', 'in', paymentRefs)
    .execute()
  return rows.map(({ payment_ref }) => payment_ref)
}

/** Inserts a purchase. Returns false when the payment already has one. */
export async function insert(tx: Db, row: PurchaseRow): Promise<boolean> {
  if (!(await claimName(tx, 'payment', row.payment_ref, row.owner))) return false
  // Upgrades and renewals have the key of their chain.
  if (row.from_id === null) await insertName(tx, 'license', row.license_hash, row.owner)
  await tx.insertInto('purchases').values(row).execute()
  return true
}

/** Returns the user's purchases of the tier, newest first: several, when it was paid twice. */
export function listOwned(db: Db, userId: string, tier: Tier): Promise<PurchaseRow[]> {
  return db
    .selectFrom('purchases')
    .selectAll()
    .where('owner', '=', userId)
    .where('tier', '=', tier)
    .where('status', '=', 'completed')
    .where(isOrder)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

/** Returns all purchases of a chain, oldest first. */
export function listChain(db: Db, chain: ChainKey): Promise<PurchaseRow[]> {
  return selectChain(db, chain).execute()
}

/** Gives all purchases of a chain another license key. */
export async function replaceLicense(
  tx: Db,
  { owner, chain_id, license_hash: before }: PurchaseRow,
  license: Pick<PurchaseRow, 'license_hash' | 'license_sealed'>,
): Promise<void> {
  await releaseNames(tx, 'license', [before])
  await insertName(tx, 'license', license.license_hash, owner)
  await tx
    .updateTable('purchases')
    .set(license)
    .where('owner', '=', owner)
    .where('chain_id', '=', chain_id)
    .execute()
}

/** Locks all purchases of a chain until the transaction ends. */
export async function lockChain(tx: Db, chain: ChainKey): Promise<PurchaseRow[]> {
  await forUpdate(tx, selectChain(tx, chain)).execute()
  // PostgreSQL shows an upgrade or renewal that was added during the wait only to a new statement.
  return selectChain(tx, chain).execute()
}

/** Identifies a chain. */
export type ChainKey = Pick<PurchaseRow, 'owner' | 'chain_id'>

function selectChain(db: Db, { owner, chain_id }: ChainKey) {
  return db
    .selectFrom('purchases')
    .selectAll()
    .where('owner', '=', owner)
    .where('chain_id', '=', chain_id)
    .orderBy('created_at')
    .orderBy('id')
}

export async function update(
  tx: Db,
  { owner, id }: Pick<PurchaseRow, 'owner' | 'id'>,
  change: Partial<PurchaseRow>,
): Promise<void> {
  await tx
    .updateTable('purchases')
    .set(change)
    .where('owner', '=', owner)
    .where('id', '=', id)
    .execute()
}

/**
 * Counts one more active machine of a chain, unless it has reached `max`; null: no limit. The
 * chain's first purchase holds the count.
 */
export async function takeActivation(
  tx: Db,
  { owner, chain_id }: ChainKey,
  max: number | null,
): Promise<boolean> {
  const taken = await tx
    .updateTable('purchases')
    .set((e) => ({ activation_count: e('activation_count', '+', 1) }))
    .where('owner', '=', owner)
    .where('id', '=', chain_id)
    .$if(max !== null, (query) => query.where('activation_count', '<', max))
    .returning('id')
    .executeTakeFirst()
  return taken !== undefined
}

export async function giveActivationBack(tx: Db, { owner, chain_id }: ChainKey): Promise<void> {
  await tx
    .updateTable('purchases')
    .set((e) => ({ activation_count: e('activation_count', '-', 1) }))
    .where('owner', '=', owner)
    .where('id', '=', chain_id)
    .execute()
}

/**
 * Removes the user from their purchases. Tier, amount, date and payment stay for accounting, and
 * each chain becomes its own owner.
 */
export async function forgetUser(tx: Db, userId: string): Promise<void> {
  for (const row of await listOfUser(tx, userId)) {
    await moveToOwner(tx, row, { owner: row.chain_id, user_id: null, claimant_id: null })
  }
  await tx
    .updateTable('purchases')
    .set({ claimant_id: null })
    .where('claimant_id', '=', userId)
    .execute()
}

/** Gives a purchase without an account to the user who has claimed it. */
export function giveToUser(tx: Db, row: PurchaseRow, userId: string): Promise<void> {
  return moveToOwner(tx, row, { owner: userId, user_id: userId, claimant_id: null })
}

/** Deletes and inserts instead of updating, because the owner determines the server of a row. */
async function moveToOwner(
  tx: Db,
  row: PurchaseRow,
  to: Pick<PurchaseRow, 'owner' | 'user_id' | 'claimant_id'>,
): Promise<void> {
  await tx.deleteFrom('purchases').where('owner', '=', row.owner).where('id', '=', row.id).execute()
  await tx
    .insertInto('purchases')
    .values({ ...row, ...to })
    .execute()
  await moveNames(tx, 'payment', [row.payment_ref], to.owner)
  await moveNames(tx, 'license', [row.license_hash], to.owner)
}
