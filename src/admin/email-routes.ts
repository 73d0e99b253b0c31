/** Lists emails for superusers: recipient, subject, and whether the mail server accepted each. */
import { Type } from 'typebox'
import { listEmails } from '#mail/email-log.ts'
import { EMAIL_STATES } from '#mail/tables.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, Nullable, OneOf, Uuid } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { adminRoute } from './admin-route.ts'

const LoggedEmail = Type.Object(
  {
    id: Type.String(),
    user_id: Nullable(
      Type.String({
        description:
          'The account that the email is for. Null for emails to the operator, to an address without an account, and to senders of the contact form.',
      }),
    ),
    address: Type.String(),
    subject: Type.String(),
    state: OneOf(...EMAIL_STATES),
    error: Nullable(Type.String({ description: 'The words of the mail server after a failure' })),
    created_at: Instant,
    sent_at: Nullable(Instant),
  },
  { title: 'LoggedEmail' },
)

export function adminEmailRoutes(app: App, { db }: Pick<Platform, 'db'>): void {
  app.get(
    '/api/admin/emails',
    adminRoute('listEmails', 'List emails to customers and to the operator, newest first', {
      description:
        'Emails are stored without their text for `RETENTION_DAYS` (`events`), and deleted with the account. `failed` means that the last attempt failed; a job may try again.',
      querystring: Type.Object({
        user_id: Type.Optional(Uuid),
        state: Type.Optional(OneOf(...EMAIL_STATES)),
        limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
        cursor: Type.Optional(Type.String({ maxLength: 500 })),
      }),
      response: {
        200: Type.Object({
          emails: Type.Array(LoggedEmail),
          next_cursor: Nullable(Type.String()),
        }),
      },
    }),
    ({ query: { user_id: userId, ...asked } }) => listEmails(db, { userId, ...asked }),
  )
}
