/** The processor's door: signature, then the inbox, then the handling; in this order nothing is lost and nothing is forged. */
import type { FastifyInstance } from 'fastify'
import type { Stripe } from 'stripe'
import { Type } from 'typebox'
import { Problem } from '#platform/problem.ts'
import type { BillingDeps } from './deps.ts'
import { hintOf } from './hints.ts'
import { stripeSdk } from './stripe-sdk.ts'

export const INBOX_SOURCE = 'processor.billing'

/** As the processor's own libraries: an older signature is a replay. */
const SIGNATURE_AGE_MAX_S = 300

const BODY_MAX_BYTES = 1024 * 1024

export function webhookRoute(app: FastifyInstance, deps: BillingDeps): void {
  // The signature covers the bytes as they came: nothing may parse them before it is checked.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_MAX_BYTES }, (_request, body, done) =>
    done(null, body),
  )

  app.post(
    '/api/billing/webhook',
    {
      config: { access: 'anyone', limit: 'none' },
      schema: {
        tags: ['billing'],
        summary: 'Events of the payment processor',
        description: 'Takes the processor’s signature in `Stripe-Signature` or `Processor-Signature`.',
        response: { 200: Type.Object({ received: Type.Boolean() }) },
      },
    },
    async (request) => {
      const header = request.headers['stripe-signature'] ?? request.headers['processor-signature']
      const event = verifiedEvent(deps, request.body, header)
      const hint = hintOf(event)
      if (hint) await deps.inbox.receive(INBOX_SOURCE, hint.id, hint)
      return { received: true }
    },
  )
}

/** @throws Problem 400 `Invalid signature` or `Invalid payload`, 503 when there is no secret to check with. */
export function verifiedEvent(
  { config, clock, processor }: Pick<BillingDeps, 'config' | 'clock' | 'processor'>,
  body: unknown,
  header: string | string[] | undefined,
): Stripe.Event {
  const secret = config.processor.webhookSecret
  if (secret === null || !processor) throw new Problem('billing_not_configured', 503, 'Billing is not configured')
  if (!Buffer.isBuffer(body) || body.length === 0) throw new Problem('invalid_payload', 400, 'Invalid payload')
  if (typeof header !== 'string') throw new Problem('invalid_signature', 400, 'Invalid signature')

  let event: Stripe.Event
  try {
    event = stripeSdk().webhooks.constructEvent(body, header, secret, SIGNATURE_AGE_MAX_S, undefined, clock.ms())
  } catch (cause) {
    const forged = cause instanceof stripeSdk().errors.StripeSignatureVerificationError
    throw new Problem(
      forged ? 'invalid_signature' : 'invalid_payload',
      400,
      forged ? 'Invalid signature' : 'Invalid payload',
      { cause },
    )
  }
  const object: unknown = event?.data?.object
  if (
    typeof event?.id !== 'string' ||
    typeof event.type !== 'string' ||
    typeof object !== 'object' ||
    object === null
  ) {
    throw new Problem('invalid_payload', 400, 'Invalid payload')
  }
  return event
}
