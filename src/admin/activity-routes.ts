// Routes of superusers for the audit log, jobs, emails that wait or failed, and received payment
// events.
import { type Static, Type } from 'typebox'
import { recordAudit } from '#audit/audit.ts'
import { AuditEntries, AuditEntryView, AuditPage, pageOfAudit } from '#audit/entries.ts'
import { findPeople } from '#identity/admin/administration.ts'
import { MAIL_JOBS } from '#mail/mail.ts'
import { transaction } from '#platform/db/db.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, Message, Nullable, OneOf, Uuid } from '#platform/http/schema.ts'
import { listEvents } from '#platform/jobs/event-list.ts'
import type { ListedJob } from '#platform/jobs/job-list.ts'
import type { Platform } from '#platform/platform.ts'
import { adminRoute } from './admin-route.ts'
import { adminProblem } from './problems.ts'

const AdminAuditEntry = Type.Object(
  {
    ...AuditEntryView.properties,
    actor_email: Nullable(Type.String({ description: 'The address of `actor_id`' })),
    actor_name: Nullable(Type.String()),
    subject_email: Nullable(Type.String({ description: 'The address of the user in `subject`' })),
    subject_name: Nullable(Type.String()),
  },
  { title: 'AdminAuditEntry' },
)

const JobView = Type.Object(
  {
    id: Type.String(),
    kind: Type.String(),
    attempts: Type.Integer(),
    last_error: Nullable(Type.String()),
    created_at: Instant,
    run_at: Type.String({
      format: 'date-time',
      description: 'When a waiting job is due; when a failed job was tried last',
    }),
    is_running: Type.Boolean(),
    email: Nullable(
      Type.Object(
        { to: Type.String(), subject: Type.String() },
        { title: 'JobEmail', description: 'The email that the job sends' },
      ),
    ),
  },
  { title: 'Job' },
)

const ReceivedEvent = Type.Object(
  {
    source: Type.String({ description: 'The part of the service that handles it' }),
    id: Type.String({ description: 'The id at the processor' }),
    received_at: Instant,
    handled_at: Nullable(Instant),
    job: Nullable(
      Type.Object(
        {
          id: Type.String(),
          attempts: Type.Integer(),
          last_error: Nullable(Type.String()),
          is_failed: Type.Boolean({ description: 'It is not retried any more' }),
        },
        { title: 'EventJob', description: 'The job that handles it again' },
      ),
    ),
  },
  { title: 'ReceivedEvent' },
)

type Needs = Pick<Platform, 'db' | 'clock' | 'jobs'>

export function adminActivityRoutes(app: App, needs: Needs): void {
  auditRoutes(app, needs)
  jobRoutes(app, needs)

  app.get(
    '/api/admin/events',
    adminRoute(
      'listReceivedEvents',
      'List events received from the payment processor, newest first',
      {
        querystring: Type.Object({
          open: Type.Optional(
            Type.Boolean({ description: 'True: only events that are not handled yet' }),
          ),
          limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
          cursor: Type.Optional(Type.String({ maxLength: 500 })),
        }),
        response: {
          200: Type.Object({
            events: Type.Array(ReceivedEvent),
            next_cursor: Nullable(Type.String()),
          }),
        },
      },
    ),
    ({ query: { open = false, limit, cursor } }) =>
      listEvents(needs.db, { isOpen: open, limit, cursor }),
  )
}

function auditRoutes(app: App, { db }: Needs): void {
  app.get(
    '/api/admin/audit',
    adminRoute(
      'listAudit',
      'List security events of all accounts, newest first; failed sign-ins appear after some seconds',
      {
        querystring: Type.Object({ user_id: Type.Optional(Uuid), ...AuditPage.properties }),
        response: {
          200: Type.Object({ ...AuditEntries.properties, entries: Type.Array(AdminAuditEntry) }),
        },
      },
    ),
    async ({ query: { user_id: userId, ...asked } }) => {
      const page = await pageOfAudit(db, { userId, ...asked })
      const people = await findPeople(db, [...new Set(page.entries.flatMap(collectUserIds))])
      const entries = page.entries.map((entry) => {
        const actor = people.get(entry.actor_id ?? '')
        const subject = people.get(entry.subject?.replace(/^user:/, '') ?? '')
        return {
          ...entry,
          actor_email: actor?.email ?? null,
          actor_name: actor?.full_name ?? null,
          subject_email: subject?.email ?? null,
          subject_name: subject?.full_name ?? null,
        }
      })
      return { ...page, entries }
    },
  )
}

