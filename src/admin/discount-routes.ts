/** The shop's promotion codes, for superusers. */
import { Type } from 'typebox'
import { requireFreshSignIn } from '#identity/sign-in/step-up.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Message, Uuid } from '#platform/http/schema.ts'
import {
  createDiscount,
  DiscountForm,
  DiscountView,
  deleteDiscount,
  listDiscounts,
} from '#storefront/orders/discounts.ts'
import { adminRoute } from './admin-route.ts'

type Deps = Parameters<typeof createDiscount>[0]

export function adminDiscountRoutes(app: App, deps: Deps): void {
  app.get(
    '/api/admin/discounts',
    adminRoute('listDiscounts', 'List the promotion codes of the shop, newest first', {
      response: { 200: Type.Object({ discounts: Type.Array(DiscountView) }) },
    }),
    async () => ({ discounts: await listDiscounts(deps) }),
  )

  app.post(
    '/api/admin/discounts',
    adminRoute('createDiscount', 'Create a promotion code; needs a fresh sign-in', {
      description: 'Pass `percent_off`, or `amount_off` with `currency`.',
      body: DiscountForm,
      response: { 201: DiscountView },
    }),
    async (request, reply) => {
      const caller = requireCaller(request)
      await requireFreshSignIn(deps, caller)
      return reply.code(201).send(await createDiscount(deps, caller.userId, request.body))
    },
  )

  app.delete(
    '/api/admin/discounts/:id',
    adminRoute('deleteDiscount', 'End a promotion code; orders that used it keep their price', {
      params: Type.Object({ id: Uuid }),
      response: { 200: Message },
    }),
    async (request) => {
      await deleteDiscount(deps, requireCaller(request).userId, request.params.id)
      return { message: 'Promotion code deleted' }
    },
  )
}
