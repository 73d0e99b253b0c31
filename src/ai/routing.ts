// Finds the first vendor and model for the names in a request (vendors, slots, models, aliases),
// applies the caller's plan and key, and adds the fallbacks. The trap: a fallback without a key, or
// outside plan or key, is skipped silently; the requested model is not.

import type { Config, VendorConfig } from '#config/config.ts'
import {
  type Alias,
  covers,
  expandRoute,
  findAliasRoute,
  findKnownModel,
  findModel,
  getVendor,
  isAllowed,
  isInKeyList,
  isInPlan,
  type ModelAccess,
  parseRoute,
  type Route,
  readAllowances,
  SLOT_NAMES,
  type VendorEntry,
} from '#models/catalogue.ts'
import { invalid } from '#platform/problems.ts'
import { findHighestPrice } from './cost.ts'
import { aiProblem } from './problems.ts'
import type { SwitchedOff } from './switched-off.ts'

/** Control characters and lone surrogates would break an address or a database. */
export const MODEL_NAME = { minLength: 1, maxLength: 200, pattern: '^[ -~]+$' }

/** `switchedOff`: returns why the operator switched a route off; omitted: all routes are on. */
export type RoutingConfig = Config['ai'] & { switchedOff?: SwitchedOff }
type AiConfig = RoutingConfig

/** Names that a request may use for a vendor. */
export function listProviderNames({ vendors }: Pick<AiConfig, 'vendors'>): string[] {
  return [
    ...Object.values(vendors).flatMap(({ name, otherNames }) => [name, ...otherNames]),
    ...SLOT_NAMES,
  ]
}

/** Returns each vendor once, in slot order. */
export function listVendorsBySlot({ slots, vendors }: AiConfig): readonly VendorConfig[] {
  const known = ordered.get(slots)
  if (known !== undefined) return known
  const found = [...new Set(slots.map(({ vendor }) => vendor))].map((name) =>
    getVendor(vendors, name),
  )
  ordered.set(slots, found)
  return found
}

/** Cached by the settings' slots, because every call reads it. */
const ordered = new WeakMap<AiConfig['slots'], readonly VendorConfig[]>()

/** `provider` is one of `listProviderNames`; null: the first slot. @throws Problem 422 */
export function chooseRoute(
  ai: AiConfig,
  access: ModelAccess,
  provider: string | null,
  model: string | null,
): Route {
  const usual =
    provider === null ? ai.slots[0] : (findSlot(ai, provider) ?? parseRoute(ai, provider))
  if (usual == null) throw new Error(`no vendor is called '${provider}'`)
  if (model === null) {
    return findUsableRoute(
      ai,
      access,
      usual,
      provider === null ? listVendorsBySlot(ai) : [getVendor(ai.vendors, usual.vendor)],
    )
  }
  const alias = ai.aliases.get(model)
  if (alias === undefined) return { vendor: usual.vendor, model }
  const named = findAliasRoute(ai, model)
  if (
    named !== null &&
    (provider === null || alias.routes.some(({ vendor }) => vendor === usual.vendor))
  )
    return named
  const vendors = alias.routes.map(({ vendor }) => `'${vendor}'`).join(', ')
  throw invalid(['body', 'model'], `Is an alias of a model of ${vendors}, not of '${usual.vendor}'`)
}

function findSlot({ slots }: AiConfig, provider: string): Route | undefined {
  const index = SLOT_NAMES.indexOf(provider)
  return index === -1 ? undefined : slots[index]
}

/** Returns the usual route if allowed, else the first allowed one of the key's list or the plan. */
function findUsableRoute(
  ai: AiConfig,
  access: ModelAccess,
  usual: Route,
  vendors: readonly VendorConfig[],
): Route {
  const usualRoutes = expandRoute(ai, usual)
  if (usualRoutes.some((route) => isOpen(ai, access, route))) return usual
  if (usualRoutes.some((route) => isAllowed(ai, access, route)))
    return findReplacement(ai, access, usual, vendors) ?? usual
  const configured = vendors.filter((vendor) => vendor.apiKey !== null)
  const open = configured.flatMap(listChatRoutes).filter((route) => isOpen(ai, access, route))
  for (const allowance of [
    ...readAllowances(ai, access.models ?? []),
    ...(ai.allow.get(access.tier) ?? []),
  ]) {
    const found = open.find(({ vendor, model }) => covers(allowance, vendor, [model]))
    if (found !== undefined) return found
  }
  return usual
}

