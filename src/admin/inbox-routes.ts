/** The inbox of the contact form, for superusers. */
import { Type } from 'typebox'
import { listSuperusers } from '#identity/admin/administration.ts'
import type { App } from '#platform/http/app.ts'
import { CountedPaged, PageQuery } from '#platform/http/keyset.ts'
import { Nullable, Uuid } from '#platform/http/schema.ts'
import {
  assignMessage,
  closeMessage,
  type InboxDeps,
  InboxMessage,
  listContactMessages,
  replyToMessage,
} from '#storefront/contact/inbox.ts'
import { adminRoute, readChange } from './admin-route.ts'

const params = Type.Object({ id: Uuid })

export function adminInboxRoutes(app: App, deps: InboxDeps): void {
  app.get(
    '/api/admin/contact-messages',
    adminRoute(
      'listContactMessages',
      'List messages of the contact form, newest first; `notified_at` is null until support is emailed',
      {
        querystring: Type.Object({
          open: Type.Optional(Type.Boolean({ description: 'Only open, or only closed messages' })),
          ...PageQuery,
        }),
        response: {
          200: Type.Object({
            messages: Type.Array(InboxMessage),
            superusers: Type.Array(
              Type.Object(
                { id: Type.String(), email: Type.String(), full_name: Nullable(Type.String()) },
                { title: 'Superuser' },
              ),
              { description: 'To whom messages can be assigned' },
            ),
            ...CountedPaged,
          }),
        },
      },
    ),
    async ({ query: { open, ...asked } }) => {
      const [listed, superusers] = await Promise.all([
        listContactMessages(deps.db, asked, open),
        listSuperusers(deps.db),
      ])
      return { ...listed, superusers }
    },
  )

  app.post(
    '/api/admin/contact-messages/:id/reply',
    adminRoute('replyToContactMessage', 'Email an answer to the sender of a message', {
      params,
      body: Type.Object({
        message: Type.String({ minLength: 1, maxLength: 10_000, pattern: '\\S' }),
      }),
      response: { 200: InboxMessage },
    }),
    (request) => replyToMessage(deps, readChange(request), request.body.message),
  )

  app.post(
    '/api/admin/contact-messages/:id/assign',
    adminRoute('assignContactMessage', 'Assign a message to a superuser; null to nobody', {
      params,
      body: Type.Object({ user_id: Nullable(Uuid) }),
      response: { 200: InboxMessage },
    }),
    (request) => assignMessage(deps, readChange(request), request.body.user_id),
  )

  app.post(
    '/api/admin/contact-messages/:id/close',
    adminRoute('closeContactMessage', 'Close a message, or open it again', {
      params,
      body: Type.Object({ closed: Type.Boolean({ default: true }) }),
      response: { 200: InboxMessage },
    }),
    (request) => closeMessage(deps, readChange(request), request.body.closed),
  )
}
