/**
 * The webhook route of billing and the storefront: verifies the signature over the raw bytes, then
 * calls the room. Events are never rate-limited, since a rejected event could be an unnoticed
 * payment; they are only counted for the rate headers.
 */

import type { Stripe } from 'stripe'
import { Type } from 'typebox'
import type { Clock } from '#platform/clock.ts'
import { addressKey } from '#platform/http/address.ts'
import type { App } from '#platform/http/app.ts'
import { isOfThisMachine } from '#platform/http/loopback.ts'
import type { Described } from '#platform/http/openapi.ts'
import { JsonObject } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { rateHeaders } from '#platform/rate-limiter.ts'
import { billingProblem } from './problems.ts'
import { stripeSdk } from './stripe-sdk.ts'

/** As in the processor's own libraries: an older signature is a replay. */
const SIGNATURE_AGE_MAX_S = 300

const EVENT: Described = {
  parameters: [
    {
      name: 'stripe-signature',
      in: 'header',
      description: 'Signs the bytes of the body. The header `processor-signature` is equivalent.',
      schema: { type: 'string' },
    },
  ],
  body: {
    'application/json': Type.Object(
      {
        id: Type.String(),
        type: Type.String(),
        data: Type.Object(
          { object: JsonObject },
          { title: 'ProcessorEventData', additionalProperties: true },
        ),
      },
      { title: 'ProcessorEvent', additionalProperties: true },
    ),
  },
}

export type EventRoute = {
  url: string
  operationId: string
  tag: string
  /** The secret that signs events; null when this endpoint is not configured. */
  secret: string | null
  /** Receives signed events that have an id, a type and an object. */
  receive(event: Stripe.Event): Promise<void>
}

export function registerEventRoute(
  app: App,
  { config, clock, limiter }: Pick<Platform, 'config' | 'clock' | 'limiter'>,
  { url, operationId, tag, secret, receive }: EventRoute,
): void {
  app.register(async (scope) => {
    // Nothing may parse the bytes before their signature is checked.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    )

    scope.post(
      url,
      {
        config: { access: 'anyone', limit: 'none', described: EVENT },
        schema: {
          operationId,
          tags: [tag],
          summary: 'Events of the payment processor',
          response: { 200: Type.Object({ received: Type.Boolean() }, { title: 'EventReceipt' }) },
        },
        async onRequest(request, reply) {
          const rate = config.limits.general
          if (rate)
            reply.headers(rateHeaders(await limiter.hit('events', addressKey(request.ip), rate)))
          if (config.processor.sandboxed && !isOfThisMachine(request)) {
            throw billingProblem('sandbox_only')
          }
        },
      },
      async (request) => {
        const signature =
          request.headers['stripe-signature'] ?? request.headers['processor-signature']
        await receive(verifyEvent(clock, secret, request.body, signature))
        return { received: true }
      },
    )
  })
}

/**
 * Verifies and parses an event.
 * @throws Problem 400 `Invalid signature` or `Invalid payload`, 503 without a secret.
 */
function verifyEvent(
  clock: Clock,
  secret: string | null,
  body: unknown,
  signature: unknown,
): Stripe.Event {
  if (secret === null) throw billingProblem('billing_not_configured')
  if (!Buffer.isBuffer(body) || body.length === 0) throw invalidPayload()
  if (typeof signature !== 'string') throw invalidSignature()

  const event = parseSignedEvent(clock, secret, body, signature)
  // The signature proves the sender, not the shape.
  const object: unknown = event?.data?.object
  const isWhole = typeof event?.id === 'string' && event.id !== '' && typeof event.type === 'string'
  if (!isWhole || typeof object !== 'object' || object === null) throw invalidPayload()
  return event
}

function parseSignedEvent(
  clock: Clock,
  secret: string,
  body: Buffer,
  signature: string,
): Stripe.Event {
  const { webhooks, errors } = stripeSdk()
  try {
    return webhooks.constructEvent(
      body,
      signature,
      secret,
      SIGNATURE_AGE_MAX_S,
      undefined,
      clock.ms(),
    )
  } catch (cause) {
    throw cause instanceof errors.StripeSignatureVerificationError
      ? invalidSignature(cause)
      : invalidPayload(cause)
  }
}

const invalidSignature = (cause?: unknown) => billingProblem('invalid_signature', { cause })
const invalidPayload = (cause?: unknown) => billingProblem('invalid_payload', { cause })
