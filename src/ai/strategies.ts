// Orders the models of an alias for a call: as listed, by weight, by price, or by latency. By
// weight, a conversation keeps its model and its prompt cache. By latency, models of similar speed
// stay in listed order, so that the choice is stable.
import { type Alias, type Catalogue, findKnownModel, type Route } from '#models/catalogue.ts'
import { computeCost } from './cost.ts'
import { type Affinity, computeScore } from './endpoints.ts'
import type { Latencies } from './latencies.ts'

/** The criteria of a choice. */
export type Choice = {
  affinity: Affinity
  isStream: boolean
  /** `completionTokens`: the highest limit; infinite without one. */
  size: { promptTokens: number; completionTokens: number }
}

type Deps = { config: Pick<Catalogue, 'vendors'>; latencies: Pick<Latencies, 'find'> }

/** Few answers come near their limit, so this typical length is used instead. */
const ANSWER_TOKENS = 1_000
/** Models up to this factor slower count as equally fast. */
const SIMILAR_LATENCY_FACTOR = 1.2
/** This share of calls tries another model, whose speed may have changed. */
const EXPLORATION_SHARE = 1 / 20

/** @param routes those of the alias that may answer, as listed */
export function orderRoutes(
  deps: Deps,
  alias: Alias,
  routes: readonly Route[],
  choice: Choice,
): readonly Route[] {
  if (routes.length < 2 || alias.by === 'order') return routes
  if (alias.by === 'weight') return orderByWeight(alias, routes, choice)
  return alias.by === 'price'
    ? orderByPrice(deps, routes, choice)
    : orderByLatency(deps, routes, choice)
}

function orderByWeight(
  { routes: all, weights }: Alias,
  routes: readonly Route[],
  { affinity }: Choice,
): readonly Route[] {
  const conversation = affinity()
  return sortRoutes(routes, (route) => {
    const weight = weights[all.indexOf(route)] ?? 1
    return -computeScore(conversation, `${route.vendor}/${route.model}`, weight)
  })
}

/** A model without a price, or with a context that is too short, comes last. */
function orderByPrice(
  { config }: Deps,
  routes: readonly Route[],
  { size }: Choice,
): readonly Route[] {
  const { promptTokens: prompt } = size
  const usage = {
    prompt,
    completion: Math.min(size.completionTokens, ANSWER_TOKENS),
    cached: 0,
    cacheWrites: 0,
  }
  return sortRoutes(routes, ({ vendor, model }) => {
    const { usd, isListed } = computeCost(config, vendor, [model], usage)
    const isTooLong =
      prompt > (findKnownModel(config, vendor, model)?.contextTokens ?? Number.POSITIVE_INFINITY)
    return isListed && !isTooLong ? usd : Number.POSITIVE_INFINITY
  })
}

/** Models without a measurement come first, once each. */
function orderByLatency(
  { latencies }: Deps,
  routes: readonly Route[],
  { isStream }: Choice,
): readonly Route[] {
  const times = routes.map((route) => latencies.find(route, isStream))
  const fastestMs = Math.min(...times.filter((ms) => ms !== null))
  const ordered = sortRoutes(routes, (_route, index) => {
    const ms = times[index] ?? null
    if (ms === null) return -1
    return ms <= fastestMs * SIMILAR_LATENCY_FACTOR ? fastestMs : ms
  })
  if (times.includes(null) || Math.random() >= EXPLORATION_SHARE) return ordered
  const explored = ordered[1 + Math.floor(Math.random() * (ordered.length - 1))]
  return explored === undefined
    ? ordered
    : [explored, ...ordered.filter((route) => route !== explored)]
}

/** Lowest first; equal ones keep their order. */
function sortRoutes(
  routes: readonly Route[],
  computeRank: (route: Route, index: number) => number,
): readonly Route[] {
  return routes
    .map((route, index) => ({ route, value: computeRank(route, index) }))
    .sort((one, other) => (one.value === other.value ? 0 : one.value - other.value))
    .map(({ route }) => route)
}
