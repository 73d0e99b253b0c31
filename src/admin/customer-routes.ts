/** Customers for superusers: search, one customer with their events, sign-out and refunds. */
import { Type } from 'typebox'
import { recordAudit } from '#audit/audit.ts'
import type { Billing } from '#billing/billing.ts'
import { findPayment } from '#billing/money/payments.ts'
import { listUsers } from '#identity/admin/administration.ts'
import { findUsers, SEARCHED_MAX } from '#identity/admin/user-search.ts'
import type { Identity } from '#identity/identity.ts'
import { identityProblem } from '#identity/problems.ts'
import { requireFreshSignIn } from '#identity/sign-in/step-up.ts'
import { findUser, SubscriptionStatus } from '#identity/users.ts'
import { plus } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { COUNTED_MAX, Paged, PageQuery } from '#platform/http/keyset.ts'
import {
  Instant,
  InstantInput,
  Message,
  Named,
  Nullable,
  OneOf,
  Uuid,
} from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { adminRoute } from './admin-route.ts'
import { ABOUT, CustomerEvent, listCustomerEvents } from './customer-events.ts'
import { findReferencedUsers } from './customer-search.ts'
import { CustomerView, ListedUser, readCustomer } from './customers.ts'
import { adminProblem } from './problems.ts'

const params = Type.Object({ id: Uuid })

type Needs = Pick<Platform, 'config' | 'db' | 'clock' | 'secrets'> & {
  identity: Identity
  billing: Pick<Billing, 'refundPayment'>
}

export function adminCustomerRoutes(app: App, deps: Needs): void {
  const { config, db, clock, identity } = deps
  const Tier = Named('Tier', OneOf(...config.catalogue.plans.map(({ tier }) => tier)))

  app.get(
    '/api/admin/users',
    adminRoute('listUsers', 'List users, newest first, or search and filter them', {
      querystring: Type.Object({
        find: Type.Optional(
          Type.String({
            maxLength: 254,
            description: `The beginning of an address, or words of an address or name (searched in the newest ${SEARCHED_MAX.toLocaleString('en')} users). As a whole value: an id of a user, a request, an order or a payment; a license key; an invoice’s number or id; the last four digits of a card. Counts up to ${COUNTED_MAX.toLocaleString('en')} results and returns no cursors`,
          }),
        ),
        plan: Type.Optional(Tier),
        status: Type.Optional(SubscriptionStatus),
        ...PageQuery,
      }),
      response: { 200: Type.Object({ users: Type.Array(ListedUser), ...Paged }) },
    }),
    async ({ query: { find = '', plan, status, ...asked } }) => {
      const text = find.trim()
      if (text === '' && plan === undefined && status === undefined) return listUsers(db, asked)
      const ids = text === '' ? [] : await findReferencedUsers(deps, text)
      return findUsers(db, text, asked, { ids, plan, status })
    },
  )

  app.get(
    '/api/admin/users/:id',
    adminRoute('getCustomer', 'Show a user with subscription, margin, usage, keys and sessions', {
      params,
      response: { 200: CustomerView },
    }),
    ({ params: { id } }) => readCustomer(deps, id),
  )

  app.get(
    '/api/admin/users/:id/events',
    adminRoute(
      'listCustomerEvents',
      'List a user’s payments, purchases, account events, emails and failed calls, newest first',
      {
        params,
        querystring: Type.Object({
          about: Type.Optional(OneOf(...ABOUT)),
          before: Type.Optional(InstantInput),
        }),
        response: {
          200: Type.Object({
            events: Type.Array(CustomerEvent),
            next_before: Nullable(Instant),
          }),
        },
      },
    ),
    async ({ params: { id }, query: { about, before } }) => {
      if (!(await findUser(db, id))) throw identityProblem('user_not_found')
      const last = before === undefined ? plus(clock.now(), 1) : new Date(before).toISOString()
      return listCustomerEvents(deps, id, { before: last, about })
    },
  )

  app.post(
    '/api/admin/users/:id/sign-out',
    adminRoute('signOutUser', 'End all sessions of a user; needs a fresh sign-in', {
      description: 'API keys continue to work. Open password resets end as well.',
      params,
      response: { 200: Message },
    }),
    async (request) => {
      const caller = requireCaller(request)
      await requireFreshSignIn(deps, caller)
      await identity.signOutUser(caller.userId, request.params.id)
      return { message: 'All sessions ended' }
    },
  )

  app.post(
    '/api/admin/users/:id/view',
    adminRoute(
      'viewAccount',
      'Start a read-only view of an account for 30 minutes; needs a fresh sign-in',
      {
        description:
          'The token reads account, plan, usage, calls and keys as the user sees them. It changes nothing and reads no documents or conversations. The view ends with the session that started it. Its start and end are in the audit log of the account.',
        params,
        body: Type.Object({
          reason: Type.String({ minLength: 1, maxLength: 500, description: 'For the audit log' }),
        }),
        response: {
          201: Type.Object(
            { access_token: Type.String(), expires_at: Instant },
            { title: 'AccountView' },
          ),
        },
      },
    ),
    async (request, reply) => {
      const caller = requireCaller(request)
      await requireFreshSignIn(deps, caller)
      const { reason } = request.body
      const view = await identity.startView(caller, { userId: request.params.id, reason })
      return reply.code(201).send({ access_token: view.token, expires_at: view.expiresAt })
    },
  )

  app.delete(
    '/api/admin/view',
    adminRoute('endAccountView', 'End the view of an account that this session has open', {
      response: { 200: Message },
    }),
    async (request) => {
      await identity.endView(requireCaller(request))
      return { message: 'View ended' }
    },
  )

  app.post(
    '/api/admin/payments/:id/refund',
    adminRoute(
      'refundPayment',
      'Refund a payment of a subscription or a part of it; needs a fresh sign-in',
      {
        description: 'Purchases are refunded by `POST /api/admin/purchases/{id}/refund`.',
        params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 255 }) }),
        body: Type.Object({
          amount: Type.Optional(
            Type.Integer({
              minimum: 1,
              description: 'In minor units of the currency; without it, everything that is left',
            }),
          ),
          reason: Type.String({ minLength: 1, maxLength: 500, description: 'For the audit log' }),
        }),
        response: {
          200: Type.Object(
            { amount_cents: Type.Integer(), currency: Type.String() },
            { title: 'RefundedPayment' },
          ),
        },
      },
    ),
    async (request) => {
      const caller = requireCaller(request)
      const { amount, reason } = request.body
      await requireFreshSignIn(deps, caller)
      const payment = await findPayment(db, request.params.id)
      if (payment?.kind !== 'subscription') throw adminProblem('payment_not_found')
      const { amountCents, currency } = await deps.billing.refundPayment(payment.id, amount)
      await transaction(db, (tx) =>
        recordAudit(tx, {
          actorId: caller.userId,
          action: 'payment.refunded',
          subject: `user:${payment.user_id ?? 'deleted'}`,
          data: { payment: payment.id, amount_cents: amountCents, currency, reason },
          at: clock.now(),
        }),
      )
      return { amount_cents: amountCents, currency }
    },
  )
}
