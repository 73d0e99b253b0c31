import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { readLocale } from '#platform/http/request-locale.ts'
import { type ContactDeps, ContactForm, ContactSubjectName, sendMessage } from './contact.ts'

/** The response as documented. */
const Message = Type.Object(
  { ...ContactForm.properties, subject: ContactSubjectName },
  { title: 'ContactMessage' },
)

export function contactRoutes(app: App, deps: ContactDeps): void {
  app.post(
    '/api/contact',
    {
      schema: {
        operationId: 'sendContactMessage',
        body: ContactForm,
        response: { 200: Type.Object({ success: Type.Boolean() }, { title: 'ContactReceipt' }) },
        tags: ['contact'],
        summary: 'Sends a message to the team',
      },
      config: { access: 'anyone', described: { body: { 'application/json': Message } } },
    },
    async (request) => {
      const sender = { address: request.ip, locale: readLocale(request) }
      await sendMessage(deps, request.body, sender)
      return { success: true }
    },
  )
}
