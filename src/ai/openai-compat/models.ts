import { type ModelAccess, ofVendor } from '#models/catalogue.ts'
import type { Gateway } from '../gateway.ts'
import { listedModels } from '../model-list.ts'

/** OpenAI's four fields, and what else is known; a name that two vendors have is the one's that answers to it. */
export function modelViews({ config: ai, targets }: Pick<Gateway, 'config' | 'targets'>, access: ModelAccess) {
  const listed = listedModels(ai, access).filter(({ vendor }) => vendor.apiKey !== null)
  const names = new Map(listed.toReversed().map((model) => [model.id, model]))
  return listed
    .filter((model) => names.get(model.id) === model)
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
