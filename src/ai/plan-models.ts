// The models of all plans with their prices, and the route that lists them for customers.
import { type Static, Type } from 'typebox'
import type { CataloguePlan } from '#catalogue/catalogue.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { NamedObject, Nullable, OneOf } from '#platform/http/schema.ts'
import { combineCapabilities, ModelCapabilities } from './capabilities.ts'
import type { Gateway } from './gateway.ts'
import { type ListedModel, listModels } from './model-list.ts'
import { chooseRoute } from './routing.ts'

/** A model with the plans that include it, in the catalogue's order. */
export type PlanModel = ListedModel & { plans: CataloguePlan[] }

/** Returns the models that at least one plan includes, without those that are switched off. */
export function listPlanModels(
  ai: Gateway['config'],
  plans: readonly CataloguePlan[],
): PlanModel[] {
  const models = new Map<string, PlanModel>()
  for (const plan of plans) {
    if (!plan.grants.includes('ai') && !plan.grants.includes('home')) continue
    for (const model of listModels(ai, { tier: plan.tier })) {
      if (model.vendor.apiKey === null) continue
      // The app's conversations, without the API, use chat models only.
      if (model.kind !== 'chat' && !plan.grants.includes('ai')) continue
      const key = `${model.vendor.name}/${model.id}`
      const known = models.get(key) ?? { ...model, plans: [] }
      known.plans.push(plan)
      models.set(key, known)
    }
  }
  return [...models.values()]
}

const PlanModelView = NamedObject('PlanModel', {
  id: Type.String(),
  provider: Type.String(),
  provider_label: Type.String({ description: 'The display name.' }),
  routes: Type.Array(Type.String(), {
    description: 'For an alias: the models that may answer, as `provider/model`; otherwise empty.',
  }),
  kind: OneOf('chat', 'embedding', 'rerank'),
  context_tokens: Nullable(Type.Integer()),
  output_tokens_max: Nullable(Type.Integer()),
  capabilities: Nullable(ModelCapabilities),
  input_usd_per_million: Type.Number(),
  cached_input_usd_per_million: Type.Number(),
  output_usd_per_million: Type.Number(),
  price_estimated: Type.Boolean({
    description: "True if the model has no known price, so that its vendor's highest price counts.",
  }),
  default: Type.Boolean({ description: 'True if your calls that name no model use it.' }),
  plans: Type.Array(Type.String(), { description: 'The names of the plans that include it.' }),
  included: Type.Boolean({ description: 'True if your plan includes it.' }),
})

export function planModelRoutes(
  app: App,
  { config: ai, targets }: Pick<Gateway, 'config' | 'targets'>,
  plans: readonly CataloguePlan[],
): void {
  app.get(
    '/api/ai/plan-models',
    {
      schema: {
        operationId: 'listPlanModels',
        tags: ['ai'],
        summary: 'Models of all plans, with prices and abilities',
        response: {
          200: NamedObject('PlanModelList', {
            prices_as_of: Type.String(),
            models: Type.Array(PlanModelView),
          }),
        },
      },
      config: { access: 'user' },
    },
    async (request) => {
      const caller = requireCaller(request)
      const first = chooseRoute(ai, caller, null, null)
      const describe = (model: PlanModel): Static<typeof PlanModelView> => ({
        id: model.id,
        provider: model.vendor.name,
        provider_label: model.vendor.label,
        routes:
          model.aliasOf === null ? [] : model.routes.map((one) => `${one.vendor}/${one.model}`),
        kind: model.kind,
        context_tokens: model.contextTokens,
        output_tokens_max: model.outputTokensMax,
        capabilities: model.kind === 'chat' ? combineCapabilities(targets, model.routes) : null,
        input_usd_per_million: model.price.input,
        cached_input_usd_per_million: model.price.cached,
        output_usd_per_million: model.price.output,
        price_estimated: model.isEstimated,
        default: model.vendor.name === first.vendor && model.id === first.model,
        plans: model.plans.map(({ name }) => name),
        included: model.plans.some(({ tier }) => tier === caller.tier),
      })
      return { prices_as_of: ai.pricesAsOf, models: listPlanModels(ai, plans).map(describe) }
    },
  )
}
