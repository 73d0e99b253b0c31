/**
 * The client of the payment processor (Stripe's SDK), for billing and the storefront, in production
 * and the sandbox. The SDK accepts host and port but no path, so a prefix adds the base URL's path.
 */
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Stripe } from 'stripe'
import type { Config } from '#config/config.ts'
import { billingProblem } from './problems.ts'
import { stripeSdk } from './stripe-sdk.ts'

/** Pins the shape of events and objects, independently of the account's default version. */
export const API_VERSION = '2026-09-30.endive'

export type Processor = Stripe

const TIMEOUT_MS = 20_000
const RETRIES_MAX = 2

/** Returns null without a key. The SDK is loaded on the first use of the client. */
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
    // The SDK's types name the version they were generated from; this version only lacks some of
    // their fields.
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

/** Users wait no longer than this for the processor; jobs and events do. */
const PATIENCE_MS = 8_000

/**
 * Resolves with the work's result if it is in time. The work continues after a timeout, and a later
 * read finds what it changed at the processor.
 */
export async function withTimeout<T>(work: Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(unreachableProblem()), patienceMs)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** Returns the processor's page of a payment, for the operator. */
export function buildPaymentUrl(
  { processor, urls }: Pick<Config, 'processor' | 'urls'>,
  paymentId: string,
): string {
  if (processor.sandboxed) return `${urls.base}/sandbox/processor`
  const mode = /^[a-z]+_live_/.test(processor.secretKey ?? '') ? '' : 'test/'
  return `https://dashboard.stripe.com/${mode}payments/${paymentId}`
}

/** Maps the processor's errors to a 502, or to a 503 if a retry may succeed. */
export async function mapProcessorErrors<T>(call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    const Stripe = stripeSdk()
    // The processor's own failure is not a refusal.
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
 * Returns true when the processor executed the call and failed or refused it. Under an idempotency
 * key it repeats that answer for a day, so a retry needs another key. Connection failures, 429 and
 * 409 (a call under the same key is still running) are no answers.
 */
export function isFinalAnswer(error: unknown): boolean {
  const { StripeError, StripeConnectionError, StripeRateLimitError } = stripeSdk().errors
  if (!(error instanceof StripeError) || error instanceof StripeConnectionError) return false
  return !(error instanceof StripeRateLimitError) && !isUnderWay(error)
}

/** Returns true for a failure that the processor repeats for a used idempotency key. */
export function isReplayed(error: unknown): boolean {
  return (
    error instanceof stripeSdk().errors.StripeError &&
    error.headers?.['idempotent-replayed'] === 'true'
  )
}

/** Returns true when another call under the same idempotency key is still running. */
export function isUnderWay(error: unknown): boolean {
  return error instanceof stripeSdk().errors.StripeError && error.statusCode === 409
}

/** Returns true when the processor rejects the request as invalid. */
export function isInvalid(error: unknown): boolean {
  return error instanceof stripeSdk().errors.StripeInvalidRequestError
}

/** Returns true when the requested object does not exist at the processor. */
export function isMissing(error: unknown): boolean {
  return (
    error instanceof stripeSdk().errors.StripeInvalidRequestError &&
    error.code === 'resource_missing'
  )
}

/**
 * Resolves with the call's result; null when the requested object does not exist at the processor.
 */
export function nullIfMissing<T>(call: Promise<T>): Promise<T | null> {
  return call.catch((error: unknown) => {
    if (isMissing(error)) return null
    throw error
  })
}

/** Codes of payments that the customer must confirm at their bank while they are absent. */
const CONFIRMATION_CODES = [
  'subscription_payment_intent_requires_action',
  'authentication_required',
]

/**
 * Maps refused payments to a Problem.
 * @throws Problem 402 when the card was refused or the bank requires a confirmation.
 */
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

/** Returns true when the customer is missing, rather than, say, a price. */
export function isMissingCustomer(error: unknown): boolean {
  return isMissing(error) && /no such customer/i.test((error as Error).message)
}

function createPrefixedClient(prefix: string, protocol: 'http' | 'https') {
  // A separate agent, so that idle connections to this base URL are not shared with other clients.
  const agent =
    protocol === 'http' ? new HttpAgent({ keepAlive: true }) : new HttpsAgent({ keepAlive: true })
  const inner = stripeSdk().createNodeHttpClient(agent)
  const makeRequest: typeof inner.makeRequest = (host, port, path, ...rest) =>
    inner.makeRequest(host, port, `${prefix}${path}`, ...rest)
  return { getClientName: () => inner.getClientName(), makeRequest }
}
