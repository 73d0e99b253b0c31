/** The model list of /api/ai/models: providers in the order of their slots, and all models. */
import { type Static, Type } from 'typebox'
import { getVendor, type ModelAccess, STRATEGIES } from '#models/catalogue.ts'
import { NamedObject, Nullable, OneOf } from '#platform/http/schema.ts'
import type { Gateway } from './gateway.ts'
import { listModels, listVendors } from './model-list.ts'
import { chooseRoute } from './routing.ts'

export const ModelList = NamedObject('ModelList', {
  prices_as_of: Type.String(),
  default_provider: Type.String(),
  default_model: Type.String(),
  providers: Type.Array(
    NamedObject('Provider', {
      provider: Type.String(),
      label: Type.String({ description: 'The display name.' }),
      configured: Type.Boolean(),
      sandbox: Type.Boolean(),
      default_model: Type.String(),
    }),
  ),
  models: Type.Array(
    NamedObject('Model', {
      id: Type.String(),
      provider: Type.String(),
      alias_of: Nullable(
        Type.String({ description: 'For an alias: its model, or the first of several.' }),
      ),
      routes: Type.Array(Type.String(), {
        description:
          'The models that may answer, as `provider/model`; several for an alias of several models.',
      }),
      routed_by: Nullable(OneOf(...STRATEGIES)),
      kind: OneOf('chat', 'embedding', 'rerank'),
      context_tokens: Nullable(Type.Integer()),
      output_tokens_max: Nullable(Type.Integer()),
      vision: Type.Boolean({
        description: 'True if every model that may answer is known to accept images.',
      }),
      input_usd_per_million: Type.Number(),
      cached_input_usd_per_million: Type.Number(),
      output_usd_per_million: Type.Number(),
      price_estimated: Type.Boolean({
        description:
          "True if the model has no known price, so that its vendor's highest price counts.",
      }),
      available: Type.Boolean(),
      default: Type.Boolean(),
    }),
  ),
})

export function buildModelList(
  { config: ai, targets }: Pick<Gateway, 'config' | 'targets'>,
  access: ModelAccess,
): Static<typeof ModelList> {
  const first = chooseRoute(ai, access, null, null)
  return {
    prices_as_of: ai.pricesAsOf,
    default_provider: first.vendor,
    default_model: first.model,
    providers: listVendors(ai, access).map(
      ({ vendor: { name, label, apiKey, sandboxed }, defaultModel }) => ({
        provider: name,
        label,
        configured: apiKey !== null,
        sandbox: sandboxed,
        default_model: defaultModel,
      }),
    ),
    models: listModels(ai, access).map(
      ({
        id,
        vendor,
        aliasOf,
        routes,
        routedBy,
        kind,
        price,
        isEstimated,
        isDefault,
        ...limits
      }) => ({
        id,
        provider: vendor.name,
        alias_of: aliasOf,
        routes: routes.map((route) => `${route.vendor}/${route.model}`),
        routed_by: routedBy,
        kind,
        context_tokens: limits.contextTokens,
        output_tokens_max: limits.outputTokensMax,
        vision: routes.every(
          (route) =>
            getVendor(targets, route.vendor).vendor.capabilities(route.model).vision === true,
        ),
        input_usd_per_million: price.input,
        cached_input_usd_per_million: price.cached,
        output_usd_per_million: price.output,
        price_estimated: isEstimated,
        available: vendor.apiKey !== null,
        default: isDefault,
      }),
    ),
  }
}
