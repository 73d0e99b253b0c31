// Vendors, models and routes for superusers, with the usage of the last 30 days.
import { Type } from 'typebox'
import type { Ai } from '#ai/ai.ts'
import { describeModels } from '#ai/operator-models.ts'
import { findEmails } from '#identity/admin/administration.ts'
import { DAY_MS, plus } from '#platform/clock.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, Nullable, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { sumModelsUsage } from '#usage/operator-sums.ts'
import { listEndpointFailures } from '#usage/vendor-failures.ts'
import { adminRoute } from './admin-route.ts'

const SUMS = {
  calls: Type.Integer(),
  failed: Type.Integer(),
  cost_usd: Type.Number({ description: 'Computed from the price list.' }),
}

const VendorFailure = Type.Object(
  {
    endpoint: Type.String(),
    at: Instant,
    failure: Type.String({
      description: 'Why the attempt failed: `timeout`, `limited`, `unauthorized`.',
    }),
    model: Nullable(Type.String()),
    user_id: Type.String(),
    email: Nullable(Type.String()),
    request_id: Nullable(Type.String()),
    error_code: Nullable(
      Type.String({ description: 'Null when another endpoint or vendor answered the call.' }),
    ),
    error_detail: Nullable(Type.String({ description: 'The vendor’s own words.' })),
  },
  { title: 'VendorFailure' },
)

const ModelsOverview = Type.Object(
  {
    days: Type.Integer({ description: 'The usage covers this many days.' }),
    default_model: Nullable(Type.String({ description: 'Calls that name no model use it.' })),
    fallbacks: Type.Array(Type.String(), { description: 'In the order of LLM_FALLBACKS.' }),
    aliases: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          strategy: Nullable(OneOf('order', 'weight', 'price', 'latency')),
          models: Type.Array(Type.String()),
        },
        { title: 'AliasRoutes' },
      ),
    ),
    vendors: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          label: Type.String(),
          state: OneOf('live', 'sandbox', 'off'),
          key_setting: Nullable(Type.String()),
          endpoints: Type.Array(
            Type.Object(
              {
                name: Type.String(),
                circuit: OneOf('closed', 'open', 'half-open'),
              },
              { title: 'VendorEndpoint' },
            ),
            { description: 'Circuits are those of the node that replies.' },
          ),
          limited_models: Type.Array(Type.String(), {
            description: 'Models whose rate limit the node waits out.',
          }),
          last_failure: Nullable(VendorFailure),
          ...SUMS,
        },
        { title: 'OperatorVendor' },
      ),
      { description: 'In the order of their slots. `off`: the vendor has no key.' },
    ),
    models: Type.Array(
      Type.Object(
        {
          vendor: Type.String(),
          model: Type.String(),
          kind: OneOf('chat', 'embedding', 'rerank'),
          context_tokens: Nullable(Type.Integer()),
          input_usd_per_million: Type.Number(),
          output_usd_per_million: Type.Number(),
          is_price_estimated: Type.Boolean(),
          is_default: Type.Boolean(),
          off_reason: Nullable(
            Type.String({ description: 'Why the model or its vendor is switched off.' }),
          ),
          ...SUMS,
        },
        { title: 'OperatorModel' },
      ),
      { description: 'Listed and recently used models of vendors with a key, highest cost first.' },
    ),
  },
  { title: 'ModelsOverview' },
)

const DAYS = 30
const MODELS_MAX = 500

export function adminModelRoutes(
  app: App,
  { db, clock }: Pick<Platform, 'db' | 'clock'>,
  { gateway }: Pick<Ai, 'gateway'>,
): void {
  app.get(
    '/api/admin/models',
    adminRoute(
      'getModelsOverview',
      'Show vendors, models and routes with their states, prices and recent costs',
      { response: { 200: ModelsOverview } },
    ),
    async () => {
      const to = clock.now().slice(0, 10)
      const from = plus(`${to}T00:00:00.000Z`, -(DAYS - 1) * DAY_MS).slice(0, 10)
      const [uses, failures] = await Promise.all([
        sumModelsUsage(db, { from, to }, MODELS_MAX),
        listEndpointFailures(db),
      ])
      const emails = await findEmails(
        db,
        failures.map(({ user_id }) => user_id),
      )
      const { vendors, ...overview } = describeModels(gateway, uses)
      return {
        days: DAYS,
        ...overview,
        vendors: vendors.map((vendor) => {
          const names = vendor.endpoints.map(({ name }) => name)
          const failure = failures.find(({ endpoint }) => names.includes(endpoint))
          return {
            ...vendor,
            last_failure:
              failure === undefined
                ? null
                : { ...failure, email: emails.get(failure.user_id) ?? null },
          }
        }),
      }
    },
  )
}