/** Returns the ids of the users that an audit entry names, without deleted users. */
function collectUserIds({ actor_id, subject }: Static<typeof AuditEntryView>): string[] {
  const named =
    subject?.startsWith('user:') && subject !== 'user:deleted'
      ? subject.slice('user:'.length)
      : null
  return [actor_id, named].filter((id) => id !== null)
}

const About = Type.Optional(OneOf('emails', 'others'))

const chooseKinds = (about: 'emails' | 'others' | undefined) =>
  about && { kinds: MAIL_JOBS, isWithout: about === 'others' }

function jobRoutes(app: App, { db, clock, jobs }: Needs): void {
  app.get(
    '/api/admin/jobs',
    adminRoute('listJobs', 'Count waiting jobs, and list failed jobs and those that are due next', {
      description: '`about` selects the jobs that only send an email, or all others.',
      querystring: Type.Object({ about: About }),
      response: {
        200: Type.Object({
          queued: Type.Integer({ description: 'All waiting and running jobs' }),
          dead: Type.Array(JobView, { description: 'At most 200 failed jobs, newest first' }),
          waiting: Type.Array(JobView, { description: 'The 100 that are due next' }),
        }),
      },
    }),
    async ({ query: { about } }) => {
      const kinds = chooseKinds(about)
      const [{ queued }, dead, waiting] = await Promise.all([
        jobs.counts(),
        jobs.dead(kinds),
        jobs.waiting(kinds),
      ])
      return { queued, dead: dead.map(viewJob), waiting: waiting.map(viewJob) }
    },
  )

  app.post(
    '/api/admin/jobs/retry',
    adminRoute('retryFailedJobs', 'Retry all failed jobs now', {
      description: '`about` selects the jobs that only send an email, or all others.',
      body: Type.Object({ about: About }),
      response: { 200: Type.Object({ retried: Type.Integer() }) },
    }),
    async (request) => {
      const kinds = chooseKinds(request.body.about)
      const actorId = requireCaller(request).userId
      return transaction(db, async (tx) => {
        const retried = await jobs.retryAll(tx, kinds)
        if (retried > 0)
          await recordAudit(tx, {
            actorId,
            action: 'jobs.retried',
            data: { jobs: retried },
            at: clock.now(),
          })
        return { retried }
      })
    },
  )

  app.post(
    '/api/admin/jobs/:id/retry',
    adminRoute('retryJob', 'Retry a failed job, or one that waits for its next attempt, now', {
      params: Type.Object({ id: Uuid }),
      response: { 200: Type.Object({ status: Type.Literal('queued'), id: Type.String() }) },
    }),
    async (request) => {
      const { id } = request.params
      const actorId = requireCaller(request).userId
      await transaction(db, async (tx) => {
        if (!(await jobs.retry(tx, id))) throw adminProblem('job_not_found')
        const subject = `job:${id}`
        await recordAudit(tx, { actorId, action: 'job.retried', subject, at: clock.now() })
      })
      return { status: 'queued' as const, id }
    },
  )

  app.delete(
    '/api/admin/jobs/:id',
    adminRoute('deleteJob', 'Delete a failed job; its effect never happens', {
      params: Type.Object({ id: Uuid }),
      response: { 200: Message },
    }),
    async (request) => {
      const { id } = request.params
      const actorId = requireCaller(request).userId
      await transaction(db, async (tx) => {
        const kind = await jobs.deleteDead(tx, id)
        if (kind === null) throw adminProblem('job_not_found')
        const subject = `job:${id}`
        await recordAudit(tx, {
          actorId,
          action: 'job.deleted',
          subject,
          data: { kind },
          at: clock.now(),
        })
      })
      return { message: 'Job deleted' }
    },
  )
}

/** Payloads contain links that sign users in, so only the address and the subject are shown. */
function viewJob({ payload_json: payload, ...job }: ListedJob): Static<typeof JobView> {
  const { to, subject } = payload as { to?: unknown; subject?: unknown }
  const isEmail =
    MAIL_JOBS.includes(job.kind) && typeof to === 'string' && typeof subject === 'string'
  return { ...job, email: isEmail ? { to, subject } : null }
}
