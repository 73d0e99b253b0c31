/**
 * The client of the payment processor (Stripe's SDK), for billing and the storefront, production and sandbox alike. The SDK knows host and
 * port but no path, so the base address's path is put before each request's own.
 */
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Stripe } from 'stripe'
import type { Config } from '#config/config.ts'
import { billingProblem } from './problems.ts'
import { stripeSdk } from './stripe-sdk.ts'

/** Events and objects keep this shape whatever the account's own version is. */
export const API_VERSION = '2026-09-30.endive'

export type Processor = Stripe

const TIMEOUT_MS = 20_000
const RETRIES_MAX = 2

/** Null when there is no key. The SDK behind it is loaded when the client is first asked for anything. */
export function openProcessor({ secretKey, apiBase }: Config['processor']): Processor | null {
  if (secretKey === null) return null
  let client: Stripe | null = null
  return new Proxy({} as Processor, {
    get(_target, name) {
      client ??= openClient(secretKey, apiBase)
      return Reflect.get(client, name, client)
    },
  })
}

function openClient(secretKey: string, apiBase: string | null): Stripe {
  const Stripe = stripeSdk()
  const options = {
    // The SDK's types name the version it was generated from; this one differs from it only in what it lacks.
    apiVersion: API_VERSION as Stripe.LatestApiVersion,
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES_MAX,
    telemetry: false,
  }
  if (apiBase === null) return new Stripe(secretKey, options)

  const base = new URL(apiBase)
  const protocol = base.protocol === 'http:' ? 'http' : 'https'
  return new Stripe(secretKey, {
    ...options,
    host: base.hostname,
    port: base.port || (protocol === 'http' ? '80' : '443'),
    protocol,
    httpClient: createPrefixedClient(base.pathname.replace(/\/+$/, ''), protocol),
  } as Stripe.StripeConfig)
}

/** @throws Problem 503 `Billing is not configured` */
export function requireProcessor(processor: Processor | null): Processor {
  if (!processor) throw billingProblem('billing_not_configured')
  return processor
}

const unreachableProblem = (cause?: unknown) =>
  billingProblem('processor_unreachable', { headers: { 'Retry-After': '5' }, cause })

/** A person waits no longer for the processor; jobs and events do. */
const PATIENCE_MS = 8_000

/**
 * What the work returns, if it does in time. The work goes on afterwards: what it changes at the processor is read from there later.
 * @throws Problem 503 `processor_unreachable`, with Retry-After
 */
export async function withTimeout<T>(work: Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(unreachableProblem()), patienceMs)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** The processor's page of a payment, for the operator. */
export function buildPaymentUrl(
  { processor, urls }: Pick<Config, 'processor' | 'urls'>,
  paymentId: string,
): string {
  if (processor.sandboxed) return `${urls.base}/sandbox/processor`
  const mode = /^[a-z]+_live_/.test(processor.secretKey ?? '') ? '' : 'test/'
  return `https://dashboard.stripe.com/${mode}payments/${paymentId}`
}

/** An answer from the processor that is not our caller's fault becomes a 502 or 503 that says whether to try again. */
export async function mapProcessorErrors<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    const Stripe = stripeSdk()
    // A failure of its own is no refusal.
    if (
      error instanceof Stripe.errors.StripeError &&
      (!isFinalAnswer(error) || (error.statusCode ?? 500) >= 500)
    ) {
      throw unreachableProblem(error)
    }
    if (error instanceof Stripe.errors.StripeError) {
      throw billingProblem('processor_failed', { cause: error })
    }
    throw error
  }
}

/**
 * True when the processor has done the call and failed or refused it. Under an idempotency key it gives that answer to each further call,
 * for a day and whatever is mended meanwhile: who asks again needs another key. No answer is what never reached it, came too fast (429), or
 * met another call under the same key that is still running (409).
 */
export function isFinalAnswer(error: unknown): boolean {
  const { StripeError, StripeConnectionError, StripeRateLimitError } = stripeSdk().errors
  if (!(error instanceof StripeError) || error instanceof StripeConnectionError) return false
  return !(error instanceof StripeRateLimitError) && !isUnderWay(error)
}

/** True of a failure that the processor gives once more, under a key that it knows. */
export function isReplayed(error: unknown): boolean {
  return (
    error instanceof stripeSdk().errors.StripeError &&
    error.headers?.['idempotent-replayed'] === 'true'
  )
}

/** True when another call under the same idempotency key is still running. */
export function isUnderWay(error: unknown): boolean {
  return error instanceof stripeSdk().errors.StripeError && error.statusCode === 409
}

/** True when the processor refuses the call for what it asks. */
export function isInvalid(error: unknown): boolean {
  return error instanceof stripeSdk().errors.StripeInvalidRequestError
}

/** True when the processor says that what was asked for is not there (any more). */
export function isMissing(error: unknown): boolean {
  return (
    error instanceof stripeSdk().errors.StripeInvalidRequestError &&
    error.code === 'resource_missing'
  )
}

/** What the call answers; null when the processor says that what was asked for is not there (any more). */
export function nullIfMissing<T>(call: Promise<T>): Promise<T | null> {
  return call.catch((error: unknown) => {
    if (isMissing(error)) return null
    throw error
  })
}

/** The bank wants its customer to confirm, and nobody is there to be asked. */
const CONFIRMATION_CODES = [
  'subscription_payment_intent_requires_action',
  'authentication_required',
]

/** @throws Problem 402 where the card was refused, or its bank wants to ask first. */
export function mapRefusals<T>(call: Promise<T>): Promise<T> {
  return call.catch((error: unknown) => {
    if (error instanceof stripeSdk().errors.StripeError && error.statusCode === 402)
      throw billingProblem(
        CONFIRMATION_CODES.includes(error.code ?? '') ? 'payment_to_confirm' : 'payment_refused',
        { cause: error },
      )
    throw error
  })
}

/** True when it is the customer that is gone, rather than, say, a price that nobody made. */
export function isMissingCustomer(error: unknown): boolean {
  return isMissing(error) && /no such customer/i.test((error as Error).message)
}

function createPrefixedClient(prefix: string, protocol: 'http' | 'https') {
  // An agent of our own: idle connections to a base address are not shared with, or kept alive by, anyone else.
  const agent =
    protocol === 'http' ? new HttpAgent({ keepAlive: true }) : new HttpsAgent({ keepAlive: true })
  const inner = stripeSdk().createNodeHttpClient(agent)
  const makeRequest: typeof inner.makeRequest = (host, port, path, ...rest) =>
    inner.makeRequest(host, port, `${prefix}${path}`, ...rest)
  return { getClientName: () => inner.getClientName(), makeRequest }
}
