/** A customer's purchases as superusers read them: found by a reference, and as events. */
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { hashLicenseKey, parseLicenseKey } from '../purchases/license-key.ts'
import {
  findByCheckoutSession,
  findById,
  findByLicenseHash,
  findByPayment,
  findByPayments,
  isOrder,
  type PurchaseRow,
} from '../purchases/store.ts'
import type { OrderDeps } from './orders.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Returns the buyer of a license key, an order or a payment; null for an unknown one. */
export async function findBuyer({ db, secrets }: OrderDeps, q: string): Promise<string | null> {
  const key = parseLicenseKey(q)
  const find = (): Promise<PurchaseRow | undefined> | undefined => {
    if (key !== null) return findByLicenseHash(db, hashLicenseKey(secrets, key))
    if (UUID.test(q)) return findById(db, q.toLowerCase())
    if (q.startsWith('pi_')) return findByPayment(db, q)
    return q.startsWith('cs_') ? findByCheckoutSession(db, q) : undefined
  }
  const purchase = await find()
  return purchase?.user_id ?? purchase?.claimant_id ?? null
}

/** Lists a user's purchases before an instant, newest first, also those to be claimed. */
export function listEarlierPurchases(
  db: Db,
  userId: string,
  { before, limit }: { before: Instant; limit: number },
) {
  return db
    .selectFrom('purchases')
    .select(['id', 'tier', 'status', 'amount_cents', 'currency', 'created_at', 'from_id'])
    .where((e) => e.or([e('owner', '=', userId), e('claimant_id', '=', userId)]))
    .where(isOrder)
    .where('created_at', '<', before)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** Returns the ids of the purchases that the payments paid, by payment. */
export async function findOrderIds(db: Db, payments: string[]): Promise<Map<string, string>> {
  const found = await findByPayments(db, payments)
  return new Map([...found].map(([payment, { id }]) => [payment, id]))
}
