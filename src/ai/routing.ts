// Routing: from the names that a request uses (vendors, slots, models, aliases) to the vendor and model asked first, what the
// caller's plan and key allow, and the fallbacks behind it.
// The trap: a fallback that has no key, or that plan or key leave out, is passed over silently; the one asked for is not.

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
import { findDearestPrice } from './cost.ts'
import { aiProblem } from './problems.ts'
import type { SwitchedOff } from './switched-off.ts'

/** What a model may be called: letters, digits and signs of ASCII, as all vendors have it. Control characters and halves of
 * characters would break an address or a database on their way. */
export const MODEL_NAME = { minLength: 1, maxLength: 200, pattern: '^[ -~]+$' }

/** `switchedOff`: what the operator has switched off since the start; left out: nothing. */
export type RoutingConfig = Config['ai'] & { switchedOff?: SwitchedOff }
type AiConfig = RoutingConfig

/** Names that a request may use for a vendor. */
export function listProviderNames({ vendors }: Pick<AiConfig, 'vendors'>): string[] {
  return [
    ...Object.values(vendors).flatMap(({ name, otherNames }) => [name, ...otherNames]),
    ...SLOT_NAMES,
  ]
}

/** All vendors, each once, in the order of their slots. */
export function listVendorsBySlot({ slots, vendors }: AiConfig): readonly VendorConfig[] {
  const known = ordered.get(slots)
  if (known !== undefined) return known
  const found = [...new Set(slots.map(({ vendor }) => vendor))].map((name) =>
    getVendor(vendors, name),
  )
  ordered.set(slots, found)
  return found
}

/** By the settings' slots: every call asks. */
const ordered = new WeakMap<AiConfig['slots'], readonly VendorConfig[]>()

/**
 * `provider`, one of `providerNames`, and `model`, each optional: without a provider the first slot answers.
 * @throws Problem 422 for an alias of another provider's model.
 */
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

/**
 * Where plan or key leave out what is usual: the first that they have, in the order in which the key names them, or the plan. Where
 * the usual is switched off, its stand-in.
 */
function findUsableRoute(
  ai: AiConfig,
  access: ModelAccess,
  usual: Route,
  vendors: readonly VendorConfig[],
): Route {
  const behind = expandRoute(ai, usual)
  if (behind.some((route) => isOpen(ai, access, route))) return usual
  if (behind.some((route) => isAllowed(ai, access, route)))
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
 * Returns what answers in place of a default that is switched off: the first of LLM_FALLBACKS, or the same vendor's model
 * whose price is nearest and in no part higher. Null: calls without a model are refused until the operator decides.
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
    const isDearer = !price || price.input > limit.input || price.output > limit.output
    return isDearer || !isOpen(ai, access, route)
      ? []
      : [{ route, sum: price.input + price.output }]
  })
  return cheaper.sort((one, other) => other.sum - one.sum)[0]?.route ?? null
}

function findPriceLimit(ai: AiConfig, { vendor, model }: Route) {
  return findKnownModel(ai, vendor, model)?.price ?? findDearestPrice(ai, vendor)
}

function listChatRoutes({ name, defaultModel, models }: VendorEntry): Route[] {
  const ids = [defaultModel, ...models.filter(({ kind }) => kind === 'chat').map(({ id }) => id)]
  return ids.map((model) => ({ vendor: name, model }))
}

/**
 * By one name: an alias, `vendor/model` where that vendor lists it, a listed model, any `vendor/model`, or a model whose name
 * tells its maker; any other name goes to the first slot, as Ollama's do.
 */
export function findRouteByName(ai: AiConfig, access: ModelAccess, name: string): Route {
  const prefixed = name.indexOf('/') > 0 ? (parseSlotRoute(ai, name) ?? parseRoute(ai, name)) : null
  // A router of vendors lists `deepseek/deepseek-v4` as well: where that vendor has a key here, it is meant.
  const maker = prefixed === null ? null : getVendor(ai.vendors, prefixed.vendor)
  const isItsOwn =
    maker !== null && maker.apiKey !== null && findModel(maker, prefixed?.model ?? '') !== null
  const route =
    findAliasRoute(ai, name) ?? (isItsOwn ? prefixed : (findListedRoute(ai, name) ?? prefixed))
  if (route !== null) return route
  const namesake = Object.values(ai.vendors).find(({ modelNames }) => modelNames?.test(name))
  return { vendor: namesake?.name ?? chooseRoute(ai, access, null, null).vendor, model: name }
}

/** Listed, or a vendor's usual model. Where more than one vendor has it: the first that is configured, in the order of their slots. */
function findListedRoute(ai: AiConfig, model: string): Route | null {
  const having = listVendorsBySlot(ai).filter(
    (vendor) => vendor.defaultModel === model || findModel(vendor, model) !== null,
  )
  const vendor = having.find(({ apiKey }) => apiKey !== null) ?? having[0]
  return vendor === undefined ? null : { vendor: vendor.name, model }
}

/** `llm_vendor_1/model`. */
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

/**
 * Returns the routes of one name in their order of preference. @throws Problem as `authorizeRoutes`
 * and `resolveRoutes`
 */
export function findRoutes(ai: AiConfig, access: ModelAccess, first: Route): [Route, ...Route[]] {
  const allowed = authorizeRoutes(ai, access, first)
  return resolveRoutes(ai, access, first, allowed, (_alias, routes) => routes)
}

/**
 * Returns the requested model, or those models of the requested alias that the caller's plan and key allow.
 * @throws Problem 403 where they allow none
 */
export function authorizeRoutes(ai: AiConfig, access: ModelAccess, first: Route): readonly Route[] {
  const alias = findAlias(ai, first)
  const allowed = (alias?.routes ?? [first]).filter((route) => isAllowed(ai, access, route))
  if (allowed.length === 0) requireAllowed(ai, access, first)
  return allowed
}

/**
 * Returns the configured routes of `allowed`, and then LLM_FALLBACKS as far as plan and key allow them, each once. A sandboxed
 * vendor never stands in for a real one. Models that are switched off are skipped.
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

/** Allowed to the caller, and not switched off. */
export function isOpen(ai: AiConfig, access: ModelAccess, route: Route): boolean {
  return isAllowed(ai, access, route) && !isDisabled(ai, route)
}

function isDisabled({ switchedOff }: AiConfig, route: Route): boolean {
  return switchedOff !== undefined && switchedOff(route) !== null
}

/** @throws Problem 503 where the operator has switched the model or its vendor off. */
export function requireEnabled(ai: AiConfig, route: Route): void {
  const off = ai.switchedOff?.(route)
  if (!off) return
  // A client that repeats a 503 would repeat it until somebody decides otherwise.
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
