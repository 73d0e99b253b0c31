/** The models that a user may talk to, for the picker of the user app. */
import { type Static, Type } from 'typebox'
import type { Gateway } from '#ai/gateway.ts'
import { type ListedModel, listModels } from '#ai/model-list.ts'
import { chooseRoute, findRouteByName } from '#ai/routing.ts'
import type { Route } from '#models/catalogue.ts'
import type { Caller } from '#platform/http/access-control.ts'
import { NamedObject, Nullable } from '#platform/http/schema.ts'
import { hasAbility } from './abilities.ts'
import type { ModelSpeeds } from './model-speeds.ts'

export const ConversationModels = NamedObject('ConversationModels', {
  models: Type.Array(
    NamedObject('ConversationModel', {
      name: Type.String({ description: 'The name for `model` in a question.' }),
      vendor: Type.String({ description: 'The display name.' }),
      prices: NamedObject('ModelPrices', {
        input_usd_per_million: Type.Number(),
        output_usd_per_million: Type.Number(),
      }),
      context_tokens: Nullable(Type.Integer()),
      vision: Type.Boolean({ description: 'True if the model accepts images.' }),
      tools: Type.Boolean({
        description: 'True if the model can search several times for one answer.',
      }),
      tokens_per_second: Nullable(
        Type.Integer({ description: 'As measured by this server; null before the first use.' }),
      ),
    }),
  ),
  default_model: Type.String(),
})

export function buildModelsView(
  gateway: Gateway,
  caller: Caller,
  speeds: ModelSpeeds,
): Static<typeof ConversationModels> {
  const { config } = gateway
  const usable = listModels(config, caller).filter(
    ({ kind, vendor }) => kind === 'chat' && vendor.apiKey !== null,
  )
  const real = usable.filter(({ vendor }) => !vendor.sandboxed)
  const models = (real.length > 0 ? real : usable).map((model) => {
    const route = model.routes[0] as Route
    return {
      name: writeName(gateway, caller, model),
      vendor: model.vendor.label,
      prices: {
        input_usd_per_million: model.price.input,
        output_usd_per_million: model.price.output,
      },
      context_tokens: model.contextTokens,
      vision: model.routes.every((one) => hasAbility(gateway, one, 'vision')),
      tools: model.routes.every((one) => hasAbility(gateway, one, 'tools')),
      tokens_per_second: speeds.find(route),
    }
  })
  const { vendor, model, alias } = chooseRoute(config, caller, null, null)
  const usual = models.find(({ name }) => name === alias || name === model)
  return { models, default_model: usual?.name ?? alias ?? `${vendor}/${model}` }
}

/** Adds the vendor to a name that would be another vendor's model. */
function writeName(
  { config }: Gateway,
  caller: Caller,
  { id, aliasOf, vendor }: ListedModel,
): string {
  if (aliasOf !== null) return id
  return findRouteByName(config, caller, id).vendor === vendor.name ? id : `${vendor.name}/${id}`
}
