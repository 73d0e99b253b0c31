/** Changes the subscription of a customer for them, at the price that the preview shows. */
import { Type } from 'typebox'
import { recordAudit } from '#audit/audit.ts'
import type { Billing } from '#billing/billing.ts'
import { ChangePreview } from '#billing/change.ts'
import { billingProblem } from '#billing/problems.ts'
import { identityProblem } from '#identity/problems.ts'
import { requireFreshSignIn } from '#identity/sign-in/step-up.ts'
import { findUser } from '#identity/users.ts'
import { transaction } from '#platform/db/db.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Uuid } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { adminRoute } from './admin-route.ts'

const params = Type.Object({ id: Uuid })
const priceId = Type.String({ minLength: 1, maxLength: 255 })

export function adminPlanRoutes(
  app: App,
  deps: Pick<Platform, 'db' | 'clock'>,
  billing: Pick<Billing, 'previewChange' | 'changePlan' | 'emailChangeConfirmation'>,
): void {
  const { db, clock } = deps
  const requireUser = async (id: string) => {
    if (!(await findUser(db, id))) throw identityProblem('user_not_found')
  }

  app.post(
    '/api/admin/users/:id/plan/preview',
    adminRoute('previewCustomerPlan', 'Preview the cost of a plan change for a customer', {
      params,
      body: Type.Object({ price_id: priceId }),
      response: { 200: ChangePreview },
    }),
    async ({ params: { id }, body: { price_id } }) => {
      await requireUser(id)
      return billing.previewChange(id, price_id)
    },
  )

  app.post(
    '/api/admin/users/:id/plan',
    adminRoute(
      'changeCustomerPlan',
      'Change the plan of a customer as previewed; needs a fresh sign-in',
      {
        description:
          'Follows the rules of `POST /api/billing/change` and charges the customer’s card. When the bank requires the customer’s confirmation, the customer gets a link to a checkout by email, and the plan stays until they have paid (`is_to_confirm`). A plan without payment is an override: `PATCH /api/admin/users/{id}`.',
        params,
        body: Type.Object({
          price_id: priceId,
          proration_at: Type.Integer({ description: 'From the preview; valid for 15 minutes' }),
        }),
        response: {
          200: Type.Object(
            {
              message: Type.String(),
              is_to_confirm: Type.Boolean({
                description: 'True: the customer got an email and must confirm the payment',
              }),
            },
            { title: 'CustomerPlanChange' },
          ),
        },
      },
    ),
    async (request) => {
      const caller = requireCaller(request)
      const { id } = request.params
      const { price_id, proration_at } = request.body
      await requireFreshSignIn(deps, caller)
      await requireUser(id)
      const isToConfirm = await billing
        .changePlan(id, { priceId: price_id, prorationAt: proration_at })
        .then(() => false)
        .catch(async (error: unknown) => {
          if (!billingProblem.is(error, 'payment_to_confirm')) throw error
          await billing.emailChangeConfirmation(id, price_id)
          return true
        })
      await transaction(db, (tx) =>
        recordAudit(tx, {
          actorId: caller.userId,
          action: isToConfirm ? 'plan.confirmation-sent' : 'plan.changed',
          subject: `user:${id}`,
          data: { price_id },
          at: clock.now(),
        }),
      )
      return {
        message: isToConfirm ? 'The customer got an email to confirm the payment' : 'Plan changed',
        is_to_confirm: isToConfirm,
      }
    },
  )
}
