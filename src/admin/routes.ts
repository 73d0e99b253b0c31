// The superuser's API: statistics, invitations and accounts. The rules are in the rooms that the
// routes call.
import { Type } from 'typebox'
import { userStats } from '#identity/admin/administration.ts'
import type { Identity } from '#identity/identity.ts'
import { requireFreshSignIn } from '#identity/sign-in/step-up.ts'
import { UserView, userView } from '#identity/users.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, InstantInput, Message, Named, OneOf, Uuid } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { adminRoute } from './admin-route.ts'
import { ListedUser } from './customers.ts'

/** The user as they see themselves, and the list's additional fields. */
const ChangedUser = Type.Object(
  {
    ...UserView.properties,
    tier_override: ListedUser.properties.tier_override,
    tier_override_until: ListedUser.properties.tier_override_until,
    last_login_at: ListedUser.properties.last_login_at,
  },
  { title: 'ChangedUser' },
)

type Needs = Pick<Platform, 'config' | 'db' | 'clock'> & { identity: Identity }

export function adminRoutes(app: App, { config, db, clock, identity }: Needs): void {
  const Tier = Named('Tier', OneOf(...config.catalogue.plans.map(({ tier }) => tier)))

  app.get(
    '/api/admin/stats',
    adminRoute('getStats', 'Count users and subscriptions', {
      response: {
        200: Type.Object({
          total_users: Type.Integer(),
          active_subscriptions: Type.Integer(),
          new_users_7d: Type.Integer(),
          verified_users: Type.Integer(),
        }),
      },
    }),
    () => userStats(db, clock.now()),
  )

  app.post(
    '/api/admin/invitations',
    adminRoute(
      'inviteUser',
      'Email an invitation, whose link creates an account when `SIGNUP=invited`',
      {
        body: Type.Object({ email: Type.String({ format: 'email' }) }),
        response: { 200: Message },
      },
    ),
    async (request) => {
      await identity.invite(requireCaller(request).userId, request.body.email)
      return { message: 'Invitation sent' }
    },
  )

  app.get(
    '/api/admin/invitations',
    adminRoute('listInvitations', 'List unused invitations, newest first', {
      response: {
        200: Type.Object({
          invitations: Type.Array(
            Type.Object(
              { email: Type.String(), invited_at: Instant, expires_at: Instant },
              { title: 'Invitation' },
            ),
          ),
        }),
      },
    }),
    async () => ({ invitations: await identity.listInvitations() }),
  )

  app.delete(
    '/api/admin/invitations',
    adminRoute('withdrawInvitation', 'Withdraw an invitation; its link stops working', {
      querystring: Type.Object({ email: Type.String({ format: 'email' }) }),
      response: { 200: Message },
    }),
    async (request) => {
      await identity.withdrawInvitation(requireCaller(request).userId, request.query.email)
      return { message: 'Invitation withdrawn' }
    },
  )

  app.patch(
    '/api/admin/users/:id',
    adminRoute('updateUser', 'Change an account, or override its tier; null removes the override', {
      params: Type.Object({ id: Uuid }),
      body: Type.Object({
        is_active: Type.Optional(Type.Boolean()),
        is_verified: Type.Optional(Type.Boolean()),
        is_superuser: Type.Optional(Type.Boolean()),
        subscription_tier: Type.Optional(Type.Union([Tier, Type.Null()])),
        subscription_tier_until: Type.Optional(
          Type.Union([InstantInput, Type.Null()], {
            description:
              'When the override ends by itself; only with a tier. Without it, the plan has no end; an earlier end is removed.',
          }),
        ),
      }),
      response: { 200: ChangedUser },
    }),
    async (request) => {
      const caller = requireCaller(request)
      await requireFreshSignIn({ db, clock }, caller)
      const user = await identity.changeUser(caller.userId, request.params.id, request.body)
      return {
        ...userView(config.catalogue, user),
        tier_override: user.tier_override,
        tier_override_until: user.tier_override_until,
        last_login_at: user.last_login_at,
      }
    },
  )
}
