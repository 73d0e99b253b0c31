// The catalogue of model vendors. A vendor has a dialect, an address and the name of its key
// setting; a known model has a price, limits and quirks. Aliases and the models of plans and API
// keys follow. The entries are built-in.ts's, and those of the file named by MODELS
// (models-file.ts). The trap: two vendors may sell one name at two prices, so only vendor and name
// together identify a model.

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

/** US dollars per million tokens; absent: unknown. `as-text`: the prices of text. */
export type MediaPrice = { input?: number; output?: number; cached?: number } | 'as-text'
export type MediaPrices = { readonly [M in Medium]?: MediaPrice }

/** Support for sampling parameters: always, never, or only without reasoning. */
export type Temperature = 'taken' | 'refused' | 'without-reasoning'

export type OpenAiQuirks = {
  temperature: Temperature
  /** The vendor's name for the output limit. */
  lengthName: 'max_tokens' | 'max_completion_tokens'
  /** Members that only some servers know: sent all, only OpenAI's own, or none. */
  foreignMembers: 'taken' | 'openai' | 'refused'
  /** Ids of tool calls: Mistral accepts nine letters and digits. */
  toolIds: 'any' | 'nine-characters'
  /** Usage in streams on request (`stream_options`), which those that always report may reject. */
  streamUsage: 'on-request' | 'always'
  /** Members of a request that the model rejects; they are dropped. */
  refuses: readonly string[]
  /** Members that are sent although they are rejected by default. */
  passes: readonly string[]
  /** The treatment of unknown members, whose price is unknown. */
  unknownMembers: 'left-out' | 'taken' | 'refused'
  /** Members that are added to each request, unless the client sets them. */
  adds: Readonly<Record<string, unknown>>
  /** How earlier reasoning is sent back. DeepSeek requires `reasoning_content` beside tools. */
  earlierReasoning: 'as-given' | 'reasoning_content'
  /** The vendor reports the cost of calls (`usage.cost`, US dollars), for all its models. */
  reportsCost: boolean
  /** When to use /responses: for tools unless the effort is `none`, or for tools with an effort. */
  responses: 'never' | 'always' | 'for-tools' | 'for-tools-with-effort'
  /** The vendor has /responses for the model, so a client's own request passes through. */
  hasResponses: boolean
  rates: Rates
}

/** The factor of an option on all tokens' price, as `service_tier:flex`. Others are rejected. */
export type Rates = Readonly<Record<string, number>>

export type AnthropicQuirks = {
  temperature: Temperature
  /** Whether a request can force a tool. */
  forcedTools: 'taken' | 'refused'
  /** Whether the model reasons by default, only with an effort, or never. */
  thinking: 'by-default' | 'on-request' | 'none'
  /** The model rejects earlier reasoning after a changed history, unless it may be dropped. */
  checksReasoningPrefix: boolean
  /** The shortest prefix that is cached, in tokens; null: prefixes are never marked. */
  cacheTokensMin: number | null
  /** Members that are sent although they are rejected by default. */
  passes: readonly string[]
  rates: Rates
}

export type GeminiQuirks = {
  temperature: Temperature
  /** True when the model signs its reasoning and requires the signatures back. */
  signsReasoning: boolean
  /** True when the model returns its reasoning on request. */
  returnsReasoning: boolean
}

/** Abilities: inputs other than text, tools, and answers by a schema. */
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
   * Two cosines: of a question and an unrelated text, and the least of a question and a text that
   * answers it. They map to scores of 0 and 0.5, as in keyword search. If omitted, the score is the
   * cosine.
   */
  similarity?: { unrelated: number; answers: number }
  /** A member's values for queries and documents or, without `member`, prefixes of the text. */
  tasks?: { member?: string; query: string; document: string }
}

export type Model = {
  id: string
  kind: 'chat' | 'embedding' | 'rerank'
  /** Null: unknown. */
  contextTokens: number | null
  outputTokensMax: number | null
  /** Null: unknown; the vendor's highest price counts. */
  price: Price | null
  /** When the catalogue first listed it, in seconds since 1970. */
  createdSeconds: number
  quirks: Quirks
  embedding?: EmbeddingTraits
  /** Milliseconds until an attempt must begin its answer; absent: the vendor's. */
  timeoutMs?: number
}

/** A vendor's part of the price list. */
export type VendorPrices = {
  /** Finds a model by any of its names, with or without a date. */
  find(id: string): Model | null
  /** Returns the prices of all models of that kind. */
  prices(kind: Model['kind']): Price[]
}

/** One of several keys or addresses of a vendor; omitted fields are the vendor's. */
export type EndpointSetting = {
  /** Null: identified by its number. */
  name: string | null
  baseUrl: string | null
  /** The setting with its key, or with several keys separated by commas; null: no key needed. */
  keySetting: string | null
  /** Its share of the calls, relative to the others; 0: a spare, used when no other is healthy. */
  weight: number
}

