/** Where the service and the payment processor disagree, for the operator to see, and a reconciliation of everything that mends it. */
import { Type } from 'typebox'
import { recordAudit } from '#audit/audit.ts'
import type { Billing } from '#billing/billing.ts'
import { findEmails } from '#identity/admin/administration.ts'
import { transaction } from '#platform/db/db.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Nullable, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'

const Disagreements = Type.Object(
  {
    disagreements: Type.Array(
      Type.Object(
        {
          about: OneOf('subscription', 'purchase', 'payment', 'refund', 'dispute', 'invoice'),
          id: Type.String({ description: 'At the processor' }),
          user_id: Nullable(Type.String()),
          email: Nullable(Type.String()),
          ours: Type.String({ description: 'What the service has' }),
          theirs: Type.String({ description: 'What the processor says' }),
        },
        { title: 'Disagreement' },
      ),
    ),
    accounts: Type.Integer({ description: 'How many accounts were compared' }),
    is_whole: Type.Boolean({ description: 'False when there is more than was looked at' }),
  },
  { title: 'Disagreements' },
)

export function adminBillingRoutes(
  app: App,
  { db, clock }: Pick<Platform, 'db' | 'clock'>,
  billing: Pick<Billing, 'reportDisagreements' | 'enqueueSync'>,
): void {
  app.get(
    '/api/admin/billing/disagreements',
    {
      schema: {
        operationId: 'listDisagreements',
        tags: ['admin'],
        summary: 'Where the service and the payment processor disagree',
        description:
          'Read from the processor now: up to 500 accounts, and the money of the last 30 days.',
        response: { 200: Disagreements },
      },
      config: { access: 'superuser' },
    },
    async () => {
      const look = await billing.reportDisagreements()
      const emails = await findEmails(
        db,
        look.disagreements.flatMap(({ user_id }) => user_id ?? []),
      )
      const named = look.disagreements.map((one) => ({
        ...one,
        email: emails.get(one.user_id ?? '') ?? null,
      }))
      return { ...look, disagreements: named }
    },
  )

  app.post(
    '/api/admin/billing/sync',
    {
      schema: {
        operationId: 'syncBilling',
        tags: ['admin'],
        summary: 'Read everything from the payment processor and repair differences',
        response: {
          202: Type.Object({ status: Type.Literal('queued') }, { title: 'BillingSync' }),
        },
      },
      config: { access: 'superuser' },
    },
    async (request, reply) => {
      const actorId = requireCaller(request).userId
      await transaction(db, async (tx) => {
        await billing.enqueueSync(tx)
        await recordAudit(tx, {
          actorId,
          action: 'billing.synced',
          subject: 'billing',
          at: clock.now(),
        })
      })
      return reply.code(202).send({ status: 'queued' as const })
    },
  )
}