/**
 * Returns the replacement of a default that is switched off: the first usable fallback
 * (LLM_FALLBACKS), or the same vendor's model with the nearest price that is not higher in any
 * part.
 * Null: calls without a model are rejected until the operator decides.
 */
function findReplacement(
  ai: AiConfig,
  access: ModelAccess,
  usual: Route,
  vendors: readonly VendorConfig[],
): Route | null {
  const maker = getVendor(ai.vendors, usual.vendor)
  const fallback = ai.fallbacks.find((route) => {
    const vendor = vendors.find(({ name }) => name === route.vendor)
    const isUsable =
      vendor !== undefined && vendor.apiKey !== null && (maker.sandboxed || !vendor.sandboxed)
    return isUsable && isOpen(ai, access, route)
  })
  if (fallback !== undefined) return fallback
  if (maker.apiKey === null) return null
  const limit = findPriceLimit(ai, usual)
  const cheaper = listChatRoutes(maker).flatMap((route) => {
    const price = findKnownModel(ai, route.vendor, route.model)?.price
    const isMoreExpensive = !price || price.input > limit.input || price.output > limit.output
    return isMoreExpensive || !isOpen(ai, access, route)
      ? []
      : [{ route, sum: price.input + price.output }]
  })
  return cheaper.sort((one, other) => other.sum - one.sum)[0]?.route ?? null
}

function findPriceLimit(ai: AiConfig, { vendor, model }: Route) {
  return findKnownModel(ai, vendor, model)?.price ?? findHighestPrice(ai, vendor)
}

function listChatRoutes({ name, defaultModel, models }: VendorEntry): Route[] {
  const ids = [defaultModel, ...models.filter(({ kind }) => kind === 'chat').map(({ id }) => id)]
  return ids.map((model) => ({ vendor: name, model }))
}

/**
 * Finds a route by one name: an alias, `vendor/model` that the vendor lists, a listed model, any
 * `vendor/model`, or a name that identifies its vendor.
 * Any other name, such as a model of Ollama, uses the first slot.
 */
export function findRouteByName(ai: AiConfig, access: ModelAccess, name: string): Route {
  const prefixed = name.indexOf('/') > 0 ? (parseSlotRoute(ai, name) ?? parseRoute(ai, name)) : null
  // Routers list `deepseek/deepseek-v4` as well; with a key for DeepSeek, the name means DeepSeek.
  const maker = prefixed === null ? null : getVendor(ai.vendors, prefixed.vendor)
  const isItsOwn =
    maker !== null && maker.apiKey !== null && findModel(maker, prefixed?.model ?? '') !== null
  const route =
    findAliasRoute(ai, name) ?? (isItsOwn ? prefixed : (findListedRoute(ai, name) ?? prefixed))
  if (route !== null) return route
  const matchingVendor = Object.values(ai.vendors).find(({ modelNames }) => modelNames?.test(name))
  return { vendor: matchingVendor?.name ?? chooseRoute(ai, access, null, null).vendor, model: name }
}

/** Finds a listed model or a vendor's default, at the first vendor with a key in slot order. */
function findListedRoute(ai: AiConfig, model: string): Route | null {
  const candidates = listVendorsBySlot(ai).filter(
    (vendor) => vendor.defaultModel === model || findModel(vendor, model) !== null,
  )
  const vendor = candidates.find(({ apiKey }) => apiKey !== null) ?? candidates[0]
  return vendor === undefined ? null : { vendor: vendor.name, model }
}

/** Parses `llm_vendor_1/model`. */
function parseSlotRoute(ai: AiConfig, name: string): Route | null {
  const slash = name.indexOf('/')
  const slot = findSlot(ai, name.slice(0, slash))
  return slot === undefined
    ? null
    : { vendor: slot.vendor, model: name.slice(slash + 1) || slot.model }
}

export function isConfigured(ai: AiConfig, vendor: string): boolean {
  return getVendor(ai.vendors, vendor).apiKey !== null
}

/** Orders the usable models of an alias. */
export type RouteOrder = (alias: Alias, routes: readonly Route[]) => readonly Route[]

/** Returns the routes of one name in order. @throws as `authorizeRoutes`, `resolveRoutes` */
export function findRoutes(ai: AiConfig, access: ModelAccess, first: Route): [Route, ...Route[]] {
  const allowed = authorizeRoutes(ai, access, first)
  return resolveRoutes(ai, access, first, allowed, (_alias, routes) => routes)
}

