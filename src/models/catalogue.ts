// The catalogue of model vendors: for each its dialect, address and key setting, and of each known model price, limits and
// quirks; beside them aliases, and what plans and API keys may ask for. The built-in entries are in built-in.ts, an operator's own in
// the file that MODELS names (models-file.ts).
// The trap: a model is known by its vendor and its name together, since two vendors may sell one name at two prices.

/** The wire formats that the gateway speaks. */
export type Dialect = 'openai' | 'anthropic' | 'gemini'

/** US dollars per million tokens. */
export type Price = {
  input: number
  output: number
  /** Input read from the vendor's cache. */
  cached: number
  /** Input written to the vendor's cache, where that costs more; else `input`. */
  cacheWrite?: number
  /** The price of the whole request when its prompt exceeds `above` tokens. */
  long?: { above: number; input: number; output: number; cached: number; cacheWrite?: number }
  /** Prices of sound, images and video, where they differ from text. */
  media?: MediaPrices
}

export const MEDIA = ['audio', 'image', 'video'] as const
export type Medium = (typeof MEDIA)[number]

/** US dollars per million tokens; a part that is absent has no known price. `as-text`: as input and output of text. */
export type MediaPrice = { input?: number; output?: number; cached?: number } | 'as-text'
export type MediaPrices = { readonly [M in Medium]?: MediaPrice }

/** How a model takes sampling parameters: always, never, or only where it does not think. */
export type Temperature = 'taken' | 'refused' | 'without-reasoning'

export type OpenAiQuirks = {
  temperature: Temperature
  /** Its name for the output limit. */
  lengthName: 'max_tokens' | 'max_completion_tokens'
  /**
   * Members of a request that not all servers know: passed over or even needed; refused, but for OpenAI's own; or refused,
   * OpenAI's own among them.
   */
  foreignMembers: 'taken' | 'openai' | 'refused'
  /** Ids of tool calls: Mistral takes nine letters and digits. */
  toolIds: 'any' | 'nine-characters'
  /**
   * Whether a stream reports usage on request (`stream_options`) or always; in the second case the
   * vendor may reject the option.
   */
  streamUsage: 'asked' | 'always'
  /** Members of a request that it refuses: they are left out. */
  refuses: readonly string[]
  /** Members that are refused here unless they stand in this list. */
  passes: readonly string[]
  /** The treatment of unknown members, whose price is unknown. */
  unknownMembers: 'left-out' | 'taken' | 'refused'
  /** Members that each request gets, unless its client says something of them itself. */
  adds: Readonly<Record<string, unknown>>
  /**
   * How the thoughts that came with an answer go back: as the client has them (see `foreignMembers`), or in
   * `reasoning_content`, without which DeepSeek refuses a conversation with tools.
   */
  thoughts: 'as-given' | 'reasoning_content'
  /** Whether it says itself what a call cost, in US dollars (`usage.cost`). Read of all a vendor's models. */
  tellsCost: boolean
  /** When to use /responses: for tools unless the effort is `none`, or for tools with an effort. */
  responses: 'never' | 'always' | 'for-tools' | 'for-tools-with-effort'
  /** Whether its vendor has /responses for it, so that a client's own request for a response passes through. */
  speaksResponses: boolean
  rates: Rates
}

/**
 * What a request may switch on at another price, as `service_tier:flex`, and what that multiplies the list price of all tokens
 * by. What is not here is refused.
 */
export type Rates = Readonly<Record<string, number>>

export type AnthropicQuirks = {
  temperature: Temperature
  /** Whether a tool can be forced on it. */
  forcedTools: 'taken' | 'refused'
  /** Thinks unless it is told not to, when an effort is named, or not by its own choice. */
  thinking: 'unasked' | 'asked' | 'none'
  /**
   * Rejects reasoning behind a changed prefix, unless the request allows it to drop the reasoning.
   */
  bindsThoughts: boolean
  /** Tokens below which no prefix is kept; null where no prefix is marked. */
  cacheTokensMin: number | null
  /** Members that are refused here unless they stand in this list. */
  passes: readonly string[]
  rates: Rates
}

export type GeminiQuirks = {
  temperature: Temperature
  /** Signs its thoughts and wants the signatures back. */
  signsThoughts: boolean
  /** Returns its reasoning on request. */
  thinksAloud: boolean
}

