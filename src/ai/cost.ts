// Computes the cost of a call in US dollars from the catalogue's prices. A model without a price is
// charged too much rather than nothing.
import {
  type Catalogue,
  type Dialect,
  findListedModel,
  findModel,
  MEDIA,
  type Medium,
  type Model,
  type Price,
  type Route,
  type VendorEntry,
} from '#models/catalogue.ts'
import { findHighestMediaPrice, findMediaPrice, type MediaNeeds, NO_MEDIA } from './media.ts'
import { FILE_SEARCH, NO_SEARCHES, type Searches, WEB_SEARCH } from './vendors/extras.ts'
import type { Usage } from './vendors/vendor.ts'

export type Cost = {
  usd: number
  /** False when no name has a price, so that the highest price was used. */
  isListed: boolean
}

/** The embedder of this machine, which costs nothing. */
export const LOCAL_VENDOR = 'local'

type Vendors = Pick<Catalogue, 'vendors'>

/** Features that vendors of one dialect bill in addition to tokens. */
export type Extras = {
  dialect: Dialect | null
  /** Names as in the vendors' `rates`. */
  switches: readonly string[]
  searches: Searches
  /** How often the vendor reads the prompt: twice when it compacts the conversation. */
  readings: number
  /** Searches that no vendor reports: the request asks for them, or the model always searches. */
  unreportedSearches: number
  areSearchesRequested?: boolean
}

export const NO_EXTRAS: Extras = {
  dialect: null,
  switches: [],
  searches: NO_SEARCHES,
  readings: 1,
  unreportedSearches: 0,
}

/**
 * Returns the cost of `usage` at the price of the first of `names` that has one: the vendor's name
 * for the model, then the requested name.
 * A model without a price costs as much as the vendor's most expensive model of its kind.
 */
export function computeCost(
  catalogue: Vendors,
  vendor: string,
  names: readonly string[],
  usage: Usage,
  kind: Model['kind'] = 'chat',
  extras: Extras = NO_EXTRAS,
): Cost {
  if (usage.costUsd !== undefined && catalogue.vendors[vendor]?.quirks.reportsCost === true) {
    return { usd: usage.costUsd, isListed: true }
  }
  if (usage.byModel !== undefined)
    return computeCostByModel(catalogue, vendor, names, usage, usage.byModel, kind, extras)
  const price = findPrice(catalogue, vendor, names)
  const multiple = findMultiple(catalogue, vendor, names, extras, usage.tier)
  const unlisted = (medium: Medium, part: 'input' | 'output' | 'cached') =>
    findHighestMediaPrice(catalogue, medium, part)
  if (price !== null)
    return { usd: costUsd(price, usage, multiple, unlisted), isListed: isAllListed(price, usage) }
  if (vendor === LOCAL_VENDOR) return { usd: 0, isListed: true }
  const prices = findSimilarPrices(catalogue, vendor, kind)
  return {
    usd: Math.max(0, ...prices.map((price) => costUsd(price, usage, multiple, unlisted))),
    isListed: false,
  }
}

/** Charges each part at its own model's price, and the remainder at the price of `names`. */
function computeCostByModel(
  catalogue: Vendors,
  vendor: string,
  names: readonly string[],
  { byModel: _, ...usage }: Usage,
  parts: NonNullable<Usage['byModel']>,
  kind: Model['kind'],
  extras: Extras,
): Cost {
  const costs = parts.map((part) =>
    computeCost(catalogue, vendor, [part.model], part.usage, kind, extras),
  )
  const rest = { ...usage }
  for (const { usage: part } of parts) {
    rest.prompt -= part.prompt
    rest.completion -= part.completion
    rest.cached -= part.cached
    rest.cacheWrites -= part.cacheWrites
    rest.cacheWritesHour = Math.max(0, (rest.cacheWritesHour ?? 0) - (part.cacheWritesHour ?? 0))
  }
  costs.push(computeCost(catalogue, vendor, names, rest, kind, extras))
  return {
    usd: costs.reduce((sum, { usd }) => sum + usd, 0),
    isListed: costs.every(({ isListed }) => isListed),
  }
}

/** Returns the factor on the list price. A discount counts only where the vendor confirms it. */
function findMultiple(
  { vendors }: Vendors,
  vendor: string,
  names: readonly string[],
  { dialect, switches }: Extras,
  tier: string | undefined,
): number {
  const own = vendors[vendor]
  if (switches.length === 0 || own === undefined || own.dialect !== dialect) return 1
  const model = names.map((name) => findModel(own, name)).find((one) => one !== null)
  const rates = model?.quirks.rates ?? own.quirks.rates ?? {}
  let multiple = 1
  for (const name of switches) {
    const rate = Object.hasOwn(rates, name) ? (rates[name] ?? 1) : 1
    if (rate >= 1 || name === `service_tier:${tier}`) multiple *= rate
  }
  return multiple
}

