import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { type ContactDeps, ContactForm, sendMessage } from './contact.ts'

export function contactRoutes(app: App, deps: ContactDeps): void {
  app.post(
    '/api/contact',
    {
      schema: {
        operationId: 'sendContactMessage',
        body: ContactForm,
        response: { 200: Type.Object({ success: Type.Boolean() }) },
        tags: ['contact'],
        summary: 'Sends a message to the team',
      },
      config: { access: 'anyone' },
    },
    async (request) => {
      await sendMessage(deps, request.body, request.ip)
      return { success: true }
    },
  )
}