/** Abilities: inputs beside text, tools, and answers by a schema. */
export type Abilities = {
  vision: boolean
  pdf: boolean
  audio: boolean
  tools: boolean
  json_schema: boolean
}

/** The known quirks of a model; the family's rules for its name supply the rest. */
export type Quirks = Partial<OpenAiQuirks & AnthropicQuirks & GeminiQuirks & Abilities>

/** How to call an embedding model, and how to read its cosines. */
export type EmbeddingTraits = {
  /**
   * The cosine of a question with a text that has nothing to do with it, and the one from which on a text answers it: they show as scores of 0 and
   * 0.5, as they do where words are compared. Left out: the score is the cosine.
   */
  similarity?: { unrelated: number; answers: number }
  /** What tells it a question from a text to be found: values of a member of the request, or, without one, what is put before the text. */
  tasks?: { member?: string; query: string; document: string }
}

export type Model = {
  id: string
  kind: 'chat' | 'embedding' | 'rerank'
  /** Null: not known. */
  contextTokens: number | null
  outputTokensMax: number | null
  /** Null: not known; it counts as the vendor's dearest. */
  price: Price | null
  /** Since when the catalogue has it, in seconds since 1970. */
  createdSeconds: number
  quirks: Quirks
  embedding?: EmbeddingTraits
  /** Milliseconds in which an attempt has to begin its answer; absent: as its vendor has it. */
  timeoutMs?: number
}

/** A vendor's part of the price list. */
export type VendorPrices = {
  /** By any of a model's names, with or without a date behind it. */
  find(id: string): Model | null
  /** Of all its models of that kind. */
  prices(kind: Model['kind']): Price[]
}

/** One of several keys or addresses of a vendor; what it does not say is the vendor's. */
export type EndpointSetting = {
  /** Null: it is known by its number. */
  name: string | null
  baseUrl: string | null
  /** The setting that holds its key, or several with commas between; null: it needs none. */
  keySetting: string | null
  /** Its share of the calls, beside those of the others; 0: a spare, asked when no other is well. */
  weight: number
}

export type VendorEntry = {
  name: string
  /** Further names of the vendor in requests. */
  otherNames: readonly string[]
  /** Its name for people. */
  label: string
  dialect: Dialect
  /** As the dialects' SDKs have it: OpenAI's ends in /v1, the others' do not. */
  baseUrl: string
  /** The setting that holds its key; null: it needs none. */
  keySetting: string | null
  /** Where it has several keys or addresses; empty: the one above. */
  endpointSettings: readonly EndpointSetting[]
  defaultModel: string
  /** Milliseconds in which an attempt has to begin its answer; null: as the settings have it. */
  timeoutMs: number | null
  /** Names of models that are this vendor's though they are not listed. */
  modelNames: RegExp | null
  /** Quirks of all its models, also of those that are not listed; a model's own come before them. */
  quirks: Quirks
  /** The limits of one embeddings request. */
  embeddings: { inputsMax: number; charactersMax: number }
  models: readonly Model[]
  /** The price list's entries for its other models; null: none. */
  prices: VendorPrices | null
}

/** Who is asked for what. */
export type Route = {
  vendor: string
  model: string
  /** By which alias of several models it was named: `model` is the first of them, and any may answer. */
  alias?: string
}

/**
 * The strategy of an alias: listed order, weight, lowest price for the request, or lowest recent
 * latency.
 */
export const STRATEGIES = ['order', 'weight', 'price', 'latency'] as const
export type Strategy = (typeof STRATEGIES)[number]

/** A name for a model, or for several of which one is chosen for each call; the others stand in for it. */
export type Alias = {
  routes: readonly [Route, ...Route[]]
  by: Strategy
  /** By `routes`; of use where one is chosen by weight. */
  weights: readonly number[]
}

/** Models of one vendor, or of any. */
export type Allowance = { vendor: string | null; has(model: string): boolean }

export type Catalogue<Vendor extends VendorEntry = VendorEntry> = {
  /** By name, in the order in which they are listed. */
  vendors: Readonly<Record<string, Vendor>>
  aliases: ReadonlyMap<string, Alias>
  /** By plan; a plan that is not here may ask for every model. */
  allow: ReadonlyMap<string, readonly Allowance[]>
}

