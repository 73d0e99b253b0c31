import { findModel, getVendor, type ModelAccess } from '#models/catalogue.ts'
import { combineCapabilities } from '../capabilities.ts'
import type { Gateway } from '../gateway.ts'
import { listModels } from '../model-list.ts'
import { findRouteByName } from '../routing.ts'

type ModelsDeps = Pick<Gateway, 'config' | 'targets'>

/** Lists a name that two vendors have once, for the vendor that would answer. */
export function listModelViews(gateway: ModelsDeps, access: ModelAccess) {
  const views = listAllViews(gateway, access)
  const names = new Map(views.toReversed().map((view) => [view.id, view]))
  return views.filter((view) => names.get(view.id) === view)
}

/** Finds a model by any name of a request, with vendor or date; null if it is not listed. */
export function findModelView(gateway: ModelsDeps, access: ModelAccess, name: string) {
  const found = listModelViews(gateway, access).find(({ id }) => id === name)
  if (found !== undefined) return found
  const { vendor, model } = findRouteByName(gateway.config, access, name)
  const plain = findModel(getVendor(gateway.config.vendors, vendor), model)?.id ?? model
  const view = listAllViews(gateway, access).find(
    ({ id, owned_by }) => id === plain && owned_by === vendor,
  )
  return view === undefined ? null : { ...view, id: name }
}

/** Returns OpenAI's four fields, with additional fields of the gateway. */
function listAllViews({ config: ai, targets }: ModelsDeps, access: ModelAccess) {
  return listModels(ai, access)
    .filter(({ vendor }) => vendor.apiKey !== null)
    .map(
      ({
        id,
        vendor,
        routes,
        routedBy,
        kind,
        createdSeconds,
        contextTokens,
        outputTokensMax,
        price,
        isEstimated,
      }) => ({
        id,
        object: 'model',
        created: createdSeconds,
        owned_by: vendor.name,
        context_tokens: contextTokens,
        output_tokens_max: outputTokensMax,
        // US dollars per million tokens.
        price: isEstimated
          ? null
          : { input: price.input, output: price.output, cached: price.cached },
        capabilities: kind !== 'chat' ? null : combineCapabilities(targets, routes),
        // Only for an alias of several models, any of which may answer.
        ...(routedBy === null
          ? {}
          : {
              routes: routes.map((route) => `${route.vendor}/${route.model}`),
              routed_by: routedBy,
            }),
      }),
    )
}
