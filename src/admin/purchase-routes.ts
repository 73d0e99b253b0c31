/** A superuser finds purchases and changes them. The rules are the storefront's. */
import { Readable } from 'node:stream'
import { type TSchema, Type } from 'typebox'
import type { Billing } from '#billing/billing.ts'
import { requireFreshSignIn } from '#identity/sign-in/step-up.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { CountedPaged, PageQuery } from '#platform/http/keyset.ts'
import type { Described } from '#platform/http/openapi.ts'
import { InstantInput, Nullable, Uuid } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import {
  type ChangeRequest,
  extendUpdates,
  refundOrder,
  releaseOrderMachine,
  resendKey,
  resetDownloads,
  restoreOrder,
  revokeOrder,
  setActivationsLimit,
} from '#storefront/orders/changes.ts'
import { exportOrders } from '#storefront/orders/csv.ts'
import { OrderDetail, OrderView } from '#storefront/orders/order-schemas.ts'
import { listOrders, readOrder } from '#storefront/orders/orders.ts'
import type { Listed } from '#storefront/products/product-list.ts'
import { PurchaseStatusName } from '#storefront/purchases/purchases.ts'
import { adminRoute, readChange } from './admin-route.ts'

const params = Type.Object({ id: Uuid })

const OrderQuery = {
  q: Type.Optional(
    Type.String({
      maxLength: 254,
      description:
        'An order, a payment or a user by its id, a license key, or the buyer’s address or name',
    }),
  ),
  status: Type.Optional(PurchaseStatusName),
  product: Type.Optional(Type.String({ maxLength: 64, description: 'A tier' })),
}

const Reason = Type.String({ minLength: 1, maxLength: 500, description: 'For the audit log' })

const CSV: Described = {
  replies: {
    200: {
      description: 'A CSV file (RFC 4180), newest purchases first.',
      content: { 'text/csv': Type.Unsafe<unknown>({ type: 'string' }) },
    },
  },
}

type Deps = Pick<Platform, 'config' | 'db' | 'clock' | 'jobs' | 'secrets'> & Listed

export function adminPurchaseRoutes(
  app: App,
  deps: Deps,
  billing: Pick<Billing, 'refundPayment'>,
): void {
  app.get(
    '/api/admin/purchases',
    adminRoute('listOrders', 'List or search purchases, newest first', {
      querystring: Type.Object({ ...OrderQuery, ...PageQuery }),
      response: { 200: Type.Object({ purchases: Type.Array(OrderView), ...CountedPaged }) },
    }),
    ({ query: { q, status, product, ...asked } }) =>
      listOrders(deps, { q, status, product }, asked),
  )

  app.get(
    '/api/admin/purchases.csv',
    adminRoute(
      'exportOrders',
      'Download purchases as CSV',
      { querystring: Type.Object(OrderQuery) },
      { described: CSV },
    ),
    ({ query }, reply) =>
      reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="purchases.csv"')
        .send(Readable.from(exportOrders(deps, query), { objectMode: false })),
  )

  app.get(
    '/api/admin/purchases/:id',
    adminRoute('getOrder', 'Show a purchase with its chain, money and deliveries', {
      params,
      response: { 200: OrderDetail },
    }),
    ({ params: { id } }) => readOrder(deps, id),
  )

  app.post(
    '/api/admin/purchases/:id/refund',
    adminRoute('refundOrder', 'Refund a payment or a part of it; needs a fresh sign-in', {
      params,
      body: Type.Object({
        amount: Type.Optional(
          Type.Integer({
            minimum: 1,
            description: 'In minor units of the currency; without it, everything that is left',
          }),
        ),
        reason: Reason,
      }),
      response: { 200: OrderDetail },
    }),
    async (request) => {
      const caller = requireCaller(request)
      const { id } = request.params
      await requireFreshSignIn(deps, caller)
      const { amount: amountCents, reason } = request.body
      await refundOrder(
        { ...deps, billing },
        { actorId: caller.userId, id },
        { amountCents, reason },
      )
      return readOrder(deps, id)
    },
  )

  const change = <Body extends TSchema>(
    action: string,
    operationId: string,
    summary: string,
    body: Body | null,
    apply: (of: ChangeRequest, body: Type.Static<Body>) => Promise<void>,
  ) =>
    app.post(
      `/api/admin/purchases/:id/${action}`,
      adminRoute(operationId, summary, {
        params,
        ...(body && { body }),
        response: { 200: OrderDetail },
      }),
      async (request) => {
        const { id } = request.params as { id: string }
        const { userId: actorId } = requireCaller(request)
        await apply({ actorId, id }, request.body as Type.Static<Body>)
        return readOrder(deps, id)
      },
    )

  change('resend', 'resendOrder', 'Email the license key again', null, (request) =>
    resendKey(deps, request),
  )
  change(
    'reset-downloads',
    'resetOrderDownloads',
    'Give the purchase its downloads anew',
    null,
    (request) => resetDownloads(deps, request),
  )
  change(
    'extend',
    'extendOrder',
    'Extend the updates of a purchase',
    Type.Object({ until: InstantInput }),
    (request, { until }) => extendUpdates(deps, request, until),
  )
  change(
    'revoke',
    'revokeOrder',
    'End the key and the downloads of a purchase, without a refund',
    Type.Object({ reason: Reason }),
    (request, { reason }) => revokeOrder(deps, request, reason),
  )
  change(
    'restore',
    'restoreOrder',
    'Restore a purchase that a superuser revoked',
    null,
    (request) => restoreOrder(deps, request),
  )
  change(
    'activations',
    'setOrderActivations',
    'Set the activation limit of one purchase; null returns to the product’s',
    Type.Object({ limit: Nullable(Type.Integer({ minimum: 0, maximum: 100_000 })) }),
    (request, { limit }) => setActivationsLimit(deps, request, limit),
  )

  app.delete(
    '/api/admin/purchases/:id/activations/:activation_id',
    adminRoute(
      'releaseOrderMachine',
      'Release a machine of the buyer, beside their own releases of the month',
      { params: Type.Object({ id: Uuid, activation_id: Uuid }), response: { 200: OrderDetail } },
    ),
    async (request) => {
      const { activation_id, ...of } = readChange(request)
      await releaseOrderMachine(deps, of, activation_id)
      return readOrder(deps, of.id)
    },
  )
}