/** The default limits of an embeddings request. */
export const EMBEDDINGS = { inputsMax: 100, charactersMax: 200_000 }

/** Names that are not a vendor's: the slots, and the embedder of this machine. */
export const SLOT_NAMES: readonly string[] = ['llm_vendor_1', 'llm_vendor_2', 'llm_vendor_3']
export const RESERVED_NAMES: readonly string[] = [...SLOT_NAMES, 'local', 'auto']

/**
 * Returns a vendor's entry. @throws Error for an unknown name, which validation should have
 * rejected
 */
export function getVendor<T>(all: Readonly<Record<string, T>>, name: string): T {
  const entry = Object.hasOwn(all, name) ? all[name] : undefined
  if (entry === undefined) throw new Error(`no vendor is called '${name}'`)
  return entry
}

/** A vendor by its name or another name of its; undefined where there is none. */
export function findVendor<Vendor extends VendorEntry>(
  { vendors }: Pick<Catalogue<Vendor>, 'vendors'>,
  name: string,
): Vendor | undefined {
  if (Object.hasOwn(vendors, name)) return vendors[name]
  return Object.values(vendors).find(({ otherNames }) => otherNames.includes(name))
}

/** Finds a model by its id, with or without a date behind it: `gpt-6-luna-2026-09-22`, `claude-haiku-4-5-20251001`. */
export function findModel({ models }: Pick<VendorEntry, 'models'>, id: string): Model | null {
  const byId = buildIndex(models)
  const exact = byId.get(id)
  if (exact !== undefined) return exact
  const plain = removeDate(id)
  return plain === id ? null : (byId.get(plain) ?? null)
}

function buildIndex(models: readonly Model[]): ReadonlyMap<string, Model> {
  let byId = indexes.get(models)
  if (byId === undefined) {
    // Of several with one name the first counts.
    byId = new Map(models.toReversed().map((model) => [model.id, model]))
    indexes.set(models, byId)
  }
  return byId
}

/** By a vendor's list: each call asks, of each vendor. */
const indexes = new WeakMap<readonly Model[], ReadonlyMap<string, Model>>()

/** A model's name without the date behind it. */
export function removeDate(id: string): string {
  // Each call asks for each vendor: most names end in neither a digit nor `latest`.
  const last = id.charCodeAt(id.length - 1)
  return (last >= 48 && last <= 57) || last === 116 ? id.replace(DATED, '') : id
}

const DATED = /-(\d{4}-\d{2}-\d{2}|\d{8}|latest)$/

/**
 * What is known of a model at a vendor: the vendor's own entry, else another's. Behind a proxy's address stand models that
 * the vendor of that address does not list.
 */
export function findKnownModel(
  { vendors }: Pick<Catalogue, 'vendors'>,
  vendor: string,
  id: string,
): Model | null {
  const entry = getVendor(vendors, vendor)
  const own = findModel(entry, id) ?? entry.prices?.find(id) ?? null
  if (own !== null) return own
  for (const otherVendor of Object.values(vendors)) {
    const model = findModel(otherVendor, id) ?? findListedModel(entry, otherVendor, id)
    if (model !== null) return model
  }
  return null
}

/** What another vendor's prices say of a model. A vendor that needs no key is a machine of one's own, and sells nothing. */
export function findListedModel(
  vendor: VendorEntry | undefined,
  otherVendor: VendorEntry,
  id: string,
): Model | null {
  return vendor !== undefined && vendor.keySetting === null && otherVendor !== vendor
    ? null
    : (otherVendor.prices?.find(id) ?? null)
}

/**
 * `vendor/model`, `vendor/` (its default), or `vendor`; null where it begins with no vendor's name. A model's name may hold
 * slashes of its own.
 */
export function parseRoute(catalogue: Pick<Catalogue, 'vendors'>, name: string): Route | null {
  const [prefix = '', ...rest] = name.split('/')
  const vendor = findVendor(catalogue, prefix)
  return vendor === undefined
    ? null
    : { vendor: vendor.name, model: rest.join('/') || vendor.defaultModel }
}

/** Returns the only model of an alias, or its first model with the alias's name. */
export function findAliasRoute(
  { aliases }: Pick<Catalogue, 'aliases'>,
  name: string,
): Route | null {
  const alias = aliases.get(name)
  if (alias === undefined) return null
  return alias.routes.length === 1 ? alias.routes[0] : { ...alias.routes[0], alias: name }
}

