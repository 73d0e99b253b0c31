// Previews the effect of switching off a model or a vendor: its calls' new route and their price.
import type { Route } from '#models/catalogue.ts'
import type { LiveSwitches } from '#switches/live.ts'
import { computeCost } from './cost.ts'
import {
  EVERY_MODEL,
  findFirstRoute,
  formatName,
  listKnownRoutes,
  type ModelUse,
  sumByListedName,
} from './known-routes.ts'
import { chooseRoute, type RoutingConfig } from './routing.ts'
import { createSwitchCheck } from './switched-off.ts'

/** Models are named `vendor/model`. */
export type SwitchEffect = {
  /** Calls that name no model. `after` is null if they would be rejected. */
  default_model: { before: string | null; after: string | null; price_ratio: number | null }
  /** The models that would be switched off and are on now, by recent cost, highest first. */
  models: {
    model: string
    calls_per_day: number
    cost_usd_per_day: number
    /** The fallback of calls that name the model; null where they would be rejected. */
    stand_in: string | null
    /** The calls' cost there, divided by their cost now; null without a replacement or a price. */
    price_ratio: number | null
  }[]
  /** Aliases that include an affected model. */
  aliases: { alias: string; before: string | null; after: string | null }[]
}

type Subject = { kind: 'model' | 'vendor'; subject: string }
type Needs = { config: RoutingConfig; live: Pick<LiveSwitches, 'reasonFor' | 'models'> }

/** `recentUses`: the usage of the last `days` days. */
export function computeSwitchEffect(
  { config: now, live }: Needs,
  switched: Subject,
  recentUses: readonly ModelUse[],
  days: number,
): SwitchEffect {
  const uses = sumByListedName(now, recentUses)
  const then = { ...now, switchedOff: createSwitchCheck(now, addSwitch(live, switched)) }
  const isAffected = (route: Route) =>
    now.switchedOff?.(route) == null && then.switchedOff(route) !== null
  const findUse = (route: Route) =>
    uses.find(({ vendor, model }) => vendor === route.vendor && model === route.model)
  const computeRatio = (before: Route | null, after: Route | null) =>
    before === null || after === null
      ? null
      : computePriceRatio(now, before, after, findUse(before))

  const [before, after] = [now, then].map((ai) =>
    findFirstRoute(ai, chooseRoute(ai, EVERY_MODEL, null, null)),
  )
  return {
    default_model: {
      before: formatName(before),
      after: formatName(after),
      price_ratio: computeRatio(before ?? null, after ?? null),
    },
    models: listKnownRoutes(now, uses)
      .filter(isAffected)
      .map((route) => ({ route, use: findUse(route) }))
      .sort((one, other) => (other.use?.cost_nanos ?? 0) - (one.use?.cost_nanos ?? 0))
      .map(({ route, use }) => {
        const standIn = findFirstRoute(then, route)
        return {
          model: `${route.vendor}/${route.model}`,
          calls_per_day: (use?.requests ?? 0) / days,
          cost_usd_per_day: (use?.cost_nanos ?? 0) / 1e9 / days,
          stand_in: formatName(standIn),
          price_ratio: computeRatio(route, standIn),
        }
      }),
    aliases: [...now.aliases].flatMap(([alias, { routes }]) => {
      if (!routes.some(isAffected)) return []
      const first = routes.length === 1 ? routes[0] : { ...routes[0], alias }
      return [
        {
          alias,
          before: formatName(findFirstRoute(now, first)),
          after: formatName(findFirstRoute(then, first)),
        },
      ]
    }),
  }
}

function addSwitch(
  { reasonFor, models }: Needs['live'],
  { kind, subject }: Subject,
): Needs['live'] {
  const off = kind === 'model' ? [...models(), subject] : models()
  return {
    models: () => off,
    reasonFor: (reasonKind, name) =>
      reasonFor(reasonKind, name) ?? (reasonKind === kind && name === subject ? '' : undefined),
  }
}

/** Assumes three prompt tokens per answer token for a model without recent calls. */
const USUAL_CALL = { prompt: 900, completion: 300, cached: 0, cacheWrites: 0 }

/** Uses the model's average call: the sum of many calls would count as one long prompt. */
function computePriceRatio(
  ai: RoutingConfig,
  before: Route,
  after: Route,
  use: ModelUse | undefined,
): number | null {
  const calls = use?.requests ?? 0
  const tokens = (use?.prompt_tokens ?? 0) + (use?.completion_tokens ?? 0)
  const usage =
    use === undefined || calls === 0 || tokens === 0
      ? USUAL_CALL
      : {
          prompt: use.prompt_tokens / calls,
          completion: use.completion_tokens / calls,
          cached: use.cached_tokens / calls,
          cacheWrites: 0,
        }
  const [from, to] = [before, after].map(
    ({ vendor, model }) => computeCost(ai, vendor, [model], usage).usd,
  )
  return from === undefined || to === undefined || from === 0 ? null : to / from
}
