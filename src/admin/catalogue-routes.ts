// The catalogue's plans for superusers: prices, grants, limits, and how many have each.
import { Type } from 'typebox'
import type { Billing } from '#billing/billing.ts'
import { PlanView } from '#billing/plans.ts'
import { countSubscribers, type PriceSubscribers } from '#billing/subscribers.ts'
import { findUnknownPrices } from '#billing/unknown-prices.ts'
import {
  type Catalogue,
  FREE,
  INTERVALS,
  type Interval,
  type CataloguePlan as Plan,
  priceField,
} from '#catalogue/catalogue.ts'
import { countUsersOnPlans } from '#identity/admin/administration.ts'
import type { App } from '#platform/http/app.ts'
import { Nullable, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { adminRoute } from './admin-route.ts'

const CataloguePlan = Type.Object(
  {
    tier: Type.String(),
    name: Type.String(),
    features: PlanView.properties.features,
    grants: PlanView.properties.grants,
    limits: PlanView.properties.limits,
    trial_days: PlanView.properties.trial_days,
    allowance_usd: Nullable(
      Type.Number({ description: 'Maximum cost of calls in a paid month; null: no limit' }),
    ),
    trial_allowance_usd: Nullable(Type.Number()),
    tokens_max: Nullable(
      Type.Integer({ description: 'Maximum tokens in a paid month; null: no limit' }),
    ),
    accounts: Type.Integer({ description: 'Accounts that have the plan now' }),
    prices: Type.Array(
      Type.Object(
        {
          interval: OneOf(...INTERVALS),
          setting: Type.String({ description: 'The setting or field of the price id' }),
          price_id: Nullable(Type.String({ description: 'Null: not for sale' })),
          amount: Nullable(
            Type.Number({
              description: 'In units of the currency; null while the processor cannot be reached',
            }),
          ),
          currency: Nullable(Type.String()),
          subscribers: Type.Integer(),
          trials: Type.Integer({ description: 'A part of `subscribers`' }),
        },
        { title: 'CataloguePrice' },
      ),
      { description: 'Empty for the plan without a subscription' },
    ),
  },
  { title: 'CataloguePlan' },
)

const CatalogueView = Type.Object(
  {
    plans_file: Nullable(Type.String({ description: 'Null: the built-in plans' })),
    products_file: Nullable(
      Type.String({ description: 'Null: products are built in, or edited in the shop' }),
    ),
    plans: Type.Array(CataloguePlan, { description: 'From the lowest to the highest' }),
    dropped_plans: Type.Array(
      Type.Object({ tier: Type.String(), accounts: Type.Integer() }, { title: 'DroppedPlan' }),
      { description: 'Plans that accounts still have; the catalogue no longer has them' },
    ),
    unknown_prices: Type.Array(
      Type.Object(
        { price_id: Type.String(), subscribers: Type.Integer() },
        { title: 'UnknownPrice' },
      ),
      { description: 'Prices with subscribers that belong to no plan' },
    ),
  },
  { title: 'Catalogue' },
)

export function adminCatalogueRoutes(
  app: App,
  { config, db }: Pick<Platform, 'config' | 'db'>,
  billing: Pick<Billing, 'listPlans'>,
): void {
  const { catalogue, budgets, processor } = config

  app.get(
    '/api/admin/catalogue',
    adminRoute(
      'getCatalogue',
      'Show the plans with their prices, grants and limits, and how many have each',
      { response: { 200: CatalogueView } },
    ),
    async () => {
      const [views, accounts, subscribers, unknown] = await Promise.all([
        billing.listPlans(),
        countUsersOnPlans(db),
        countSubscribers(db),
        findUnknownPrices(db, processor.prices),
      ])
      const tiers = new Set(catalogue.plans.map(({ tier }) => tier))
      return {
        plans_file: catalogue.plansPath,
        products_file: catalogue.productsPath,
        plans: catalogue.plans.flatMap((plan) => {
          const view = views.find(({ tier }) => tier === plan.tier)
          if (view === undefined) return []
          return {
            tier: plan.tier,
            name: plan.name,
            features: view.features,
            grants: view.grants,
            limits: view.limits,
            trial_days: plan.trialDays,
            allowance_usd: plan.allowanceUsd,
            trial_allowance_usd: plan.trialAllowanceUsd,
            tokens_max: budgets.get(plan.tier) ?? null,
            accounts: accounts.get(plan.tier) ?? 0,
            prices:
              plan.tier === FREE
                ? []
                : INTERVALS.map((interval) =>
                    viewPrice(catalogue, { plan, view, interval, subscribers }),
                  ),
          }
        }),
        dropped_plans: [...accounts]
          .filter(([tier]) => !tiers.has(tier) && tier !== FREE)
          .map(([tier, count]) => ({ tier, accounts: count })),
        unknown_prices: unknown.map(({ priceId, users }) => ({
          price_id: priceId,
          subscribers: users,
        })),
      }
    },
  )
}

type Priced = {
  plan: Plan
  view: PlanView
  interval: Interval
  subscribers: ReadonlyMap<string, PriceSubscribers>
}

function viewPrice(catalogue: Catalogue, { plan, view, interval, subscribers }: Priced) {
  const id = plan.prices[interval] ?? null
  const amount = interval === 'month' ? view.price : view.amount_yearly
  return {
    interval,
    setting: priceField(catalogue, { tier: plan.tier, interval }),
    price_id: id,
    amount: id === null ? null : (amount ?? null),
    currency: view.currency ?? null,
    ...(subscribers.get(id ?? '') ?? { subscribers: 0, trials: 0 }),
  }
}
