import { type Static, Type } from 'typebox'
import { addressKey } from '#platform/http/address.ts'
import type { App } from '#platform/http/app.ts'
import { invalid } from '#platform/problems.ts'
import { rateProblem } from '#platform/rate-limiter.ts'
import { storefrontProblem } from '../problems.ts'
import type { StorefrontDeps } from '../storefront.ts'
import { type ContactForm, receiveMessage, SUBJECT_WORDS } from './contact.ts'

/** One line: a line break in what becomes a mail's header would start another header. */
const ONE_LINE = '^[^\\r\\n\\u0000]*$'
const PER_ADDRESS = { requests: 20, seconds: 3600 }

export const ContactBody = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200, pattern: ONE_LINE }),
  email: Type.String({ minLength: 1, maxLength: 254, format: 'email' }),
  // Its words are checked by hand: an empty one is missing (400), another one wrong (422).
  subject: Type.String({ minLength: 1, maxLength: 100 }),
  message: Type.String({ minLength: 1, maxLength: 10_000 }),
})

export function contactRoutes(app: App, deps: StorefrontDeps): void {
  app.post(
    '/api/contact',
    {
      schema: {
        operationId: 'sendContactMessage',
        body: ContactBody,
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

/** For the form and the API alike: trims, refuses blanks, counts by address, and hands over. */
export async function sendMessage(deps: StorefrontDeps, body: Static<typeof ContactBody>, address: string) {
  const subject = SUBJECT_WORDS.find((word) => word === body.subject)
  if (!subject) throw invalid(['body', 'subject'], `Should be one of ${SUBJECT_WORDS.join(', ')}`, 'enum')
  const form: ContactForm = { ...body, subject, name: body.name.trim(), message: body.message.trim() }
  for (const field of ['name', 'message'] as const) {
    if (form[field] === '') throw storefrontProblem('field_missing', { field })
  }
  if (deps.config.limits.general !== null) {
    const hit = await deps.limiter.hit('contact', addressKey(address), PER_ADDRESS)
    if (!hit.allowed) throw rateProblem(hit)
  }
  await receiveMessage(deps, form)
}
