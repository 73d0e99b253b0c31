// Previews the effect of switching off a model or a vendor: the new route of its calls, and their
// price.
import { findKnownModel, type Route } from '#models/catalogue.ts'
import { Problem } from '#platform/problem.ts'
import type { LiveSwitches } from '#switches/live.ts'
import { computeCost } from './cost.ts'
import { chooseRoute, findRoutes, listVendorsBySlot, type RoutingConfig } from './routing.ts'
import { createSwitchCheck } from './switched-off.ts'

/** The usage of a model over some days. */
export type ModelUse = {
  vendor: string
  model: string
  requests: number
  prompt_tokens: number
  cached_tokens: number
  completion_tokens: number
  cost_nanos: number
}

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

/** Access to every model, since a plan's or a key's own list can only exclude more. */
const EVERY_MODEL = { tier: '' }

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

/** Vendors report a model with its date. */
function sumByListedName(ai: RoutingConfig, recentUses: readonly ModelUse[]): ModelUse[] {
  const sums = new Map<string, ModelUse>()
  for (const use of recentUses) {
    if (!Object.hasOwn(ai.vendors, use.vendor)) continue
    const model = findKnownModel(ai, use.vendor, use.model)?.id ?? use.model
    const name = `${use.vendor}/${model}`
    const sum = sums.get(name)
    if (sum === undefined) {
      sums.set(name, { ...use, model })
      continue
    }
    for (const part of SUMMED) sum[part] += use[part]
  }
  return [...sums.values()]
}

const SUMMED = [
  'requests',
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'cost_nanos',
] as const

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

/** Returns listed and recently used models of vendors that have a key. */
function listKnownRoutes(ai: RoutingConfig, uses: readonly ModelUse[]): Route[] {
  const configured = listVendorsBySlot(ai).filter(({ apiKey }) => apiKey !== null)
  const listed = configured.flatMap(({ name: vendor, defaultModel, models }) =>
    [defaultModel, ...models.map(({ id }) => id)].map((model) => ({ vendor, model })),
  )
  const used = uses.filter(({ vendor }) => configured.some(({ name }) => name === vendor))
  const all = [...listed, ...used.map(({ vendor, model }) => ({ vendor, model }))]
  return [...new Map(all.map((route) => [`${route.vendor}/${route.model}`, route])).values()]
}

/** Returns null if the call would be rejected. */
function findFirstRoute(ai: RoutingConfig, first: Route): Route | null {
  try {
    return findRoutes(ai, EVERY_MODEL, first)[0]
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}

const formatName = (route: Route | null | undefined) =>
  route == null ? null : `${route.vendor}/${route.model}`

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
