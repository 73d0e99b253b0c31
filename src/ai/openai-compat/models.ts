import { findModel, type ModelAccess, ofVendor } from '#models/catalogue.ts'
import type { Gateway } from '../gateway.ts'
import { listedModels } from '../model-list.ts'
import { routeForModel } from '../routing.ts'

type ModelsOf = Pick<Gateway, 'config' | 'targets'>

/** A name that two vendors have is the one's that answers to it. */
export function modelViews(gateway: ModelsOf, access: ModelAccess) {
  const views = allViews(gateway, access)
  const names = new Map(views.toReversed().map((view) => [view.id, view]))
  return views.filter((view) => names.get(view.id) === view)
}

/** By any name that a request may use for it: `vendor/model`, or with its date. Null where it is not listed. */
export function modelViewNamed(gateway: ModelsOf, access: ModelAccess, name: string) {
  const found = modelViews(gateway, access).find(({ id }) => id === name)
  if (found !== undefined) return found
  const { vendor, model } = routeForModel(gateway.config, access, name)
  const plain = findModel(ofVendor(gateway.config.vendors, vendor), model)?.id ?? model
  const view = allViews(gateway, access).find(({ id, owned_by }) => id === plain && owned_by === vendor)
  return view === undefined ? null : { ...view, id: name }
}

/** OpenAI's four fields, and what else is known. */
function allViews({ config: ai, targets }: ModelsOf, access: ModelAccess) {
  return listedModels(ai, access)
    .filter(({ vendor }) => vendor.apiKey !== null)
    .map(({ id, vendor, model, kind, createdSeconds, contextTokens, outputTokensMax, price, isEstimated }) => ({
      id,
      object: 'model',
      created: createdSeconds,
      owned_by: vendor.name,
      context_tokens: contextTokens,
      output_tokens_max: outputTokensMax,
      // US dollars per million tokens.
      price: isEstimated ? null : { input: price.input, output: price.output, cached: price.cached },
      capabilities: kind === 'chat' ? ofVendor(targets, vendor.name).vendor.capabilities(model) : null,
    }))
}
