/** Checks that the processor accepts billing's requests and sends the needed events. */
import type { Stripe } from 'stripe'
import { BILLING_EVENT_TYPES } from '#billing/billing-events.ts'
import type { DisagreementReport } from '#billing/disagreements.ts'
import { MONEY_EVENT_TYPES } from '#billing/money/money-events.ts'
import { isMissing, openProcessor, type Processor } from '#billing/processor.ts'
import { findUnknownPrices } from '#billing/unknown-prices.ts'
import { type Interval, priceField, type Tier } from '#catalogue/catalogue.ts'
import type { Config } from '#config/config.ts'
import type { Platform } from '#platform/platform.ts'
import { PAYMENT_EVENT_TYPES } from '#storefront/payments/payment-events.ts'
import { STOREFRONT_EVENTS } from '#storefront/payments/routes.ts'
import { ASK_TIMEOUT_MS, createLines, inTime, type Line, type OpenPlatform } from './line.ts'

const billing = createLines('Billing')
const ONCE = { timeout: ASK_TIMEOUT_MS, maxNetworkRetries: 0 }

type ReportDisagreements = (platform: Platform) => Promise<DisagreementReport>

/** `reportDisagreements` reads hundreds of accounts; without it they are not compared. */
export async function checkBilling(
  config: Config,
  platform: OpenPlatform,
  reportDisagreements?: ReportDisagreements,
): Promise<Line[]> {
  const { secretKey, webhookSecret, sandboxed, prices, apiBase } = config.processor
  if (sandboxed) {
    return [billing.sandbox('no STRIPE_SECRET_KEY; payments end at /sandbox/processor')]
  }
  if (secretKey === null) return [billing.off('STRIPE_SECRET_KEY is not set')]
  if (webhookSecret === null) {
    return [billing.wrong('STRIPE_WEBHOOK_SECRET is missing: no event about a payment is accepted')]
  }
  if (prices.size === 0)
    return [
      billing.wrong('no PRICE_… is set, and no CATALOGUE names a price: there is nothing to sell'),
    ]

  const processor = openProcessor(config.processor) as Processor
  const isLive = /^[a-z]+_live_/.test(secretKey)
  const [lines, rights, coupon, endpoints, unknown] = await Promise.all([
    Promise.all(
      [...prices].map(([id, expected]) => checkPrice(processor, config, id, expected, isLive)),
    ),
    checkRights(processor),
    checkRetentionCoupon(processor, config),
    checkEndpoints(processor, config),
    checkUnknownPrices(config, platform),
  ])
  const wrong = [...lines, rights, coupon].filter((line) => line !== null)
  if (wrong.length > 0) return [...wrong, ...endpoints, ...unknown]
  const disagreements =
    reportDisagreements === undefined ? [] : await checkDisagreements(platform, reportDisagreements)
  const where = apiBase === null ? (isLive ? 'live' : 'test') : apiBase
  return [billing.ok(`${prices.size} prices, ${where}`), ...endpoints, ...unknown, ...disagreements]
}

/** Returns null when the price can be sold as its setting requires. */
async function checkPrice(
  processor: Processor,
  { catalogue }: Config,
  id: string,
  expected: { tier: Tier; interval: Interval },
  isLive: boolean,
): Promise<Line | null> {
  const { interval } = expected
  const setting = priceField(catalogue, expected)
  const wrong = (says: string) => billing.wrong(`${setting}: ${says}`)
  try {
    const price = await inTime(processor.prices.retrieve(id, {}, ONCE))
    if (!price.active) return wrong(`${id} is archived at the processor`)
    if (price.livemode !== isLive) {
      return wrong(
        `${id} is a ${price.livemode ? 'live' : 'test'} price, and the key a ${isLive ? 'live' : 'test'} key`,
      )
    }
    const { recurring } = price
    if (!recurring) return wrong(`${id} is a one-time price`)
    if (recurring.interval !== interval || recurring.interval_count !== 1) {
      return wrong(
        `${id} is billed every ${recurring.interval_count} ${recurring.interval}, not every ${interval}`,
      )
    }
    return null
  } catch (error) {
    return wrong(isMissing(error) ? `the processor has no price ${id}` : describeReason(error))
  }
}

/** Returns null when the coupon can be offered, or when none is set. */
async function checkRetentionCoupon(processor: Processor, config: Config): Promise<Line | null> {
  const { retentionCoupon: id } = config.processor
  if (id === null) return null
  const wrong = (says: string) => billing.wrong(`RETENTION_COUPON: ${says}`)
  try {
    const coupon = await inTime(processor.coupons.retrieve(id, {}, ONCE))
    return coupon.valid ? null : wrong(`${id} has expired or is used up at the processor`)
  } catch (error) {
    return wrong(isMissing(error) ? `the processor has no coupon ${id}` : describeReason(error))
  }
}

