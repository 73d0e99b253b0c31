/** Changes of a purchase by a superuser. Each change is in the audit log. */
import type { AuditAction } from '#audit/actions.ts'
import { recordAudit } from '#audit/audit.ts'
import type { Billing } from '#billing/billing.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { endActivation } from '../licences/activations.ts'
import { storefrontProblem } from '../problems.ts'
import type { Listed } from '../products/product-list.ts'
import { CONFIRMATION_JOB, emailRevoked } from '../purchases/purchases.ts'
import {
  findById,
  isEnded,
  isMember,
  lockChain,
  type PurchaseRow,
  update,
} from '../purchases/store.ts'
import { settleChain } from './chains.ts'

export type ChangeDeps = Pick<Platform, 'config' | 'db' | 'clock' | 'jobs' | 'secrets'> & Listed

/** A superuser and the purchase that they change. */
export type ChangeRequest = { actorId: string; id: string }

/**
 * Refunds a part of the payment in minor units, or everything that is left. The status follows from
 * the processor's state. @throws Problem 404, 409, 502 and 503.
 */
export async function refundOrder(
  {
    db,
    clock,
    billing,
  }: Pick<ChangeDeps, 'db' | 'clock'> & { billing: Pick<Billing, 'refundPayment'> },
  { actorId, id }: ChangeRequest,
  { amountCents, reason }: { amountCents: number | undefined; reason: string },
): Promise<void> {
  const purchase = await findById(db, id)
  if (!purchase) throw storefrontProblem('purchase_not_found')
  requireOrder(purchase)
  if (purchase.status === 'upgraded') throw storefrontProblem('purchase_upgraded')
  const refunded = await billing.refundPayment(purchase.payment_ref, amountCents)
  await transaction(db, (tx) =>
    recordAudit(tx, {
      actorId,
      action: 'purchase.refunded',
      subject: `purchase:${id}`,
      data: { amount_cents: refunded.amountCents, currency: refunded.currency, reason },
      at: clock.now(),
    }),
  )
}

/** Emails the license key again. */
export function resendKey(deps: ChangeDeps, request: ChangeRequest): Promise<void> {
  return changeOrder(deps, request, 'purchase.resent', async (tx, purchase) => {
    if (isEnded(purchase)) throw storefrontProblem('purchase_ended')
    await deps.jobs.enqueue(tx, CONFIRMATION_JOB, { purchaseId: purchase.id })
  })
}

export function resetDownloads(deps: ChangeDeps, request: ChangeRequest): Promise<void> {
  return changeOrder(deps, request, 'purchase.downloads_reset', async (tx, purchase) => {
    await update(tx, purchase, {
      download_count: 0,
      other_downloads_json: {},
      last_download_at: null,
    })
    return { download_count: purchase.download_count }
  })
}

/** Moves the end of updates to a later time. */
export function extendUpdates(
  deps: ChangeDeps,
  request: ChangeRequest,
  until: string,
): Promise<void> {
  return changeOrder(deps, request, 'purchase.extended', async (tx, purchase) => {
    const to = new Date(until).toISOString()
    if (purchase.entitled_until === null || to <= purchase.entitled_until)
      throw storefrontProblem('not_an_extension')
    await update(tx, purchase, { entitled_until: to })
    return { from: purchase.entitled_until, to }
  })
}

/** Ends key and downloads without a refund. */
export function revokeOrder(
  deps: ChangeDeps,
  request: ChangeRequest,
  reason: string,
): Promise<void> {
  return changeOrder(deps, request, 'purchase.revoked', async (tx, purchase) => {
    requireOrder(purchase)
    if (isEnded(purchase)) throw storefrontProblem('purchase_ended')
    await update(tx, purchase, { revoked_at: deps.clock.now() })
    await emailRevoked(deps, tx, purchase, 'seller')
    return { by: 'superuser', tier: purchase.tier, reason }
  })
}

/** Undoes `revokeOrder`. It cannot undo a refund, which the processor decides. */
export function restoreOrder(deps: ChangeDeps, request: ChangeRequest): Promise<void> {
  return changeOrder(deps, request, 'purchase.restored', async (tx, purchase) => {
    requireOrder(purchase)
    if (purchase.revoked_at === null) throw storefrontProblem('purchase_not_restorable')
    await update(tx, purchase, { revoked_at: null })
    return { by: 'superuser', tier: purchase.tier }
  })
}

/** Sets the limit of machines of one purchase; null returns to the product's limit. */
export function setActivationsLimit(
  deps: ChangeDeps,
  request: ChangeRequest,
  limit: number | null,
): Promise<void> {
  return changeOrder(deps, request, 'purchase.activations_set', async (tx, purchase) => {
    await update(tx, purchase, { activations_limit: limit })
    return { from: purchase.activations_limit, to: limit }
  })
}

/** Ends the activation of a machine, which the buyer may then activate again. */
export function releaseOrderMachine(
  deps: ChangeDeps,
  request: ChangeRequest,
  activationId: string,
): Promise<void> {
  return changeOrder(deps, request, 'purchase.machine_released', async (tx, purchase) => {
    if (!(await endActivation(tx, purchase, activationId)))
      throw storefrontProblem('activation_not_found')
  })
}

/** @throws Problem 409 for a product of a bundle, which begins and ends with the bundle's order */
function requireOrder(purchase: PurchaseRow): void {
  if (isMember(purchase))
    throw storefrontProblem('purchase_in_bundle', { id: purchase.bundle_id ?? '' })
}

/** Changes a locked purchase, derives the statuses of its chain, and logs the change. */
async function changeOrder(
  { db, clock }: ChangeDeps,
  { actorId, id }: ChangeRequest,
  action: AuditAction,
  // biome-ignore lint/suspicious/noConfusingVoidType: a change without details returns nothing
  change: (tx: Db, purchase: PurchaseRow) => Promise<Record<string, unknown> | void>,
): Promise<void> {
  await transaction(db, async (tx) => {
    const found = await findById(tx, id)
    const purchase = found && (await lockChain(tx, found)).find((row) => row.id === id)
    if (!purchase) throw storefrontProblem('purchase_not_found')
    const data = await change(tx, purchase)
    await settleChain(tx, purchase)
    await recordAudit(tx, {
      actorId,
      action,
      subject: `purchase:${id}`,
      ...(data ? { data } : {}),
      at: clock.now(),
    })
  })
}
