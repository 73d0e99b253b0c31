/** The operator's view of vendors, models and routes: states, circuits, prices and recent usage. */
import type { VendorConfig } from '#config/config.ts'
import type { Route, Strategy } from '#models/catalogue.ts'
import type { BreakerState } from './breaker.ts'
import type { Gateway } from './gateway.ts'
import {
  EVERY_MODEL,
  findFirstRoute,
  formatName,
  listKnownRoutes,
  type ModelUse,
  sumByListedName,
} from './known-routes.ts'
import { describeModel } from './model-list.ts'
import { chooseRoute, listVendorsBySlot } from './routing.ts'

type Sums = { calls: number; failed: number; cost_usd: number }

export type OperatorVendor = Sums & {
  name: string
  label: string
  /** `off`: the vendor has no key. */
  state: 'live' | 'sandbox' | 'off'
  key_setting: string | null
  endpoints: { name: string; circuit: BreakerState }[]
  /** Models whose rate limit this process waits out. */
  limited_models: string[]
}

export type OperatorModel = Sums & {
  vendor: string
  model: string
  kind: 'chat' | 'embedding' | 'rerank'
  context_tokens: number | null
  input_usd_per_million: number
  output_usd_per_million: number
  is_price_estimated: boolean
  /** Calls that name no model use it. */
  is_default: boolean
  off_reason: string | null
}

/** Routes are named `vendor/model`. */
export type OperatorModels = {
  default_model: string | null
  fallbacks: string[]
  aliases: { name: string; strategy: Strategy | null; models: string[] }[]
  vendors: OperatorVendor[]
  models: OperatorModel[]
}

/** `recentUses`: the usage of each vendor's models over some days. */
export function describeModels(
  { config, endpoints, modelBreakers }: Pick<Gateway, 'config' | 'endpoints' | 'modelBreakers'>,
  recentUses: readonly ModelUse[],
): OperatorModels {
  const uses = sumByListedName(config, recentUses)
  const defaultRoute = findFirstRoute(config, chooseRoute(config, EVERY_MODEL, null, null))

  const describeVendor = (vendor: VendorConfig): OperatorVendor => {
    const { name, label, apiKey, sandboxed, keySetting } = vendor
    const own = endpoints[name] ?? []
    return {
      name,
      label,
      state: sandboxed ? 'sandbox' : apiKey === null ? 'off' : 'live',
      key_setting: keySetting,
      endpoints: own.map(({ name: endpoint, breaker }) => ({
        name: endpoint,
        circuit: breaker.state,
      })),
      limited_models: modelBreakers.open
        .filter((limited) => own.some((endpoint) => endpoint.name === limited.vendor))
        .map(({ model }) => model),
      ...sumUses(uses.filter((use) => use.vendor === name)),
    }
  }
  const describeRoute = (route: Route): OperatorModel => {
    const { kind, contextTokens, price, isEstimated } = describeModel(config, route)
    return {
      vendor: route.vendor,
      model: route.model,
      kind,
      context_tokens: contextTokens,
      input_usd_per_million: price.input,
      output_usd_per_million: price.output,
      is_price_estimated: isEstimated,
      is_default: formatName(route) === formatName(defaultRoute),
      off_reason: config.switchedOff?.(route)?.reason ?? null,
      ...sumUses(
        uses.filter(({ vendor, model }) => vendor === route.vendor && model === route.model),
      ),
    }
  }

  return {
    default_model: formatName(defaultRoute),
    fallbacks: config.fallbacks.map(({ vendor, model }) => `${vendor}/${model}`),
    aliases: [...config.aliases].map(([name, { routes, by }]) => ({
      name,
      strategy: routes.length > 1 ? by : null,
      models: routes.map(({ vendor, model }) => `${vendor}/${model}`),
    })),
    vendors: listVendorsBySlot(config).map(describeVendor),
    models: listKnownRoutes(config, uses)
      .map(describeRoute)
      .sort((one, other) => other.cost_usd - one.cost_usd || other.calls - one.calls),
  }
}

function sumUses(uses: readonly ModelUse[]): Sums {
  const sum = (part: 'requests' | 'failed' | 'cost_nanos') =>
    uses.reduce((total, use) => total + use[part], 0)
  return { calls: sum('requests'), failed: sum('failed'), cost_usd: sum('cost_nanos') / 1e9 }
}
