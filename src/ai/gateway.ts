// Opens the gateway: the vendors with their endpoints and circuit breakers, and the limits that all
// calls share.
import { findLimits, type PlanLimits } from '#catalogue/catalogue.ts'
import type { VendorConfig } from '#config/config.ts'
import { type Dialect, findKnownModel, findModel, type Model } from '#models/catalogue.ts'
import type { Clock } from '#platform/clock.ts'
import type { Platform } from '#platform/platform.ts'
import type { LiveSwitches } from '#switches/live.ts'
import type { Ledger } from '#usage/ledger.ts'
import { type Breaker, createBreaker, createModelBreakers, type ModelBreakers } from './breaker.ts'
import { type ConcurrencyLimiter, createConcurrencyLimiter } from './concurrency-limiter.ts'
import type { EndpointHealth } from './endpoints.ts'
import { createLatencies, type Latencies } from './latencies.ts'
import { createGatewayMetrics, type GatewayMetrics } from './metrics.ts'
import type { ReplyCache } from './reply-cache.ts'
import type { RoutingConfig } from './routing.ts'
import { createSwitchCheck } from './switched-off.ts'
import { createAnthropic } from './vendors/anthropic.ts'
import { createGemini } from './vendors/gemini.ts'
import { createOpenAi } from './vendors/openai.ts'
import type { Vendor, VendorOptions } from './vendors/vendor.ts'
import { createTarget, openWire, type Target, type Wire } from './vendors/wire.ts'

export type Gateway = {
  config: RoutingConfig
  clock: Clock
  tracer: Platform['tracer']
  log: Platform['log']
  ledger: Ledger
  wire: Wire
  /** Each vendor's first endpoint; the models' capabilities are the same at all endpoints. */
  targets: Readonly<Record<string, Target>>
  endpoints: Readonly<Record<string, readonly Endpoint[]>>
  /** By endpoint name. */
  breakers: Readonly<Record<string, Breaker>>
  modelBreakers: ModelBreakers
  latencies: Latencies
  limiter: ConcurrencyLimiter
  metrics: GatewayMetrics
  replies: ReplyCache
  /** Opens the client's stream after this much silence. */
  silenceMs: number
  /** The largest request body. */
  bodyBytesMax: number
  planLimits(tier: string): PlanLimits
}

export type Endpoint = EndpointHealth & { target: Target }

const RUNNING_MAX = 2_000
const WAITING_MAX = 10_000
/** Some proxies time out after 30 seconds without a byte. */
const SILENCE_MS = 10_000

const DIALECTS: Record<Dialect, (apiKey: string, options: VendorOptions) => Vendor> = {
  openai: createOpenAi,
  anthropic: createAnthropic,
  gemini: createGemini,
}

/** Everything that a request to a vendor needs; nothing is recorded. */
export type Vendors = Pick<
  Gateway,
  | 'config'
  | 'clock'
  | 'tracer'
  | 'log'
  | 'wire'
  | 'targets'
  | 'endpoints'
  | 'breakers'
  | 'modelBreakers'
>

export function openVendors(
  platform: Pick<Platform, 'config' | 'clock' | 'log' | 'tracer'>,
  switches: LiveSwitches,
): Vendors {
  const { clock, log, tracer } = platform
  const config = {
    ...platform.config.ai,
    switchedOff: createSwitchCheck(platform.config.ai, switches),
  }
  const perVendor = <T>(make: (vendor: VendorConfig) => T): Record<string, T> =>
    Object.fromEntries(Object.values(config.vendors).map((vendor) => [vendor.name, make(vendor)]))
  const openTarget = (vendor: VendorConfig, baseUrl: string, apiKey: string) => {
    const { quirks, sandboxed: isSandbox } = vendor
    const { allowsAccountObjects } = config
    const options = {
      known: (model: string) => findVendorModel(config, vendor, model),
      quirks,
      isSandbox,
      allowsAccountObjects,
    }
    return createTarget(DIALECTS[vendor.dialect](apiKey, options), baseUrl)
  }
  const endpoints = perVendor((vendor) =>
    vendor.endpoints.map(({ name, weight, baseUrl, apiKey }): Endpoint => {
      return {
        name,
        weight,
        breaker: createBreaker(clock),
        target: openTarget(vendor, baseUrl, apiKey),
      }
    }),
  )
  const breakers = Object.fromEntries(
    Object.values(endpoints).flatMap((all) => all.map(({ name, breaker }) => [name, breaker])),
  )
  return {
    config,
    clock,
    tracer,
    log,
    wire: openWire(
      config,
      tracer && { tracer, tellsVendors: platform.config.telemetry.traces?.tellsVendors ?? false },
    ),
    targets: perVendor(
      (vendor) => endpoints[vendor.name]?.[0]?.target ?? openTarget(vendor, vendor.baseUrl, ''),
    ),
    endpoints,
    breakers,
    modelBreakers: createModelBreakers(clock),
  }
}

export function openGateway(
  platform: Pick<Platform, 'config' | 'clock' | 'log' | 'metrics' | 'tracer'>,
  ledger: Ledger,
  replies: ReplyCache,
  switches: LiveSwitches,
): Gateway {
  const vendors = openVendors(platform, switches)
  const { breakers, modelBreakers } = vendors
  const limiter = createConcurrencyLimiter({ runningMax: RUNNING_MAX, waitingMax: WAITING_MAX })
  return {
    ...vendors,
    ledger,
    latencies: createLatencies(vendors.config.aliases),
    limiter,
    metrics: createGatewayMetrics(platform.metrics, { breakers, modelBreakers, limiter }),
    replies,
    silenceMs: SILENCE_MS,
    bodyBytesMax: platform.config.maxAiBodyBytes,
    planLimits: (tier) => findLimits(platform.config.catalogue, tier),
  }
}

/** Of a model that this vendor does not list (a proxy), only quirks of any dialect apply. */
function findVendorModel(config: RoutingConfig, vendor: VendorConfig, id: string): Model | null {
  const own = findModel(vendor, id)
  const known = own ?? findKnownModel(config, vendor.name, id)
  if (known === null || own !== null) return own
  const { temperature } = known.quirks
  return { ...known, quirks: temperature === undefined ? {} : { temperature } }
}
