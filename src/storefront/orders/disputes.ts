/** Disputed payments as a superuser reads them, with the purchase that each payment paid. */
import { type Static, Type } from 'typebox'
import { listAllDisputes } from '#billing/money/payments.ts'
import { findEmails } from '#identity/admin/administration.ts'
import type { Db } from '#platform/db/db.ts'
import type { PageOf } from '#platform/http/keyset.ts'
import { Instant, Nullable, OneOf } from '#platform/http/schema.ts'
import { findByPayments } from '../purchases/store.ts'

export const DisputeView = Type.Object(
  {
    id: Type.String({ description: 'The id at the processor' }),
    status: Type.String({ description: 'The processor’s status, or `reinstated`' }),
    is_open: Type.Boolean({ description: 'The bank has not decided' }),
    reason: Nullable(Type.String()),
    amount_cents: Type.Integer({ description: 'In minor units of the currency' }),
    currency: Type.String(),
    created_at: Instant,
    payment_ref: Type.String({ description: 'The payment’s id at the processor' }),
    kind: Nullable(OneOf('purchase', 'subscription')),
    tier: Nullable(Type.String({ description: 'Of the purchased product' })),
    order_id: Nullable(
      Type.String({ description: 'The purchase; its deliveries are the evidence' }),
    ),
    user_id: Nullable(Type.String()),
    email: Nullable(Type.String()),
  },
  { title: 'Dispute' },
)

/** Lists disputes of purchases and subscriptions, newest first. */
export async function listDisputes(db: Db, asked: PageOf, isOpen?: boolean) {
  const { disputes, ...paged } = await listAllDisputes(db, asked, isOpen)
  const purchases = await findByPayments(
    db,
    disputes.map(({ payment_id }) => payment_id),
  )
  const users = disputes.map(({ payment_id, user_id }) => {
    const purchase = purchases.get(payment_id)
    return purchase?.user_id ?? purchase?.claimant_id ?? user_id
  })
  const emails = await findEmails(
    db,
    users.flatMap((id) => id ?? []),
  )
  return {
    disputes: disputes.map(
      ({ payment_id, user_id, ...dispute }, at): Static<typeof DisputeView> => ({
        ...dispute,
        payment_ref: payment_id,
        tier: purchases.get(payment_id)?.tier ?? null,
        order_id: purchases.get(payment_id)?.id ?? null,
        user_id: users[at] ?? null,
        email: emails.get(users[at] ?? '') ?? null,
      }),
    ),
    ...paged,
  }
}
