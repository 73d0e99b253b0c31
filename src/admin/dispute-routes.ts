/** The disputes of all payments, for superusers. */
import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { CountedPaged, PageQuery } from '#platform/http/keyset.ts'
import type { Platform } from '#platform/platform.ts'
import { DisputeView, listDisputes } from '#storefront/orders/disputes.ts'
import { adminRoute } from './admin-route.ts'

export function adminDisputeRoutes(app: App, { db }: Pick<Platform, 'db'>): void {
  app.get(
    '/api/admin/disputes',
    adminRoute('listDisputes', 'List disputes of purchases and subscriptions, newest first', {
      description:
        'The evidence of a purchase is in `GET /api/admin/purchases/{order_id}`: deliveries with time and address, machines and the waiver.',
      querystring: Type.Object({
        open: Type.Optional(Type.Boolean({ description: 'Only open, or only decided disputes' })),
        ...PageQuery,
      }),
      response: { 200: Type.Object({ disputes: Type.Array(DisputeView), ...CountedPaged }) },
    }),
    ({ query: { open, ...asked } }) => listDisputes(db, asked, open),
  )
}
