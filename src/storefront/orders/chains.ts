/**
 * The statuses of a chain of purchases: a first purchase, its upgrades and renewals. They are
 * derived from the payments and the dates of every purchase, so the order of events does not matter.
 */
import { findPayments, type PaymentRow } from '#billing/money/payments.ts'
import type { Db } from '#platform/db/db.ts'
import { endLicense } from '../licences/ending.ts'
import {
  findById,
  isCurrent,
  isMember,
  listMembers,
  lockChain,
  type PurchaseRow,
  update,
} from '../purchases/store.ts'
import type { PurchaseStatus } from '../tables.ts'

/** The facts of a purchase that its status depends on. */
export type ChainLink = Pick<
  PurchaseRow,
  'id' | 'from_id' | 'withdrawn_at' | 'revoked_at' | 'download_count' | 'max_downloads'
> & { payment: Pick<PaymentRow, 'is_refunded' | 'dispute'> | undefined }

/** Returns true when the buyer has the money back. */
export function isTakenBack({
  is_refunded,
  dispute,
}: Pick<PaymentRow, 'is_refunded' | 'dispute'>): boolean {
  return is_refunded || dispute === 'lost'
}

/**
 * Returns the status of each purchase of a chain. The price of an upgrade counts the payments
 * before it, so a purchase also ends when one of those is taken back.
 */
export function deriveStatuses(chain: readonly ChainLink[]): Map<string, PurchaseStatus> {
  const byId = new Map(chain.map((link) => [link.id, link]))
  const findLineage = (link: ChainLink): ChainLink[] => {
    const before = link.from_id === null ? undefined : byId.get(link.from_id)
    return before ? [link, ...findLineage(before)] : [link]
  }
  const isPaid = (link: ChainLink) =>
    findLineage(link).every(
      ({ payment, withdrawn_at }) => withdrawn_at === null && !(payment && isTakenBack(payment)),
    )
  const deriveStatus = (link: ChainLink): PurchaseStatus => {
    if (link.withdrawn_at !== null) return 'withdrawn'
    if (!isPaid(link)) return 'refunded'
    if (chain.some((later) => later.from_id === link.id && isPaid(later))) return 'upgraded'
    if (link.revoked_at !== null) return 'revoked'
    if (findLineage(link).some(({ payment }) => payment?.dispute === 'open')) return 'disputed'
    return link.download_count >= link.max_downloads ? 'expired' : 'completed'
  }
  return new Map(chain.map((link) => [link.id, deriveStatus(link)]))
}

/** A purchase whose status has changed. */
export type Settled = { row: PurchaseRow; before: PurchaseRow }

/**
 * Derives and saves the statuses of a chain; returns the changed purchases. The lock orders
 * simultaneous changes of two payments of one chain. The products of a bundle follow, and theirs are
 * returned, too.
 */
export async function settleChain(
  tx: Db,
  of: Pick<PurchaseRow, 'owner' | 'chain_id'>,
): Promise<Settled[]> {
  const rows = await lockChain(tx, of)
  const payments = await findPayments(
    tx,
    rows.map(({ payment_ref }) => payment_ref),
  )
  const links = rows.map((row) => ({ ...row, payment: payments.get(row.payment_ref) }))
  const statuses = deriveStatuses(await applyBundle(tx, links))
  const changed: Settled[] = []
  for (const before of rows) {
    const row = { ...before, status: statuses.get(before.id) ?? before.status }
    if (row.status === before.status) continue
    await update(tx, row, { status: row.status })
    changed.push({ row, before })
  }
  const isLicensed = rows.some((row) => isCurrent({ status: statuses.get(row.id) ?? row.status }))
  if (changed.length > 0 && !isLicensed) await endLicense(tx, of)
  for (const row of rows) {
    for (const member of await listMembers(tx, row))
      changed.push(...(await settleChain(tx, member)))
  }
  return changed
}

type Link = PurchaseRow & ChainLink

/** A chain that a bundle began depends on the payment and the dates of the bundle's purchase. */
async function applyBundle(tx: Db, chain: readonly Link[]): Promise<readonly Link[]> {
  const first = chain.find(isMember)
  const bundle = first?.bundle_id ? await findById(tx, first.bundle_id) : undefined
  if (!bundle) return chain
  const payment = (await findPayments(tx, [bundle.payment_ref])).get(bundle.payment_ref)
  const { withdrawn_at } = bundle
  return chain.map((link) => ({
    ...link,
    ...(isMember(link) ? { payment, withdrawn_at } : {}),
    revoked_at: link.revoked_at ?? bundle.revoked_at,
  }))
}
