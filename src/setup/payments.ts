/**
 * Tests a key of the payment processor, and creates the webhook endpoints and the prices of plans
 * with it. The operator then needs no other page of the processor than the one with the key.
 */
import { createHash } from 'node:crypto'
import type { Stripe } from 'stripe'
import { BILLING_EVENT_TYPES } from '#billing/billing-events.ts'
import { MONEY_EVENT_TYPES } from '#billing/money/money-events.ts'
import { billingProblem } from '#billing/problems.ts'
import { API_VERSION, openProcessor, type Processor } from '#billing/processor.ts'
import { stripeSdk } from '#billing/stripe-sdk.ts'
import type { Config } from '#config/config.ts'
import { PRICE_NAME } from '#config/settings-file.ts'
import { DAY_MS } from '#platform/clock.ts'
import { isLoopbackHost } from '#platform/http/loopback.ts'
import type { Platform } from '#platform/platform.ts'
import { PAYMENT_EVENT_TYPES } from '#storefront/payments/payment-events.ts'
import { STOREFRONT_EVENTS } from '#storefront/payments/routes.ts'
import { setupProblem } from './problems.ts'
import type { Changes, Settings } from './saved-settings.ts'

/** Requests of the setup page are not retried, because a person waits and can repeat them. */
const ONCE = { timeout: 8_000, maxNetworkRetries: 0 }
const REASON_MAX = 300

export type Account = { name: string | null; country: string | null; can_charge: boolean }

/**
 * Reads the account of the key and creates the webhook endpoints, unless the caller has a signing
 * secret. Returns the changes to save.
 * @throws Problem 409, 422, or 503 when the processor does not answer
 */
export async function setUpPayments(
  { clock, config }: Pick<Platform, 'clock' | 'config'>,
  settings: Settings,
  { secretKey, webhookSecret }: { secretKey: string; webhookSecret: string | null },
): Promise<{ account: Account; changes: Changes }> {
  const movedDays = Math.floor((clock.movedMs?.() ?? 0) / DAY_MS)
  if (config.processor.sandboxed && movedDays > 0)
    throw setupProblem('played_clock_ahead', { days: movedDays })
  const processor = open(settings.preview({ STRIPE_SECRET_KEY: secretKey }))
  const account = await orRefuse(
    'processor_key_refused',
    processor.accounts.retrieveCurrent({}, ONCE),
  )
  const secrets = webhookSecret ?? (await createWebhooks(processor, config))
  return {
    account: {
      name: account.settings?.dashboard?.display_name ?? account.business_profile?.name ?? null,
      country: account.country ?? null,
      can_charge: account.charges_enabled ?? false,
    },
    changes: {
      STRIPE_SECRET_KEY: secretKey,
      STRIPE_WEBHOOK_SECRET: secrets,
      ...(await findLostPrices(processor, settings)),
    },
  }
}

function open({ processor }: Config): Processor {
  const opened = processor.sandboxed ? null : openProcessor(processor)
  if (opened === null) throw setupProblem('payments_not_set_up')
  return opened
}

/** The addresses that receive events. */
const ENDPOINTS = [
  {
    findUrl: ({ base }: Config['urls']) => `${base}/api/billing/webhook`,
    types: [...BILLING_EVENT_TYPES],
  },
  {
    findUrl: ({ storefront }: Config['urls']) => `${storefront}${STOREFRONT_EVENTS}`,
    types: [...new Set([...PAYMENT_EVENT_TYPES, ...MONEY_EVENT_TYPES])],
  },
]

/**
 * Creates both endpoints and returns their secrets as STRIPE_WEBHOOK_SECRET. Older endpoints at the
 * same addresses are disabled, because nobody can read their secrets again. Returns null for
 * addresses of this machine, which the processor cannot reach: payments are then read at the start
 * and hourly.
 */
async function createWebhooks(processor: Processor, { urls }: Config): Promise<string | null> {
  const endpoints = ENDPOINTS.map(({ findUrl, types }) => ({ url: findUrl(urls), types }))
  if (endpoints.some(({ url }) => isLoopbackHost(new URL(url).host))) return null
  const { data: former } = await orRefuse(
    'webhooks_refused',
    processor.webhookEndpoints.list({ limit: 100 }, ONCE),
  )
  const secrets: string[] = []
  for (const { url, types } of endpoints) {
    const created = await orRefuse(
      'webhooks_refused',
      processor.webhookEndpoints.create(
        {
          url,
          enabled_events: types as Stripe.WebhookEndpointCreateParams.EnabledEvent[],
          api_version: API_VERSION as Stripe.LatestApiVersion,
          description: 'Created by the setup page',
        },
        ONCE,
      ),
    )
    secrets.push(created.secret ?? '')
  }
  const replaced = former.filter(
    ({ url, status }) => status === 'enabled' && endpoints.some((one) => one.url === url),
  )
  for (const { id } of replaced) {
    await orRefuse(
      'webhooks_refused',
      processor.webhookEndpoints.update(id, { disabled: true }, ONCE),
    )
  }
  return secrets.join(',')
}

/** Removes saved prices that the account of the key does not have. */
async function findLostPrices(processor: Processor, settings: Settings): Promise<Changes> {
  const lost: Record<string, null> = {}
  for (const [name, id] of settings.listSaved(PRICE_NAME)) {
    const known = await processor.prices.retrieve(id, {}, ONCE).then(
      () => true,
      (error) => !isRefusal(error),
    )
    if (!known) lost[name] = null
  }
  return lost
}

export type NewPrice = { setting: string; interval: 'month' | 'year'; amount: number }

/**
 * Creates recurring prices, those of one plan under one product. Returns the changes to save.
 * Repeating the same request within a day creates nothing twice.
 * @throws Problem 409 without a key, 422, or 503
 */
export async function createPrices(
  settings: Settings,
  plans: readonly { tier: string; name: string; prices: readonly NewPrice[] }[],
  currency: string,
): Promise<Changes> {
  const processor = open(settings.preview())
  const changes: Record<string, string> = {}
  for (const { tier, name, prices } of plans) {
    let product: string | null = null
    for (const { setting, interval, amount } of prices) {
      const price: Stripe.Price = await orRefuse(
        'price_refused',
        processor.prices.create(
          {
            currency,
            unit_amount: amount,
            recurring: { interval },
            metadata: { tier },
            ...(product === null ? { product_data: { name, metadata: { tier } } } : { product }),
          },
          { ...ONCE, idempotencyKey: hash([tier, name, interval, amount, currency, product]) },
        ),
      )
      product = typeof price.product === 'string' ? price.product : price.product.id
      changes[setting] = price.id
    }
  }
  return changes
}

const hash = (parts: readonly unknown[]) =>
  `setup-${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`

type Refusal = 'processor_key_refused' | 'webhooks_refused' | 'price_refused'

/** Maps the processor's answer to a Problem with its own words, which mask the key. */
async function orRefuse<T>(code: Refusal, call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (isRefusal(error))
      throw setupProblem(code, { reason: error.message.slice(0, REASON_MAX) }, { cause: error })
    if (error instanceof stripeSdk().errors.StripeError)
      throw billingProblem('processor_unreachable', { cause: error })
    throw error
  }
}

function isRefusal(error: unknown): error is Stripe.errors.StripeError {
  const { StripeError } = stripeSdk().errors
  const status = error instanceof StripeError ? (error.statusCode ?? 0) : 0
  return status >= 400 && status < 500 && status !== 429
}
