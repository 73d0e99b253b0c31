import type { ModelList } from '../api/types.ts'

/** The service's limit for chats. */
const OUTPUT_TOKENS_MAX = 16_384

export type ModelSearch = { provider: string | undefined; model: string | undefined }

/** The model that answers. `provider` is undefined only while the models are loading. */
export type ChosenModel = {
  provider: string | undefined
  model: string | undefined
  /** Output limit of the model within the service's limit; undefined when unknown. */
  modelMaxTokens: number | undefined
  /** Labels of the other providers, default first. */
  otherProviders: string[]
}

/**
 * Chooses the provider and model from the address. A provider that is missing or not set up is
 * replaced by the default, and its model is ignored. Models may have any name, because vendors
 * have more than the service lists.
 */
export function chooseModel(
  { provider, model }: ModelSearch,
  models: ModelList | undefined,
): ChosenModel {
  if (models === undefined)
    return { provider, model, modelMaxTokens: undefined, otherProviders: [] }
  const open = models.providers.filter(({ configured }) => configured)
  const requested = open.find((one) => one.provider === provider)
  const current =
    requested ?? open.find((one) => one.provider === models.default_provider) ?? open[0]
  const modelId = provider === undefined || requested ? model : undefined
  return {
    provider: current?.provider,
    model: modelId,
    modelMaxTokens:
      current && findMaxTokens(models, current.provider, modelId ?? current.default_model),
    otherProviders: open.filter((one) => one !== current).map(({ label }) => label),
  }
}

/** Undefined for unknown limits, because vendors reject a request above their limit. */
function findMaxTokens({ models }: ModelList, provider: string, id: string): number | undefined {
  const known = models.find(
    (model) => model.provider === provider && model.id === id,
  )?.output_tokens_max
  return known == null ? undefined : Math.min(known, OUTPUT_TOKENS_MAX)
}
