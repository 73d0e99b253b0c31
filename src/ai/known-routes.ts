// The models that an operator can see: listed ones, recently used ones, and the usage of each.
import { findKnownModel, type Route } from '#models/catalogue.ts'
import { Problem } from '#platform/problem.ts'
import { findRoutes, listVendorsBySlot, type RoutingConfig } from './routing.ts'

/** The usage of a model over some days. */
export type ModelUse = {
  vendor: string
  model: string
  requests: number
  failed: number
  prompt_tokens: number
  cached_tokens: number
  completion_tokens: number
  cost_nanos: number
}

/** Access to every model, since a plan's or a key's own list can only exclude more. */
export const EVERY_MODEL = { tier: '' }

/** Vendors report a model with its date. */
export function sumByListedName(ai: RoutingConfig, recentUses: readonly ModelUse[]): ModelUse[] {
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
  'failed',
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'cost_nanos',
] as const

/** Returns listed and recently used models of vendors that have a key. */
export function listKnownRoutes(ai: RoutingConfig, uses: readonly ModelUse[]): Route[] {
  const configured = listVendorsBySlot(ai).filter(({ apiKey }) => apiKey !== null)
  const listed = configured.flatMap(({ name: vendor, defaultModel, models }) =>
    [defaultModel, ...models.map(({ id }) => id)].map((model) => ({ vendor, model })),
  )
  const used = uses.filter(({ vendor }) => configured.some(({ name }) => name === vendor))
  const all = [...listed, ...used.map(({ vendor, model }) => ({ vendor, model }))]
  return [...new Map(all.map((route) => [`${route.vendor}/${route.model}`, route])).values()]
}

/** Returns null if the call would be rejected. */
export function findFirstRoute(ai: RoutingConfig, first: Route): Route | null {
  try {
    return findRoutes(ai, EVERY_MODEL, first)[0]
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}

export const formatName = (route: Route | null | undefined) =>
  route == null ? null : `${route.vendor}/${route.model}`
