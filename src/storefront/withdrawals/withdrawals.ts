/**
 * Withdrawal from a purchase without sign-in, in two steps (EU directive 2023/2673): a statement,
 * then its confirmation. The order's id and the buyer's address together identify the purchase. No
 * reply reveals whether they belong together; only the buyer's mailbox learns that.
 */
import { randomUUID } from 'node:crypto'
import type { Selectable } from 'kysely'
import { type Static, Type } from 'typebox'
import { recordAudit } from '#audit/audit.ts'
import { findUser, findUserByEmail } from '#identity/users.ts'
import { sendMail } from '#mail/mail.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import { addressKey } from '#platform/http/address.ts'
import { Instant, Nullable } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { rateProblem } from '#platform/rate-limiter.ts'
import { listDelivered } from '../downloads/store.ts'
import { settleChain } from '../orders/chains.ts'
import { storefrontProblem } from '../problems.ts'
import type { Listed } from '../products/product-list.ts'
import { reportKeptPayments } from '../purchases/purchases.ts'
import { findById, isMember, lockChain, type PurchaseRow, update } from '../purchases/store.ts'
import '../tables.ts'
import { receiptEmail, unknownOrderEmail, withdrawalNoticeEmail } from './emails.ts'
import { findWithdrawalRight } from './waiver.ts'

export const WITHDRAWAL_REFUND_JOB = 'storefront.refund-withdrawal'
const PER_ADDRESS = { requests: 20, seconds: 3600 }

export const WithdrawalForm = Type.Object({
  order: Type.String({ minLength: 1, maxLength: 100, description: 'The order’s id' }),
  email: Type.String({ minLength: 1, maxLength: 254, format: 'email' }),
  reason: Type.Optional(Type.String({ maxLength: 2_000 })),
})
export type WithdrawalForm = Static<typeof WithdrawalForm>

export const WithdrawalView = Type.Object(
  {
    id: Type.String(),
    order: Type.String(),
    email: Type.String(),
    statement: Type.String({ description: 'What the confirmation declares' }),
    created_at: Instant,
    confirmed_at: Nullable(Instant),
  },
  { title: 'Withdrawal' },
)
export type WithdrawalView = Static<typeof WithdrawalView>

export type WithdrawalDeps = Pick<
  Platform,
  'config' | 'db' | 'clock' | 'jobs' | 'secrets' | 'limiter'
> &
  Listed
export type WithdrawalRow = Selectable<Tables['withdrawals']>

/** Stores a statement; nothing happens before its confirmation. @throws Problem 429 */
export async function beginWithdrawal(
  { config, db, clock, limiter }: WithdrawalDeps,
  form: WithdrawalForm,
  address: string,
): Promise<WithdrawalView> {
  if (config.limits.general !== null) {
    const hit = await limiter.hit('withdrawal', addressKey(address), PER_ADDRESS)
    if (!hit.allowed) throw rateProblem(hit)
  }
  const row: WithdrawalRow = {
    id: randomUUID(),
    order_id: form.order.trim(),
    email: form.email,
    email_key: form.email.toLowerCase(),
    reason: form.reason?.trim() || null,
    created_at: clock.now(),
    confirmed_at: null,
  }
  await db.insertInto('withdrawals').values(row).execute()
  return viewWithdrawal(row)
}

/** Confirms a statement, once. @throws Problem 404 */
export async function confirmWithdrawal(deps: WithdrawalDeps, id: string): Promise<WithdrawalView> {
  const now = deps.clock.now()
  return transaction(deps.db, async (tx) => {
    const confirmed = await tx
      .updateTable('withdrawals')
      .set({ confirmed_at: now })
      .where('id', '=', id)
      .where('confirmed_at', 'is', null)
      .returningAll()
      .executeTakeFirst()
    if (!confirmed) return viewWithdrawal(await requireWithdrawal(tx, id))
    await applyWithdrawal(deps, tx, confirmed)
    return viewWithdrawal(confirmed)
  })
}

async function requireWithdrawal(db: Db, id: string): Promise<WithdrawalRow> {
  const row = await db.selectFrom('withdrawals').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) throw storefrontProblem('withdrawal_not_found')
  return row
}

async function applyWithdrawal(
  deps: WithdrawalDeps,
  tx: Db,
  withdrawal: WithdrawalRow,
): Promise<void> {
  const { config, clock, jobs } = deps
  const found = await findPurchase(tx, withdrawal)
  const purchase = found && (await lockChain(tx, found)).find(({ id }) => id === found.id)
  if (!purchase) {
    // The buyer may have mistyped the order, so the operator looks at it.
    await sendMail(deps, tx, unknownOrderEmail(config, withdrawal), { isNotice: true })
    return
  }
  const delivered = await listDelivered(tx, purchase.claimant_id ?? purchase.owner)
  const right = findWithdrawalRight(purchase, {
    isDelivered: delivered.has(purchase.id),
    now: clock.now(),
  })
  const { id: user_id = null, locale = null } =
    (await findUser(tx, purchase.user_id ?? purchase.claimant_id ?? '')) ?? {}
  await sendMail(deps, tx, receiptEmail(deps, { ...withdrawal, user_id, locale }, purchase, right))
  await sendMail(deps, tx, withdrawalNoticeEmail(deps, withdrawal, purchase, right), {
    isNotice: true,
  })
  if (right !== 'open') return
  await update(tx, purchase, { withdrawn_at: clock.now() })
  await reportKeptPayments(deps, tx, await settleChain(tx, purchase))
  await jobs.enqueue(tx, WITHDRAWAL_REFUND_JOB, { paymentId: purchase.payment_ref })
  await recordAudit(tx, {
    actorId: null,
    action: 'purchase.withdrawn',
    subject: `purchase:${purchase.id}`,
    data: { tier: purchase.tier },
    at: clock.now(),
  })
}

/** Returns the purchase only when the address is its buyer's, and it is no part of a bundle. */
async function findPurchase(
  db: Db,
  { order_id, email }: WithdrawalRow,
): Promise<PurchaseRow | undefined> {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(order_id)) return undefined
  const [purchase, user] = [
    await findById(db, order_id.toLowerCase()),
    await findUserByEmail(db, email),
  ]
  const buyerId = purchase?.user_id ?? purchase?.claimant_id
  return purchase && !isMember(purchase) && buyerId === user?.id ? purchase : undefined
}

/** Returns the statements that were sent under the addresses, for the export of their owner. */
export function listOfAddresses(db: Db, emailKeys: string[]) {
  return db
    .selectFrom('withdrawals')
    .select(['id', 'order_id', 'email', 'reason', 'created_at', 'confirmed_at'])
    .where('email_key', 'in', emailKeys)
    .orderBy('created_at')
    .execute()
}

/** Deletes the statements of an address: those since `since`, or all. */
export async function forgetWithdrawals(
  tx: Db,
  emailKey: string,
  since: string | null,
): Promise<void> {
  await tx
    .deleteFrom('withdrawals')
    .where('email_key', '=', emailKey)
    .$if(since !== null, (query) => query.where('created_at', '>=', since ?? ''))
    .execute()
}

function viewWithdrawal(row: WithdrawalRow): WithdrawalView {
  return {
    id: row.id,
    order: row.order_id,
    email: row.email,
    statement: `I withdraw from my purchase of order ${row.order_id}.`,
    created_at: row.created_at,
    confirmed_at: row.confirmed_at,
  }
}
