// The models that a caller may ask for, as /api/ai/models and /v1/models list them: aliases, the vendors' usual models where
// the catalogue does not know them, and what it does know, as far as the caller's plan and key have them.
import { PRICES_AS_OF_SECONDS } from '#models/built-in.ts'
import { isAllowed, knownModel, type Model, type ModelAccess, ofVendor, type Price } from '#models/catalogue.ts'
import type { Config, VendorConfig } from '#src/config.ts'
import { dearestPrice } from './cost.ts'
import { routeFor, vendorsInOrder } from './routing.ts'

type AiConfig = Config['ai']

export type ListedModel = Pick<Model, 'id' | 'kind' | 'contextTokens' | 'outputTokensMax'> & {
  vendor: VendorConfig
  /** `vendor/model` behind an alias; null where the name is the model's own. */
  aliasOf: string | null
  /** The model's name at its vendor. */
  model: string
  price: Pick<Price, 'input' | 'output' | 'cached'>
  /** No price is known: its vendor's dearest counts. */
  isEstimated: boolean
  /** Since when it is known, in seconds since 1970. */
  createdSeconds: number
  /** Its vendor's answer where no model is named. */
  isDefault: boolean
}

/** In the order of their slots, each with what it answers where no model is named. */
export function listedVendors(ai: AiConfig, access: ModelAccess): { vendor: VendorConfig; usual: string }[] {
  return vendorsInOrder(ai)
    .map((vendor) => ({ vendor, usual: routeFor(ai, access, vendor.name, null).model }))
    .filter(({ vendor, usual }) => isAllowed(ai, access, { vendor: vendor.name, model: usual }))
}

export function listedModels(ai: AiConfig, access: ModelAccess): ListedModel[] {
  const usual = new Map(listedVendors(ai, access).map(({ vendor, usual }) => [vendor.name, usual]))
  const named = (vendor: VendorConfig, model: string, alias: string | null = null): ListedModel => {
    const known = knownModel(ai, vendor.name, model)
    const kind = known?.kind ?? 'chat'
    return {
      id: alias ?? model,
      vendor,
      aliasOf: alias === null ? null : `${vendor.name}/${model}`,
      model,
      kind,
      contextTokens: known?.contextTokens ?? null,
      outputTokensMax: known?.outputTokensMax ?? null,
      price: known?.price ?? dearestPrice(ai, vendor.name, kind),
      isEstimated: !known?.price,
      createdSeconds: known?.createdSeconds ?? PRICES_AS_OF_SECONDS,
      isDefault: alias === null && usual.get(vendor.name) === model,
    }
  }
  const vendors = vendorsInOrder(ai)
  const isListed = ({ models }: VendorConfig, id: string) => models.some((model) => model.id === id)
  return [
    ...[...ai.aliases].map(([alias, { vendor, model }]) => named(ofVendor(ai.vendors, vendor), model, alias)),
    ...vendors.flatMap((vendor) => (isListed(vendor, vendor.defaultModel) ? [] : [named(vendor, vendor.defaultModel)])),
    ...vendors.flatMap((vendor) => vendor.models.map(({ id }) => named(vendor, id))),
  ].filter(({ vendor, model }) => isAllowed(ai, access, { vendor: vendor.name, model }))
}