/** Null when the key may read everything. A restricted key may lack a right for refunds. */
async function checkRights(processor: Processor): Promise<Line | null> {
  const firstItem = { limit: 1 }
  const reads: Record<string, () => Promise<unknown>> = {
    'payment intents': () => processor.paymentIntents.list(firstItem, ONCE),
    invoices: () => processor.invoices.list(firstItem, ONCE),
    charges: () => processor.charges.list(firstItem, ONCE),
    refunds: () => processor.refunds.list(firstItem, ONCE),
    disputes: () => processor.disputes.list(firstItem, ONCE),
    events: () => processor.events.list(firstItem, ONCE),
    subscriptions: () => processor.subscriptions.list(firstItem, ONCE),
    customers: () => processor.customers.list(firstItem, ONCE),
    'checkout sessions': () => processor.checkout.sessions.list(firstItem, ONCE),
  }
  const checks = Object.entries(reads).map(async ([name, read]) => {
    const isRefused = await inTime(read()).then(
      () => false,
      // The check of prices reports an unreachable processor.
      (error: { statusCode?: number }) => error.statusCode === 403,
    )
    return isRefused ? name : null
  })
  const refused = (await Promise.all(checks)).filter((name) => name !== null)
  if (refused.length === 0) return null
  return billing.wrong(`STRIPE_SECRET_KEY: the key may not read ${refused.join(', ')}`)
}

/** Operators create the endpoints; a missing or incomplete one silently loses payments. */
async function checkEndpoints(processor: Processor, { urls }: Config): Promise<Line[]> {
  const expected = [
    {
      name: 'Webhook',
      url: `${urls.base}/api/billing/webhook`,
      types: BILLING_EVENT_TYPES as readonly string[],
    },
    {
      name: 'Storefront hook',
      url: `${urls.storefront}${STOREFRONT_EVENTS}`,
      types: [...PAYMENT_EVENT_TYPES, ...MONEY_EVENT_TYPES],
    },
  ]
  let endpoints: Stripe.WebhookEndpoint[]
  try {
    endpoints = (await inTime(processor.webhookEndpoints.list({ limit: 100 }, ONCE))).data
  } catch (error) {
    // A restricted key may lack the right to list endpoints.
    const isRefused = (error as { statusCode?: number }).statusCode === 403
    const { off, wrong } = createLines('Webhook')
    return [(isRefused ? off : wrong)(`the endpoints cannot be read: ${describeReason(error)}`)]
  }
  return expected.map(({ name, url, types }) => {
    const { ok, off, wrong } = createLines(name)
    const endpoint = endpoints.find((one) => one.url === url)
    if (!endpoint && isLoopback(url)) {
      return off(`${url} cannot be reached from outside: forward events to it`)
    }
    if (!endpoint) return wrong(`the processor has no endpoint ${url}`)
    if (endpoint.status !== 'enabled') return wrong(`${url} is ${endpoint.status}`)
    const deaf = types.filter(
      (type) => !endpoint.enabled_events.some((enabled) => covers(enabled, type)),
    )
    if (deaf.length > 0) return wrong(`${url} is not sent ${deaf.join(', ')}`)
    return ok(url)
  })
}

/** Finds subscribed prices that no setting names. New subscriptions to them grant nothing. */
async function checkUnknownPrices(config: Config, platform: OpenPlatform): Promise<Line[]> {
  const unknown = await platform()
    .then(({ db }) => findUnknownPrices(db, config.processor.prices))
    .catch(() => [])
  const missing =
    config.catalogue.plansPath === null ? 'no PRICE_ setting' : 'no plan of the catalogue'
  return unknown.map(({ priceId, users }) => {
    const subscribers = users === 1 ? 'one user subscribes' : `${users} users subscribe`
    const says = `${priceId}, which ${missing} names, is what ${subscribers} to`
    return createLines('Unknown price').off(says)
  })
}

const SHOWN_MAX = 5

/** Lists the differences that a reconciliation would repair. A timeout is not a fault. */
async function checkDisagreements(
  platform: OpenPlatform,
  reportDisagreements: ReportDisagreements,
): Promise<Line[]> {
  const { ok, off, wrong } = createLines('Money')
  const opened = await platform().catch(() => null)
  if (!opened) return []
  try {
    const { disagreements, accounts, is_whole } = await inTime(reportDisagreements(opened))
    const lines = disagreements
      .slice(0, SHOWN_MAX)
      .map(({ about, id, ours, theirs }) =>
        wrong(`${about} ${id}: ${ours} here, ${theirs} at the processor`),
      )
    if (lines.length === 0) {
      const compared = is_whole ? `${accounts} accounts` : `the ${accounts} accounts read last`
      return [ok(`${compared} and 30 days of payments agree with the processor`)]
    }
    const more = disagreements.length - lines.length
    const advice = `${more > 0 ? `${more} more; ` : ''}npm run cli -- billing sync repairs them`
    return [...lines, wrong(advice)]
  } catch (error) {
    return [off(`could not be compared with the processor: ${describeReason(error)}`)]
  }
}

/** `*` stands for all types. */
const covers = (enabled: string, type: string) => enabled === '*' || enabled === type

const isLoopback = (url: string) => /^(localhost|127\.|\[::1\])/.test(new URL(url).hostname)

function describeReason(error: unknown): string {
  const { type, detail, message } = error as Error & { type?: string; detail?: unknown }
  if (type !== 'StripeConnectionError') return message
  return `the processor cannot be reached${detail instanceof Error ? `: ${detail.message}` : ''}`
}
