import { type ModelAccess, ofVendor, type Temperature } from '#models/catalogue.ts'
import type { Gateway } from '../gateway.ts'
import { listedModels } from '../model-list.ts'
import type { Capabilities } from '../vendors/vendor.ts'

/** OpenAI's four fields, and what else is known; a name that two vendors have is the one's that answers to it. */
export function modelViews({ config: ai, targets }: Pick<Gateway, 'config' | 'targets'>, access: ModelAccess) {
  const listed = listedModels(ai, access).filter(({ vendor }) => vendor.apiKey !== null)
  const names = new Map(listed.toReversed().map((model) => [model.id, model]))
  return listed
    .filter((model) => names.get(model.id) === model)
    .map(
      ({ id, vendor, routes, routedBy, kind, createdSeconds, contextTokens, outputTokensMax, price, isEstimated }) => ({
        id,
        object: 'model',
        created: createdSeconds,
        owned_by: vendor.name,
        context_tokens: contextTokens,
        output_tokens_max: outputTokensMax,
        // US dollars per million tokens.
        price: isEstimated ? null : { input: price.input, output: price.output, cached: price.cached },
        capabilities:
          kind !== 'chat'
            ? null
            : sharedBy(routes.map((route) => ofVendor(targets, route.vendor).vendor.capabilities(route.model))),
        // Of an alias of several models, any of which may answer.
        ...(routedBy === null
          ? {}
          : { routes: routes.map((route) => `${route.vendor}/${route.model}`), routed_by: routedBy }),
      }),
    )
}

const STRICTEST: readonly Temperature[] = ['refused', 'without-reasoning', 'taken']

/** What holds whichever of them answers. */
function sharedBy(all: readonly Capabilities[]): Capabilities {
  return {
    temperature: STRICTEST.find((one) => all.some(({ temperature }) => temperature === one)) ?? 'taken',
    thinking: all.some(({ thinking }) => thinking),
    forced_tools: all.every(({ forced_tools: forced }) => forced),
  }
}
