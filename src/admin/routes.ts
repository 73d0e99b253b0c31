// The superuser's API: statistics, users, messages and failed jobs. The rules are in the rooms that
// the routes call.
import { type Static, Type } from 'typebox'
import { recordAudit } from '#audit/audit.ts'
import { AuditEntries, AuditEntryView, AuditPage, pageOfAudit } from '#audit/entries.ts'
import { findEmails, userStats } from '#identity/admin/administration.ts'
import type { Identity } from '#identity/identity.ts'
import { requireFreshSignIn } from '#identity/sign-in/step-up.ts'
import { UserView, userView } from '#identity/users.ts'
import { transaction } from '#platform/db/db.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, Message, Named, Nullable, OneOf, Uuid } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { ListedUser } from './customers.ts'
import { adminProblem } from './problems.ts'

const tags = ['admin']

/** The user as they see themselves, and the list's additional fields. */
const ChangedUser = Type.Object(
  {
    ...UserView.properties,
    tier_override: ListedUser.properties.tier_override,
    last_login_at: ListedUser.properties.last_login_at,
  },
  { title: 'ChangedUser' },
)

const AdminAuditEntry = Type.Object(
  {
    ...AuditEntryView.properties,
    actor_email: Nullable(Type.String({ description: 'The address of `actor_id`' })),
    subject_email: Nullable(Type.String({ description: 'The address of the user in `subject`' })),
  },
  { title: 'AdminAuditEntry' },
)

type Needs = Pick<Platform, 'config' | 'db' | 'clock' | 'jobs'> & { identity: Identity }

/** Returns the ids of the users that an audit entry names, without deleted users. */
function collectUserIds({ actor_id, subject }: Static<typeof AuditEntryView>): string[] {
  const named =
    subject?.startsWith('user:') && subject !== 'user:deleted'
      ? subject.slice('user:'.length)
      : null
  return [actor_id, named].filter((id) => id !== null)
}

export function adminRoutes(app: App, { config, db, clock, jobs, identity }: Needs): void {
  const Tier = Named('Tier', OneOf(...config.catalogue.plans.map(({ tier }) => tier)))

  app.get(
    '/api/admin/stats',
    {
      schema: {
        operationId: 'getStats',
        tags,
        summary: 'Count users and subscriptions',
        response: {
          200: Type.Object({
            total_users: Type.Integer(),
            active_subscriptions: Type.Integer(),
            new_users_7d: Type.Integer(),
            verified_users: Type.Integer(),
          }),
        },
      },
      config: { access: 'superuser' },
    },
    () => userStats(db, clock.now()),
  )

  app.get(
    '/api/admin/audit',
    {
      schema: {
        operationId: 'listAudit',
        tags,
        summary:
          'List security events of all accounts, newest first; failed sign-ins appear after some seconds',
        querystring: Type.Object({ user_id: Type.Optional(Uuid), ...AuditPage.properties }),
        response: {
          200: Type.Object({ ...AuditEntries.properties, entries: Type.Array(AdminAuditEntry) }),
        },
      },
      config: { access: 'superuser' },
    },
    async ({ query: { user_id: userId, ...asked } }) => {
      const page = await pageOfAudit(db, { userId, ...asked })
      const emails = await findEmails(db, [...new Set(page.entries.flatMap(collectUserIds))])
      const entries = page.entries.map((entry) => ({
        ...entry,
        actor_email: emails.get(entry.actor_id ?? '') ?? null,
        subject_email: emails.get(entry.subject?.replace(/^user:/, '') ?? '') ?? null,
      }))
      return { ...page, entries }
    },
  )

  app.post(
    '/api/admin/invitations',
    {
      schema: {
        operationId: 'inviteUser',
        tags,
        summary: 'Email an invitation, whose link creates an account when `SIGNUP=invited`',
        body: Type.Object({ email: Type.String({ format: 'email' }) }),
        response: { 200: Message },
      },
      config: { access: 'superuser' },
    },
    async (request) => {
      await identity.invite(requireCaller(request).userId, request.body.email)
      return { message: 'Invitation sent' }
    },
  )

  app.get(
    '/api/admin/invitations',
    {
      schema: {
        operationId: 'listInvitations',
        tags,
        summary: 'List unused invitations, newest first',
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
      },
      config: { access: 'superuser' },
    },
    async () => ({ invitations: await identity.listInvitations() }),
  )

  app.delete(
    '/api/admin/invitations',
    {
      schema: {
        operationId: 'withdrawInvitation',
        tags,
        summary: 'Withdraw an invitation; its link stops working',
        querystring: Type.Object({ email: Type.String({ format: 'email' }) }),
        response: { 200: Message },
      },
      config: { access: 'superuser' },
    },
    async (request) => {
      await identity.withdrawInvitation(requireCaller(request).userId, request.query.email)
      return { message: 'Invitation withdrawn' }
    },
  )

  app.patch(
    '/api/admin/users/:id',
    {
      schema: {
        operationId: 'updateUser',
        tags,
        summary: 'Change an account, or override its tier; null removes the override',
        params: Type.Object({ id: Uuid }),
        body: Type.Object({
          is_active: Type.Optional(Type.Boolean()),
          is_verified: Type.Optional(Type.Boolean()),
          is_superuser: Type.Optional(Type.Boolean()),
          subscription_tier: Type.Optional(Type.Union([Tier, Type.Null()])),
        }),
        response: { 200: ChangedUser },
      },
      config: { access: 'superuser' },
    },
    async (request) => {
      const caller = requireCaller(request)
      await requireFreshSignIn({ db, clock }, caller)
      const user = await identity.changeUser(caller.userId, request.params.id, request.body)
      return {
        ...userView(config.catalogue, user),
        tier_override: user.tier_override,
        last_login_at: user.last_login_at,
      }
    },
  )

  app.get(
    '/api/admin/jobs',
    {
      schema: {
        operationId: 'listJobs',
        tags,
        summary: 'Count waiting jobs and list failed jobs',
        response: {
          200: Type.Object({
            queued: Type.Integer(),
            dead: Type.Array(
              Type.Object(
                {
                  id: Type.String(),
                  kind: Type.String(),
                  attempts: Type.Integer(),
                  last_error: Nullable(Type.String()),
                  created_at: Instant,
                },
                { title: 'DeadJob' },
              ),
            ),
          }),
        },
      },
      config: { access: 'superuser' },
    },
    async () => ({ queued: (await jobs.counts()).queued, dead: await jobs.dead() }),
  )

  app.post(
    '/api/admin/jobs/:id/retry',
    {
      schema: {
        operationId: 'retryJob',
        tags,
        summary: 'Retry a failed job',
        params: Type.Object({ id: Uuid }),
        response: { 200: Type.Object({ status: Type.Literal('queued'), id: Type.String() }) },
      },
      config: { access: 'superuser' },
    },
    async (request) => {
      const { id } = request.params
      if (!(await jobs.retry(id))) throw adminProblem('job_not_found')
      const actorId = requireCaller(request).userId
      await transaction(db, (tx) =>
        recordAudit(tx, { actorId, action: 'job.retried', subject: `job:${id}`, at: clock.now() }),
      )
      return { status: 'queued' as const, id }
    },
  )
}