/** The highest cost in billionths of a dollar: of the prompt, and per token of the answer. */
export type CostCeiling = { promptNanos: number; tokenNanos: number }

/**
 * Uses the most expensive of `routes`, since a fallback may answer. A prompt that may be long is
 * charged as long, and all of it as a cache write (`cachesForHour`: for an hour).
 */
export function computeCostCeiling(
  catalogue: Vendors,
  routes: readonly Route[],
  kind: Model['kind'],
  promptTokens: number,
  cachesForHour: boolean,
  extras: Extras = NO_EXTRAS,
  media: MediaNeeds = NO_MEDIA,
): CostCeiling {
  let mediaNanos = 0
  let input = 0
  let output = 0
  const { calls, usd } = extras.searches
  for (const route of routes) {
    const multiple = findMultiple(catalogue, route.vendor, [route.model], extras, undefined)
    for (const price of findPossiblePrices(catalogue, route, kind)) {
      input = Math.max(input, findHighestInput(price, cachesForHour) * multiple)
      output = Math.max(output, price.output * multiple)
      output = Math.max(output, findHighestOutput(price, media) * multiple)
      mediaNanos = Math.max(mediaNanos, computeMediaSurcharge(price, media) * multiple)
      const { long } = price
      if (long === undefined || promptTokens <= long.above) continue
      input = Math.max(input, findHighestInput(long, cachesForHour) * multiple)
      output = Math.max(output, long.output * multiple)
    }
  }
  return {
    promptNanos:
      Math.ceil(promptTokens * toNanosPerToken(input)) +
      Math.ceil(calls * usd * 1e9) +
      Math.ceil(mediaNanos),
    tokenNanos: toNanosPerToken(output),
  }
}

/** Models that generate images may do so without a request. */
function findHighestOutput(price: Price, { output }: MediaNeeds): number {
  const drawn = MEDIA.filter((medium) => medium !== 'audio' && price.media?.[medium] !== undefined)
  return Math.max(
    0,
    ...[...output, ...drawn].map((medium) => findMediaPrice(price, price, medium, 'output') ?? 0),
  )
}

/** Returns what a prompt's files cost beyond the same tokens of text, in nanodollars. */
function computeMediaSurcharge(price: Price, { input }: MediaNeeds): number {
  let nanos = 0
  for (const medium of MEDIA) {
    const tokens = input[medium] ?? 0
    if (tokens === 0) continue
    const freshTokens =
      medium === 'video' ? (findMediaPrice(price, price, 'audio', 'input') ?? 0) : 0
    const usd = Math.max(freshTokens, findMediaPrice(price, price, medium, 'input') ?? 0)
    nanos += tokens * toNanosPerToken(Math.max(0, usd - price.input))
  }
  return nanos
}

type Rate = Pick<Price, 'input' | 'output' | 'cached' | 'cacheWrite'>

function findHighestInput({ input, cached, cacheWrite = 0 }: Rate, cachesForHour: boolean): number {
  // A vendor without a price for cache writes has no extra price for an hour.
  return Math.max(
    input,
    cached,
    cacheWrite,
    cachesForHour && cacheWrite > 0 ? input * HOUR_WRITE : 0,
  )
}

/** Converts dollars per million tokens; rounds, since floats would make 0.07 larger. */
function toNanosPerToken(usdPerMillion: number): number {
  return Math.round(usdPerMillion * 1e9) / 1e6
}

/** Returns the route's own price; without one, all prices of which the highest will count. */
function findPossiblePrices(
  catalogue: Vendors,
  { vendor, model }: Route,
  kind: Model['kind'],
): readonly Price[] {
  const { vendors } = catalogue
  let known = priceLists.get(vendors)
  if (known === undefined) {
    known = new Map()
    priceLists.set(vendors, known)
  }
  const name = `${kind}:${vendor}/${model}`
  let prices = known.get(name)
  if (prices === undefined) {
    const own = findPrice(catalogue, vendor, [model])
    prices =
      own !== null
        ? [own]
        : vendor === LOCAL_VENDOR
          ? []
          : findSimilarPrices(catalogue, vendor, kind)
    // Callers choose the names, so the cache is bounded.
    if (known.size >= PRICE_LISTS_MAX) known.clear()
    known.set(name, prices)
  }
  return prices
}

const PRICE_LISTS_MAX = 1_000
/** Cached by the settings' vendors, because every call reads it. */
const priceLists = new WeakMap<Vendors['vendors'], Map<string, readonly Price[]>>()