export type VendorEntry = {
  name: string
  /** Other names of the vendor in requests. */
  otherNames: readonly string[]
  /** The display name. */
  label: string
  dialect: Dialect
  /** As in the dialects' SDKs: OpenAI's ends in /v1, the others' do not. */
  baseUrl: string
  /** The setting with its key; null: no key needed. */
  keySetting: string | null
  /** Several keys or addresses; empty: only the ones above. */
  endpointSettings: readonly EndpointSetting[]
  defaultModel: string
  /** Milliseconds until an attempt must begin its answer; null: the settings' limit. */
  timeoutMs: number | null
  /** Matches names of this vendor's models that are not listed. */
  modelNames: RegExp | null
  /** Quirks of all its models, including unlisted ones; a model's own quirks override them. */
  quirks: Quirks
  /** The limits of one embeddings request. */
  embeddings: { inputsMax: number; charactersMax: number }
  models: readonly Model[]
  /** The price list's entries for its other models; null: none. */
  prices: VendorPrices | null
}

/** A model at a vendor. */
export type Route = {
  vendor: string
  model: string
  /** The requested alias; `model` is its first, and any of its models may answer. */
  alias?: string
}

/** An alias's order: as listed, by weight, lowest price, or lowest recent latency. */
export const STRATEGIES = ['order', 'weight', 'price', 'latency'] as const
export type Strategy = (typeof STRATEGIES)[number]

/** A name for models: each call chooses one, and the others serve as fallbacks. */
export type Alias = {
  routes: readonly [Route, ...Route[]]
  by: Strategy
  /** In the order of `routes`; used only to choose by weight. */
  weights: readonly number[]
}

/** Models of one vendor, or of any. */
export type Allowance = { vendor: string | null; has(model: string): boolean }

export type Catalogue<Vendor extends VendorEntry = VendorEntry> = {
  /** By name, in listed order. */
  vendors: Readonly<Record<string, Vendor>>
  aliases: ReadonlyMap<string, Alias>
  /** By plan; a plan without an entry may use every model. */
  allow: ReadonlyMap<string, readonly Allowance[]>
}

/** The default limits of an embeddings request. */
export const EMBEDDINGS = { inputsMax: 100, charactersMax: 200_000 }

/** Names that no vendor may have: the slots, and the embedder of this machine. */
export const SLOT_NAMES: readonly string[] = ['llm_vendor_1', 'llm_vendor_2', 'llm_vendor_3']
export const RESERVED_NAMES: readonly string[] = [...SLOT_NAMES, 'local', 'auto']

/** @throws Error for an unknown name, which validation should have rejected */
export function getVendor<T>(all: Readonly<Record<string, T>>, name: string): T {
  const entry = Object.hasOwn(all, name) ? all[name] : undefined
  if (entry === undefined) throw new Error(`no vendor is called '${name}'`)
  return entry
}

/** Finds a vendor by any of its names; undefined if there is none. */
export function findVendor<Vendor extends VendorEntry>(
  { vendors }: Pick<Catalogue<Vendor>, 'vendors'>,
  name: string,
): Vendor | undefined {
  if (Object.hasOwn(vendors, name)) return vendors[name]
  return Object.values(vendors).find(({ otherNames }) => otherNames.includes(name))
}

/** Finds a model by its id, also with a date: `gpt-6-luna-2026-09-22`. */
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
    // The first of several equal names counts.
    byId = new Map(models.toReversed().map((model) => [model.id, model]))
    indexes.set(models, byId)
  }
  return byId
}

/** Cached by a vendor's list, because each call searches each vendor. */
const indexes = new WeakMap<readonly Model[], ReadonlyMap<string, Model>>()

/** Removes the date from a model's name. */
export function removeDate(id: string): string {
  // Checked first, because each call runs this per vendor: few names end in a digit or `latest`.
  const last = id.charCodeAt(id.length - 1)
  return (last >= 48 && last <= 57) || last === 116 ? id.replace(DATED, '') : id
}

const DATED = /-(\d{4}-\d{2}-\d{2}|\d{8}|latest)$/

/** Falls back to another vendor's entry: a proxy serves models that its vendor does not list. */
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

/** In another vendor's list. A vendor without a key is a local server, which is free. */
export function findListedModel(
  vendor: VendorEntry | undefined,
  otherVendor: VendorEntry,
  id: string,
): Model | null {
  return vendor !== undefined && vendor.keySetting === null && otherVendor !== vendor
    ? null
    : (otherVendor.prices?.find(id) ?? null)
}

/** Parses `vendor/model`, `vendor/` or `vendor`; null otherwise. Models may contain slashes. */
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
  /** A key's own list, in the format of `parseAllowances`; null: the plan's models. */
  models?: readonly string[] | null
}

/** Returns true when both plan and key allow the model. */
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

/** Matches a name with a date by its model's entry, too. */
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

/** Cached by the list, because every listed model and fallback is checked against a key's list. */
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

/** Parses `fast` (an alias's models), `groq/*`, or `gpt-*`, which fits all vendors. */
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

/** Without a regular expression: users write patterns, and some would run for hours. */
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
