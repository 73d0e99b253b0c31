// Lists the models that a caller's plan and key allow, for /api/ai/models and /v1/models: aliases,
// the vendors' default models, then the catalogue.

import type { VendorConfig } from '#config/config.ts'
import { PRICES_AS_OF_SECONDS } from '#models/built-in.ts'
import {
  type Alias,
  findKnownModel,
  getVendor,
  type Model,
  type ModelAccess,
  type Price,
  type Route,
  type Strategy,
} from '#models/catalogue.ts'
import { findHighestPrice } from './cost.ts'
import {
  type RoutingConfig as AiConfig,
  chooseRoute,
  isOpen,
  listVendorsBySlot,
} from './routing.ts'

export type ListedModel = Pick<Model, 'id' | 'kind' | 'contextTokens' | 'outputTokensMax'> & {
  vendor: VendorConfig
  /** The `vendor/model` of an alias, or its first; null for a model's own name. */
  aliasOf: string | null
  /** Those that may answer; of an alias, those that the caller may use, configured ones first. */
  routes: readonly Route[]
  /** The routing strategy; null for a single model. */
  routedBy: Strategy | null
  /** For several models, the highest price of each part. */
  price: Pick<Price, 'input' | 'output' | 'cached'>
  /** True without a known price, so that the vendor's highest counts. */
  isEstimated: boolean
  /** When the catalogue first listed it, in seconds since 1970. */
  createdSeconds: number
  /** True for the model that its vendor uses when the request names none. */
  isDefault: boolean
}

/** Returns vendors in slot order, each with its default model. */
export function listVendors(
  ai: AiConfig,
  access: ModelAccess,
): { vendor: VendorConfig; defaultModel: string }[] {
  return listVendorsBySlot(ai)
    .map((vendor) => ({ vendor, defaultModel: chooseRoute(ai, access, vendor.name, null).model }))
    .filter(({ vendor, defaultModel }) =>
      isOpen(ai, access, { vendor: vendor.name, model: defaultModel }),
    )
}

export function listModels(ai: AiConfig, access: ModelAccess): ListedModel[] {
  const defaultModels = new Map(
    listVendors(ai, access).map(({ vendor, defaultModel }) => [vendor.name, defaultModel]),
  )
  const listModel = (vendor: VendorConfig, model: string): ListedModel[] => {
    const route = { vendor: vendor.name, model }
    if (!isOpen(ai, access, route)) return []
    return [
      {
        ...describeModel(ai, route),
        id: model,
        isDefault: defaultModels.get(vendor.name) === model,
      },
    ]
  }
  const vendors = listVendorsBySlot(ai)
  const isListed = ({ models }: VendorConfig, id: string) => models.some((model) => model.id === id)
  return [
    ...[...ai.aliases].flatMap(([name, alias]) => listAlias(ai, access, name, alias)),
    ...vendors.flatMap((vendor) =>
      isListed(vendor, vendor.defaultModel) ? [] : listModel(vendor, vendor.defaultModel),
    ),
    ...vendors.flatMap((vendor) => vendor.models.flatMap(({ id }) => listModel(vendor, id))),
  ]
}

export function describeModel(ai: AiConfig, route: Route): Omit<ListedModel, 'id' | 'isDefault'> {
  const known = findKnownModel(ai, route.vendor, route.model)
  const kind = known?.kind ?? 'chat'
  return {
    vendor: getVendor(ai.vendors, route.vendor),
    aliasOf: null,
    routes: [route],
    routedBy: null,
    kind,
    contextTokens: known?.contextTokens ?? null,
    outputTokensMax: known?.outputTokensMax ?? null,
    price: known?.price ?? findHighestPrice(ai, route.vendor, kind),
    isEstimated: !known?.price,
    createdSeconds: known?.createdSeconds ?? PRICES_AS_OF_SECONDS,
  }
}

/** Returns the limits that hold for each of its models. */
function listAlias(
  ai: AiConfig,
  access: ModelAccess,
  id: string,
  { routes, by }: Alias,
): ListedModel[] {
  const allowed = routes
    .filter((route) => isOpen(ai, access, route))
    .map((route) => describeModel(ai, route))
  const configured = allowed.filter(({ vendor }) => vendor.apiKey !== null)
  const open = configured.length > 0 ? configured : allowed
  const [first] = open
  if (first === undefined) return []
  const findLowest = (of: (one: (typeof open)[number]) => number | null) => {
    const limits = open.map(of)
    return limits.includes(null) ? null : Math.min(...limits.map(Number))
  }
  const findHighest = (part: 'input' | 'output' | 'cached') =>
    Math.max(...open.map(({ price }) => price[part]))
  return [
    {
      ...first,
      id,
      aliasOf:
        open.flatMap((one) => one.routes).map(({ vendor, model }) => `${vendor}/${model}`)[0] ??
        null,
      routes: open.flatMap((one) => one.routes),
      routedBy: routes.length > 1 ? by : null,
      contextTokens: findLowest(({ contextTokens }) => contextTokens),
      outputTokensMax: findLowest(({ outputTokensMax }) => outputTokensMax),
      price: {
        input: findHighest('input'),
        output: findHighest('output'),
        cached: findHighest('cached'),
      },
      isEstimated: open.some(({ isEstimated }) => isEstimated),
      createdSeconds: Math.max(...open.map(({ createdSeconds }) => createdSeconds)),
      isDefault: false,
    },
  ]
}