/** Falls back to another vendor's price for a model that this vendor does not list (proxies). */
function findPrice({ vendors }: Vendors, vendor: string, names: readonly string[]): Price | null {
  const own = vendors[vendor]
  const price = own === undefined ? null : searchPrice([own], own, names)
  return price ?? searchPrice(Object.values(vendors), own, names)
}

function searchPrice(
  entries: readonly VendorEntry[],
  requestedVendor: VendorEntry | undefined,
  names: readonly string[],
): Price | null {
  for (const name of names) {
    for (const entry of entries) {
      const price =
        findModel(entry, name)?.price ?? findListedModel(requestedVendor, entry, name)?.price
      if (price) return price
    }
  }
  return null
}

/** Returns the price of a model without one: the vendor's highest, part by part. */
export function findHighestPrice(catalogue: Vendors, vendor: string, kind: Model['kind'] = 'chat') {
  const prices = findSimilarPrices(catalogue, vendor, kind)
  const findHighest = (part: 'input' | 'output' | 'cached') =>
    Math.max(0, ...prices.map((price) => price[part]))
  return {
    input: findHighest('input'),
    output: findHighest('output'),
    cached: findHighest('cached'),
  }
}

/** Returns the vendor's prices for models of this kind, or those of all vendors if it has none. */
function findSimilarPrices({ vendors }: Vendors, vendor: string, kind: Model['kind']): Price[] {
  const all = Object.values(vendors)
  const collectPrices = (entries: typeof all) =>
    entries.flatMap(({ models }) =>
      models.flatMap((model) => (model.kind === kind && model.price ? [model.price] : [])),
    )
  const own = all.filter(({ name }) => name === vendor)
  const priced = collectPrices(own)
  if (priced.length > 0) return priced
  const listed = own.flatMap(({ prices }) => prices?.prices(kind) ?? [])
  if (listed.length > 0) return listed
  const allPrices = collectPrices(all)
  // Price lists omit rerankers; embedding prices are the closest.
  return allPrices.length === 0 && kind === 'rerank'
    ? findSimilarPrices({ vendors }, vendor, 'embedding')
    : allPrices
}

/** Anthropic's price for a prefix that is cached for an hour, as a multiple of the input price. */
const HOUR_WRITE = 2

type UnlistedPrice = (medium: Medium, part: 'input' | 'output' | 'cached') => number

/**
 * Returns US dollars. `usage.cached` and `usage.cacheWrites` are parts of `usage.prompt`;
 * `usage.media` is part of those and of the completion.
 * `unlisted` returns the price of a medium that `price` omits.
 */
function costUsd(price: Price, usage: Usage, multiple: number, unlisted: UnlistedPrice): number {
  const rate = price.long !== undefined && usage.prompt > price.long.above ? price.long : price
  let fresh = Math.max(0, usage.prompt - usage.cached - usage.cacheWrites)
  let { cached, completion } = usage
  let dollars = 0
  for (const medium of MEDIA) {
    const tokens = usage.media?.[medium]
    if (tokens === undefined) continue
    const usd = (part: 'input' | 'output' | 'cached') =>
      findMediaPrice(price, rate, medium, part) ?? unlisted(medium, part)
    // Some vendors do not report cached sound. Sound beyond the fresh tokens must be cached.
    const cachedTokens = Math.min(
      Math.max(tokens.cached, tokens.input - fresh),
      tokens.input,
      cached,
    )
    const freshTokens = Math.min(tokens.input - cachedTokens, fresh)
    const outputTokens = Math.min(tokens.output, completion)
    dollars +=
      freshTokens * usd('input') + cachedTokens * usd('cached') + outputTokens * usd('output')
    fresh -= freshTokens
    cached -= cachedTokens
    completion -= outputTokens
  }
  const hour = Math.min(usage.cacheWritesHour ?? 0, usage.cacheWrites)
  dollars +=
    fresh * rate.input +
    cached * rate.cached +
    (usage.cacheWrites - hour) * (rate.cacheWrite ?? rate.input) +
    hour * rate.input * HOUR_WRITE +
    completion * rate.output
  const searches =
    (usage.webSearches ?? 0) * WEB_SEARCH.usd + (usage.fileSearches ?? 0) * FILE_SEARCH.usd
  return (dollars * multiple) / 1_000_000 + searches
}

function isAllListed(price: Price, { media }: Usage): boolean {
  if (media === undefined) return true
  return MEDIA.every((medium) => {
    const tokens = media[medium]
    if (tokens === undefined) return true
    return (['input', 'output'] as const).every(
      (part) => tokens[part] === 0 || findMediaPrice(price, price, medium, part) !== null,
    )
  })
}
