/** Shows differences between the service and the payment processor, and starts a reconciliation. */
import { Type } from 'typebox'
import { recordAudit } from '#audit/audit.ts'
import type { Billing } from '#billing/billing.ts'
import { findEmails } from '#identity/admin/administration.ts'
import { transaction } from '#platform/db/db.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Nullable, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { adminRoute } from './admin-route.ts'

const Disagreements = Type.Object(
  {
    disagreements: Type.Array(
      Type.Object(
        {
          about: OneOf('subscription', 'purchase', 'payment', 'refund', 'dispute', 'invoice'),
          id: Type.String({ description: 'The id at the processor' }),
          user_id: Nullable(Type.String()),
          email: Nullable(Type.String()),
          ours: Type.String({ description: 'The value in the service' }),
          theirs: Type.String({ description: 'The value at the processor' }),
        },
        { title: 'Disagreement' },
      ),
    ),
    accounts: Type.Integer({ description: 'Number of compared accounts' }),
    is_whole: Type.Boolean({ description: 'False when the limits cut the report short' }),
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
    adminRoute(
      'listDisagreements',
      'List differences between the service and the payment processor',
      {
        description:
          'Reads the processor now: up to 500 accounts, and the payments of the last 30 days.',
        response: { 200: Disagreements },
      },
    ),
    async () => {
      const report = await billing.reportDisagreements()
      const emails = await findEmails(
        db,
        report.disagreements.flatMap(({ user_id }) => user_id ?? []),
      )
      const disagreements = report.disagreements.map((row) => ({
        ...row,
        email: emails.get(row.user_id ?? '') ?? null,
      }))
      return { ...report, disagreements }
    },
  )

  app.post(
    '/api/admin/billing/sync',
    adminRoute('syncBilling', 'Read everything from the payment processor and repair differences', {
      response: {
        202: Type.Object({ status: Type.Literal('queued') }, { title: 'BillingSync' }),
      },
    }),
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
