import type { ModelList } from '../api/types.ts'

/** The most that the service lets a chat ask for. */
const ASKED_TOKENS_MAX = 16_384

export type ModelSearch = { provider: string | undefined; model: string | undefined }

/** Who answers. What is shown is what is sent; `provider` is undefined only while it is not known what there is. */
export type ChosenModel = {
  provider: string | undefined
  model: string | undefined
  /** The most that the model writes, as far as it is known and may be asked for. */
  modelMaxTokens: number | undefined
  /** The labels of the other providers, the default one first. */
  otherProviders: string[]
}

/**
 * A link may name any provider: one that is not there, or has no key, gives way to the service's default, and takes its model
 * with it. A model may be any name, since vendors have more of them than the service lists.
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

/** Undefined for a model whose limit nobody knows: a vendor refuses to be asked for more than it gives. */
function findMaxTokens({ models }: ModelList, provider: string, id: string): number | undefined {
  const known = models.find(
    (model) => model.provider === provider && model.id === id,
  )?.output_tokens_max
  return known == null ? undefined : Math.min(known, ASKED_TOKENS_MAX)
}