/** Returns all models of a route's alias, as listed, or the route itself. */
export function expandRoute(
  { aliases }: Pick<Catalogue, 'aliases'>,
  route: Route,
): readonly Route[] {
  return (route.alias === undefined ? undefined : aliases.get(route.alias)?.routes) ?? [route]
}

/** The plan of a user, and the model list of their API key, if any. */
export type ModelAccess = {
  tier: string
  /** A key's own list, in the words of `allowancesFor`; null: what the plan has. */
  models?: readonly string[] | null
}

/** Whether plan and key have the model. */
export function isAllowed(
  catalogue: Catalogue,
  { tier, models }: ModelAccess,
  route: Route,
): boolean {
  return isInPlan(catalogue, tier, route) && isInKeyList(catalogue, models, route)
}

export function isInPlan(catalogue: Catalogue, tier: string, route: Route): boolean {
  const list = catalogue.allow.get(tier)
  return list === undefined || isCovered(catalogue, list, route)
}

export function isInKeyList(
  catalogue: Catalogue,
  models: ModelAccess['models'],
  route: Route,
): boolean {
  return models == null || isCovered(catalogue, readAllowances(catalogue, models), route)
}

/** A dated name is its model's. */
function isCovered(
  { vendors }: Catalogue,
  list: readonly Allowance[],
  { vendor, model }: Route,
): boolean {
  const entry = vendors[vendor]
  const names = [model, (entry && findModel(entry, model)?.id) ?? model]
  return list.some((one) => covers(one, vendor, names))
}

export function covers(
  { vendor: only, has }: Allowance,
  vendor: string,
  names: readonly string[],
): boolean {
  return (only === null || only === vendor) && names.some(has)
}

/** Remembered by the list: a key's is asked for each model that is listed or may stand in. */
const readLists = new WeakMap<
  readonly string[],
  { catalogue: unknown; list: readonly Allowance[] }
>()

export function readAllowances(
  catalogue: Pick<Catalogue, 'vendors' | 'aliases'>,
  entries: readonly string[],
): readonly Allowance[] {
  const read = readLists.get(entries)
  if (read?.catalogue === catalogue) return read.list
  const list = entries.flatMap((entry) => parseAllowances(catalogue, entry))
  readLists.set(entries, { catalogue, list })
  return list
}

/** `fast` (an alias: each of its models), `groq/*`, `gpt-*`: without a vendor's name a pattern is for the models of all. */
export function parseAllowances(
  { vendors, aliases }: Pick<Catalogue, 'vendors' | 'aliases'>,
  entry: string,
): readonly Allowance[] {
  const alias = aliases.get(entry)
  if (alias === undefined) return [parseAllowance({ vendors }, entry)]
  return alias.routes.map(({ vendor, model }) => ({ vendor, has: (name) => name === model }))
}

function parseAllowance({ vendors }: Pick<Catalogue, 'vendors'>, entry: string): Allowance {
  const slash = entry.indexOf('/')
  const vendor = slash > 0 ? findVendor({ vendors }, entry.slice(0, slash)) : undefined
  const isOthers =
    isListed({ vendors }, entry) && (vendor && findModel(vendor, entry.slice(slash + 1))) == null
  return vendor === undefined || isOthers
    ? { vendor: null, has: createMatcher(entry) }
    : { vendor: vendor.name, has: createMatcher(entry.slice(slash + 1)) }
}

/** `gpt-*`. No regular expression: patterns are users' own, and some would take hours over one name. */
function createMatcher(glob: string): (name: string) => boolean {
  const [first = '', ...rest] = glob.split(/\*+/)
  const last = rest.pop()
  if (last === undefined) return (name) => name === first
  return (name) => {
    const end = name.length - last.length
    let at = first.length
    if (at > end || !name.startsWith(first) || !name.endsWith(last)) return false
    for (const part of rest) {
      const found = name.indexOf(part, at)
      if (found === -1 || found + part.length > end) return false
      at = found + part.length
    }
    return true
  }
}

export function isListed({ vendors }: Pick<Catalogue, 'vendors'>, id: string): boolean {
  return Object.values(vendors).some(({ models }) => models.some((model) => model.id === id))
}