/** Returns the model, or an alias's models, that plan and key allow. @throws Problem 403 */
export function authorizeRoutes(ai: AiConfig, access: ModelAccess, first: Route): readonly Route[] {
  const alias = findAlias(ai, first)
  const allowed = (alias?.routes ?? [first]).filter((route) => isAllowed(ai, access, route))
  if (allowed.length === 0) requireAllowed(ai, access, first)
  return allowed
}

/**
 * Returns the configured routes of `allowed`, then the fallbacks (LLM_FALLBACKS) that plan and key
 * allow, each once.
 * A sandboxed vendor never replaces a real one. Models that are switched off are skipped.
 * @throws Problem 400 when no requested vendor has a key, 503 when all models are switched off
 */
export function resolveRoutes(
  ai: AiConfig,
  access: ModelAccess,
  first: Route,
  allowed: readonly Route[],
  order: RouteOrder,
): [Route, ...Route[]] {
  const requested = orderConfigured(ai, first, allowed, order)
  const routes = requested.filter((route) => !isDisabled(ai, route))
  const isSandboxed = getVendor(ai.vendors, requested[0].vendor).sandboxed
  for (const route of ai.fallbacks) {
    const { apiKey, sandboxed } = getVendor(ai.vendors, route.vendor)
    if (apiKey === null || (sandboxed && !isSandboxed) || !isOpen(ai, access, route)) continue
    if (!routes.some(({ vendor, model }) => vendor === route.vendor && model === route.model))
      routes.push(route)
  }
  const [best, ...others] = routes
  if (best !== undefined) return [best, ...others]
  requireEnabled(ai, requested[0])
  throw new Error(`${requested[0].vendor} was switched on meanwhile`)
}

/** @throws Problem 400 */
function orderConfigured(
  ai: AiConfig,
  first: Route,
  allowed: readonly Route[],
  order: RouteOrder,
): [Route, ...Route[]] {
  const configured = allowed.filter(({ vendor }) => isConfigured(ai, vendor))
  const real = configured.filter(({ vendor }) => !getVendor(ai.vendors, vendor).sandboxed)
  const usable = real.length > 0 ? real : configured
  const alias = findAlias(ai, first)
  const [best, ...others] = alias === null ? usable : order(alias, usable)
  if (best !== undefined) return [best, ...others]
  throw aiProblem('provider_not_configured', { vendor: allowed[0]?.vendor ?? first.vendor })
}

function findAlias({ aliases }: AiConfig, { alias }: Route): Alias | null {
  return alias === undefined ? null : (aliases.get(alias) ?? null)
}

export function requireConfigured(ai: AiConfig, vendor: string): void {
  if (isConfigured(ai, vendor)) return
  throw aiProblem('provider_not_configured', { vendor })
}

/** Returns true when the caller may use the model and it is switched on. */
export function isOpen(ai: AiConfig, access: ModelAccess, route: Route): boolean {
  return isAllowed(ai, access, route) && !isDisabled(ai, route)
}

function isDisabled({ switchedOff }: AiConfig, route: Route): boolean {
  return switchedOff !== undefined && switchedOff(route) !== null
}

/** @throws Problem 503 when the operator has switched the model or its vendor off */
export function requireEnabled(ai: AiConfig, route: Route): void {
  const off = ai.switchedOff?.(route)
  if (!off) return
  // Clients retry a 503, but this one lasts until the operator decides otherwise.
  const headers = { 'x-should-retry': 'false' }
  const { vendor, model } = route
  throw off.kind === 'vendor'
    ? aiProblem('vendor_switched_off', { vendor, reason: off.reason }, { headers })
    : aiProblem('model_switched_off', { model, reason: off.reason }, { headers })
}

/** @throws Problem 403 */
export function requireAllowed(ai: AiConfig, access: ModelAccess, route: Route): void {
  if (!isInPlan(ai, access.tier, route))
    throw aiProblem('model_not_allowed', { model: route.model, whose: 'your plan' })
  requireKeyAllows(ai, access, route)
}

/** @throws Problem 403 */
export function requireKeyAllows(
  ai: AiConfig,
  { models }: Pick<ModelAccess, 'models'>,
  route: Route,
): void {
  if (isInKeyList(ai, models, route)) return
  throw aiProblem('model_not_allowed', { model: route.model, whose: "this API key's models" })
}
