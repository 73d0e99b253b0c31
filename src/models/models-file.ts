// Reads the JSON file named by MODELS and merges it with the built-in catalogue: vendors, models,
// prices, aliases and each plan's models. docs/models.json is a working example. The trap: nothing
// is ignored. An unknown field, a wrong value or an unknown name is rejected with its path, since a
// price or limit that silently does not apply costs money.

import { readFileSync, statSync } from 'node:fs'
import { asObject } from '#platform/json.ts'
import { listWords } from '#platform/words.ts'
import { BUILT_IN, PRICES_AS_OF } from './built-in.ts'
import {
  type Abilities,
  type Alias,
  type Allowance,
  type Catalogue,
  type Dialect,
  EMBEDDINGS,
  type EmbeddingTraits,
  type EndpointSetting,
  findModel,
  findVendor,
  isListed,
  MEDIA,
  type MediaPrices,
  type Model,
  type Price,
  parseAllowances,
  parseRoute,
  type Quirks,
  RESERVED_NAMES,
  type Route,
  STRATEGIES,
  type VendorEntry,
  type VendorPrices,
} from './catalogue.ts'
import type { PriceList } from './price-list.ts'

/** One line that names the wrong field. */
export class WrongModelsFile extends Error {}

type Json = Record<string, unknown>

/** Returns the value, or throws an error that names its path in the file. */
type Reader<T> = (value: unknown, at: string) => T

/** One object of the file, which may have `names` alone. Null counts as omitted. */
class Fields {
  readonly values: Json
  readonly at: string

  constructor(value: unknown, at: string, names: readonly string[]) {
    this.values = readObject(value, at, names)
    this.at = at
  }

  required<T>(name: string, read: Reader<T>): T {
    return read(this.values[name], `${this.at}.${name}`)
  }

  optional<T>(name: string, read: Reader<T>): T | undefined {
    return this.values[name] == null ? undefined : this.required(name, read)
  }

  /** May be omitted when something is known. */
  ownOr<T>(name: string, known: T | undefined, read: Reader<T>): T {
    const isOmitted = this.values[name] === undefined
    return isOmitted && known !== undefined ? known : this.required(name, read)
  }

  list<T>(name: string, read: Reader<T>): T[] {
    return readEach(this.values[name], `${this.at}.${name}`, read)
  }

  object(name: string, names: readonly string[]): Fields {
    return new Fields(this.values[name] ?? {}, `${this.at}.${name}`, names)
  }
}

function matching(pattern: RegExp, expected: string): Reader<string> {
  return (value, at) => {
    if (typeof value === 'string' && pattern.test(value)) return value
    throw createWrongValue(at, expected, value)
  }
}

function readChoice<const T extends string>(...choices: T[]): Reader<T> {
  return (value, at) => {
    const found = choices.find((choice) => choice === value)
    if (found !== undefined) return found
    throw createWrongValue(at, `one of ${choices.join(', ')}`, value)
  }
}

/** Names of models: printable ASCII. */
const MODEL_ID = /^[!-~]{1,200}$/
const VENDOR_NAME = /^[a-z][a-z0-9_-]{0,31}$/
const ALIAS_NAME = /^[A-Za-z0-9][\w.:-]{0,63}$/
const AN_ADDRESS = 'an address starting with http:// or https://'

const MODEL_NAME = matching(MODEL_ID, "a model's name")
const MODEL_PATTERN = matching(MODEL_ID, 'the name of a model, or a pattern')
const LOWER_CASE_NAME = matching(VENDOR_NAME, 'lower-case letters, digits, dashes')
const SETTING_NAME = matching(/^[A-Z][A-Z0-9_]*$/, "a setting's name, like GROQ_API_KEY")
const ADDRESS = matching(/\S/, AN_ADDRESS)
const MEMBER_NAME = matching(/^[a-z_]{1,64}(\.[a-z_]{1,64})?$/, 'the name of a member of a request')
const RATED_MEMBER = matching(
  /^(service_tier|speed|inference_geo|reasoning\.mode):\S{1,100}$/,
  'a member of a request and its value, like speed:fast',
)
const readDialect = readChoice('openai', 'anthropic', 'gemini')

/** Returns built-in vendors and the file's, with listed prices. @throws WrongModelsFile */
export function readVendors(
  path: string | null,
  prices: PriceList,
): { vendors: readonly VendorEntry[]; file: Json } {
  const builtIn = BUILT_IN.map((vendor) => findPrices(prices, vendor))
  if (path === null) return { vendors: builtIn, file: {} }
  const { json, createdSeconds } = readContents(path)
  const file = readObject(json, 'the file', ['vendors', 'aliases', 'allow'])
  const vendors = [...builtIn]
  const named = new Set<string>()
  for (const [index, value] of readList(file.vendors, 'vendors').entries()) {
    const at = `vendors[${index}]`
    const known = vendors.findIndex(({ name }) => name === asObject(value)?.name)
    const vendor = readVendor(value, at, vendors[known], prices, createdSeconds)
    if (named.has(vendor.name))
      throw new WrongModelsFile(`${at}.name is wrong: '${vendor.name}' is listed twice`)
    named.add(vendor.name)
    if (known === -1) vendors.push(vendor)
    else vendors[known] = vendor
  }
  return { vendors, file }
}

/** Reads aliases and plans' models. `vendors` have default models. @throws WrongModelsFile */
export function readNames(
  file: Json,
  vendors: Catalogue['vendors'],
  plans: readonly string[],
): Pick<Catalogue, 'aliases' | 'allow'> {
  const aliases = new Map<string, Alias>()
  for (const [name, target] of Object.entries(readAnyObject(file.aliases ?? {}, 'aliases'))) {
    const at = `aliases.${name}`
    if (!ALIAS_NAME.test(name))
      throw new WrongModelsFile(`${at} is wrong: an alias has letters, digits, dots and dashes`)
    if (
      RESERVED_NAMES.includes(name) ||
      findVendor({ vendors }, name) !== undefined ||
      isListed({ vendors }, name)
    ) {
      throw new WrongModelsFile(
        `${at} is wrong: '${name}' is the name of a vendor or a model already`,
      )
    }
    aliases.set(name, readAlias(target, at, vendors))
  }

  const allow = new Map<string, Allowance[]>()
  for (const [plan, entries] of Object.entries(readAnyObject(file.allow ?? {}, 'allow'))) {
    if (!plans.includes(plan))
      throw new WrongModelsFile(`allow.${plan} is wrong: expected one of ${plans.join(', ')}`)
    const patterns = readEach(entries, `allow.${plan}`, MODEL_PATTERN)
    const allowances = patterns.flatMap((one) => parseAllowances({ vendors, aliases }, one))
    allow.set(plan, allowances)
  }
  return { aliases, allow }
}

/** Parses `'groq/llama'`, or `{models: ['groq/llama', …], by: 'weight', weights: [3, …]}`. */
function readAlias(value: unknown, at: string, vendors: Catalogue['vendors']): Alias {
  const toRoute = (one: unknown, place: string) => readRoute(one, place, vendors)
  if (typeof value === 'string') return { routes: [toRoute(value, at)], by: 'order', weights: [1] }
  const fields = new Fields(value, at, ['models', 'by', 'weights'])
  const routes = fields.list('models', toRoute)
  const [first, ...others] = routes
  if (first === undefined)
    throw new WrongModelsFile(`${at}.models is wrong: expected one model or more`)
  for (const [index, { vendor, model }] of routes.entries()) {
    if (routes.findIndex((other) => other.vendor === vendor && other.model === model) < index)
      throw new WrongModelsFile(`${at}.models[${index}] is wrong: it is listed twice`)
    const entry = vendors[vendor]
    if (others.length > 0 && entry !== undefined && findModel(entry, model)?.kind === 'embedding')
      throw new WrongModelsFile(
        `${at}.models[${index}] is wrong: vectors of different models cannot be compared`,
      )
  }
  const by = fields.optional('by', readChoice(...STRATEGIES)) ?? 'order'
  const list = fields.optional('weights', readList)
  if (list !== undefined && (by !== 'weight' || list.length !== routes.length)) {
    throw new WrongModelsFile(
      `${at}.weights is wrong: expected one for each of its models, with "by": "weight"`,
    )
  }
  const weights = list ? fields.list('weights', readWeight) : routes.map(() => 1)
  if (weights.every((weight) => weight === 0)) {
    throw new WrongModelsFile(`${at}.weights is wrong: at least one must be above 0`)
  }
  return { routes: [first, ...others], by, weights }
}

function readRoute(value: unknown, at: string, vendors: Catalogue['vendors']): Route {
  const to = matching(MODEL_ID, "'vendor/model'")(value, at)
  const route = to.includes('/') ? parseRoute({ vendors }, to) : null
  if (route === null)
    throw createWrongValue(at, `'vendor/model' of ${Object.keys(vendors).join(', ')}`, value)
  return route
}

function readContents(path: string): { json: unknown; createdSeconds: number } {
  try {
    return {
      json: JSON.parse(readFileSync(path, 'utf8')),
      createdSeconds: Math.floor(statSync(path).mtimeMs / 1_000),
    }
  } catch (error) {
    throw new WrongModelsFile(
      error instanceof SyntaxError
        ? `the file is not valid JSON: ${error.message}`
        : `cannot be read: ${(error as Error).message}`,
    )
  }
}

const VENDOR_FIELDS = listWords(`
  name label dialect base_url api_key_env endpoints default_model quirks embeddings models
  price_list timeout_ms
`)

/** Prices from a vendor's own pages count until a newer list replaces them. */
function findPrices(list: PriceList, vendor: VendorEntry): VendorEntry {
  const prices = list.getPrices(vendor.name)
  if (list.asOf < PRICES_AS_OF) return { ...vendor, prices }
  const models = vendor.models.map((model) => ({
    ...model,
    price: prices.find(model.id)?.price ?? model.price,
  }))
  return { ...vendor, prices, models }
}

/** Reads a new vendor, or extends a `known` one: adds models to its models, by name. */
function readVendor(
  value: unknown,
  at: string,
  known: VendorEntry | undefined,
  list: PriceList,
  createdSeconds: number,
): VendorEntry {
  const fields = new Fields(value, at, VENDOR_FIELDS)
  const name = fields.required('name', LOWER_CASE_NAME)
  if (
    known === undefined &&
    (RESERVED_NAMES.includes(name) || BUILT_IN.some((one) => one.otherNames.includes(name)))
  ) {
    throw createWrongValue(`${at}.name`, 'an unused name', name)
  }
  const dialect = fields.ownOr('dialect', known?.dialect, readDialect)
  if (known !== undefined && known.dialect !== dialect) {
    throw createWrongValue(`${at}.dialect`, `'${known.dialect}', the dialect of ${name}`, dialect)
  }
  const named = fields.optional('price_list', (one, place) => readPrices(one, place, list))
  const prices = named ?? known?.prices ?? list.getPrices(name)
  const models = fields.list('models', (one, place) => {
    const model = readModel(one, place, dialect, known?.models ?? [])
    const listed = prices?.find(model.own.id) ?? null
    // With a named part of the list, its prices take precedence.
    return completeModel(
      model,
      named === undefined ? [model.known, listed] : [listed, model.known],
      createdSeconds,
    )
  })
  const repeated = models.findIndex(
    ({ id }, index) => models.findIndex((other) => other.id === id) < index,
  )
  if (repeated !== -1)
    throw new WrongModelsFile(`${at}.models[${repeated}].id is wrong: it is listed twice`)
  const all = [
    ...models,
    ...(known?.models ?? []).filter(({ id }) => models.every((model) => model.id !== id)),
  ]
  const defaultModel =
    fields.optional('default_model', MODEL_NAME) ??
    known?.defaultModel ??
    all.find(({ kind }) => kind === 'chat')?.id ??
    all[0]?.id
  if (defaultModel === undefined)
    throw new WrongModelsFile(`${at}.models is wrong: expected one model or more`)
  const keySetting = fields.optional('api_key_env', SETTING_NAME) ?? known?.keySetting ?? null

  return {
    name,
    otherNames: known?.otherNames ?? [],
    label: fields.optional('label', matching(/\S/, 'a name')) ?? known?.label ?? name,
    dialect,
    baseUrl: fields.ownOr('base_url', known?.baseUrl, readAddress),
    keySetting,
    endpointSettings: readEndpoints(fields, keySetting),
    defaultModel,
    timeoutMs: fields.optional('timeout_ms', readWholeNumber) ?? known?.timeoutMs ?? null,
    modelNames: known?.modelNames ?? null,
    quirks: { ...known?.quirks, ...readQuirks(fields, dialect) },
    embeddings: readEmbeddings(fields, known?.embeddings ?? EMBEDDINGS),
    models: all,
    prices,
  }
}

/** Reads the vendor's name in the price list, if it differs. */
function readPrices(value: unknown, at: string, list: PriceList): VendorPrices | null {
  const name = matching(MODEL_ID, "a vendor's name in the price list")(value, at)
  const { vendors } = list.file()
  if (!Object.hasOwn(vendors, name))
    throw createWrongValue(at, `one of ${Object.keys(vendors).join(', ')}`, value)
  return list.getPrices(name)
}

function readEndpoints(vendor: Fields, usualKey: string | null): EndpointSetting[] {
  const at = `${vendor.at}.endpoints`
  const found = vendor.list('endpoints', (one, place) => {
    const fields = new Fields(one, place, ['name', 'base_url', 'api_key_env', 'weight'])
    return {
      name: fields.optional('name', matching(VENDOR_NAME, 'lower-case letters')) ?? null,
      baseUrl: fields.optional('base_url', readAddress) ?? null,
      keySetting: fields.optional('api_key_env', SETTING_NAME) ?? usualKey,
      weight: fields.optional('weight', readWeight) ?? 1,
    }
  })
  const repeated = found.findIndex(
    ({ name }, index) => found.findIndex((other) => other.name === name) < index,
  )
  if (repeated !== -1 && found[repeated]?.name !== null) {
    throw new WrongModelsFile(`${at}[${repeated}].name is wrong: it is listed twice`)
  }
  if (found.length > 0 && found.every(({ weight }) => weight === 0)) {
    throw new WrongModelsFile(`${at} is wrong: at least one needs a weight above 0`)
  }
  return found
}

function readWeight(value: unknown, at: string): number {
  if (typeof value === 'number' && value >= 0 && value <= 1_000_000) return value
  throw createWrongValue(at, 'a number from 0 to 1,000,000', value)
}

function readAddress(value: unknown, at: string): string {
  const address = ADDRESS(value, at)
  if (!/^https?:$/.test(URL.parse(address)?.protocol ?? '')) {
    throw createWrongValue(at, AN_ADDRESS, value)
  }
  return address.replace(/\/+$/, '')
}

function readEmbeddings(
  vendor: Fields,
  usual: VendorEntry['embeddings'],
): VendorEntry['embeddings'] {
  const fields = vendor.object('embeddings', ['inputs_max', 'characters_max'])
  return {
    inputsMax: fields.optional('inputs_max', readWholeNumber) ?? usual.inputsMax,
    charactersMax: fields.optional('characters_max', readWholeNumber) ?? usual.charactersMax,
  }
}

const MODEL_FIELDS = listWords(
  'id kind context_tokens output_tokens_max price quirks similarity tasks timeout_ms',
)

type OwnFields = Pick<Model, 'id' | 'quirks' | 'embedding'> & {
  kind: Model['kind'] | undefined
  contextTokens: number | undefined
  outputTokensMax: number | undefined
  price: Price | undefined
  timeoutMs: number | undefined
}

/** Returns the model's own fields, and the vendor's known model of that name and kind. */
function readModel(
  value: unknown,
  at: string,
  dialect: Dialect,
  models: readonly Model[],
): { own: OwnFields; known: Model | null } {
  const fields = new Fields(value, at, MODEL_FIELDS)
  const id = fields.required('id', MODEL_NAME)
  const kind = fields.optional('kind', readChoice('chat', 'embedding', 'rerank'))
  const known =
    models.find((model) => model.id === id && model.kind === (kind ?? model.kind)) ?? null
  const isChat = (kind ?? known?.kind ?? 'chat') === 'chat'
  const similarity = fields.optional('similarity', readSimilarity)
  const tasks = fields.optional('tasks', readTasks)
  const own = {
    id,
    kind,
    contextTokens: fields.optional('context_tokens', readWholeNumber),
    outputTokensMax: fields.optional('output_tokens_max', readWholeNumber),
    price: fields.optional('price', (price, place) => readPrice(price, place, isChat)),
    timeoutMs: fields.optional('timeout_ms', readWholeNumber),
    quirks: readQuirks(fields, dialect),
    embedding: { ...(similarity && { similarity }), ...(tasks && { tasks }) },
  }
  return { own, known }
}

/** Fills omitted fields from the first model, then from the second. */
function completeModel(
  { own, known }: { own: OwnFields; known: Model | null },
  [first, second]: [first: Model | null, second: Model | null],
  createdSeconds: number,
): Model {
  const timeoutMs = own.timeoutMs ?? known?.timeoutMs
  return {
    id: own.id,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    kind: own.kind ?? known?.kind ?? 'chat',
    contextTokens: own.contextTokens ?? first?.contextTokens ?? second?.contextTokens ?? null,
    outputTokensMax:
      own.outputTokensMax ?? first?.outputTokensMax ?? second?.outputTokensMax ?? null,
    price: own.price ?? first?.price ?? second?.price ?? null,
    createdSeconds: known?.createdSeconds ?? createdSeconds,
    quirks: { ...known?.quirks, ...own.quirks },
    embedding: { ...known?.embedding, ...own.embedding },
  }
}

function readSimilarity(value: unknown, at: string): NonNullable<EmbeddingTraits['similarity']> {
  const { unrelated, answers } = readObject(value, at, ['unrelated', 'answers'])
  const areCosines = [unrelated, answers].every(
    (one) => typeof one === 'number' && one > -1 && one < 1,
  )
  if (!areCosines || Number(unrelated) >= Number(answers)) {
    throw createWrongValue(at, 'two cosines, such as {"unrelated": 0.1, "answers": 0.3}', value)
  }
  return { unrelated: Number(unrelated), answers: Number(answers) }
}

function readTasks(value: unknown, at: string): NonNullable<EmbeddingTraits['tasks']> {
  const fields = new Fields(value, at, ['member', 'query', 'document'])
  const member = fields.optional('member', matching(/^[A-Za-z_]{1,64}$/, 'the name of a member'))
  const readTask = matching(/^[^\p{Cc}]{0,200}$/u, 'a text')
  return {
    ...(member !== undefined && { member }),
    query: fields.required('query', readTask),
    document: fields.required('document', readTask),
  }
}

const RATE_FIELDS = ['input', 'output', 'cached', 'cache_write']

function readPrice(value: unknown, at: string, isChat: boolean): Price {
  const fields = new Fields(value, at, [...RATE_FIELDS, 'long', ...MEDIA])
  const long = fields.optional('long', (one, place) => {
    const rate = new Fields(one, place, ['above', ...RATE_FIELDS])
    return { above: rate.required('above', readWholeNumber), ...readRate(rate, isChat) }
  })
  const media = readMedia(fields)
  return {
    ...readRate(fields, isChat),
    ...(long !== undefined && { long }),
    ...(media !== undefined && { media }),
  }
}

function readMedia(fields: Fields): MediaPrices | undefined {
  const found = MEDIA.flatMap((medium) => {
    const price = fields.optional(medium, (value, at) => {
      if (value === 'as-text') return value
      const parts = readObject(value, at, ['input', 'output', 'cached'])
      return Object.fromEntries(
        Object.entries(parts).map(([part, usd]) => [part, readDollars(usd, `${at}.${part}`)]),
      )
    })
    return price === undefined ? [] : [[medium, price]]
  })
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

function readRate(fields: Fields, isChat: boolean) {
  const input = fields.required('input', readDollars)
  // Embeddings have no output price unless the file names one.
  const output = isChat
    ? fields.required('output', readDollars)
    : fields.optional('output', readDollars)
  const writesToCache = fields.values.cache_write !== undefined
  return {
    input,
    output: output ?? 0,
    cached: fields.optional('cached', readDollars) ?? input,
    ...(writesToCache && { cacheWrite: fields.required('cache_write', readDollars) }),
  }
}

function readDollars(value: unknown, at: string): number {
  if (typeof value === 'number' && value >= 0 && value <= 100_000) return value
  throw createWrongValue(at, 'US dollars per million tokens', value)
}

type QuirkReader = [name: keyof Quirks, read: Reader<unknown>]

const OF_ALL_DIALECTS: Record<'temperature' | keyof Abilities, QuirkReader> = {
  temperature: ['temperature', readChoice('taken', 'refused', 'without-reasoning')],
  vision: ['vision', readFlag],
  pdf: ['pdf', readFlag],
  audio: ['audio', readFlag],
  tools: ['tools', readFlag],
  json_schema: ['json_schema', readFlag],
}
/** By their names in the file. */
const QUIRKS: Record<Dialect, Record<string, QuirkReader>> = {
  openai: {
    ...OF_ALL_DIALECTS,
    length_name: ['lengthName', readChoice('max_tokens', 'max_completion_tokens')],
    foreign_members: ['foreignMembers', readChoice('taken', 'openai', 'refused')],
    tool_ids: ['toolIds', readChoice('any', 'nine-characters')],
    refuses: ['refuses', readMemberNames],
    passes: ['passes', readMemberNames],
    unknown_members: ['unknownMembers', readChoice('left-out', 'taken', 'refused')],
    adds: ['adds', readMembers],
    earlier_reasoning: ['earlierReasoning', readChoice('as-given', 'reasoning_content')],
    reports_cost: ['reportsCost', readFlag],
    stream_usage: ['streamUsage', readChoice('on-request', 'always')],
    responses: ['responses', readChoice('never', 'always', 'for-tools', 'for-tools-with-effort')],
    has_responses: ['hasResponses', readFlag],
    rates: ['rates', readRates],
  },
  anthropic: {
    ...OF_ALL_DIALECTS,
    forced_tools: ['forcedTools', readChoice('taken', 'refused')],
    thinking: ['thinking', readChoice('by-default', 'on-request', 'none')],
    checks_reasoning_prefix: ['checksReasoningPrefix', readFlag],
    cache_tokens_min: [
      'cacheTokensMin',
      (value, at) => (value === null ? null : readWholeNumber(value, at)),
    ],
    passes: ['passes', readMemberNames],
    rates: ['rates', readRates],
  },
  gemini: {
    ...OF_ALL_DIALECTS,
    signs_reasoning: ['signsReasoning', readFlag],
    returns_reasoning: ['returnsReasoning', readFlag],
  },
}

/** Members that define the request; dropping them would change its meaning. */
const RESERVED_MEMBERS = ['model', 'messages', 'stream', 'tools', 'tool_choice', 'n']

function readMemberNames(value: unknown, at: string): string[] {
  return readEach(value, at, (one, place) => {
    const name = MEMBER_NAME(one, place)
    if (RESERVED_MEMBERS.includes(name))
      throw createWrongValue(place, 'a member that may be omitted', name)
    return name
  })
}

function readMembers(value: unknown, at: string): Json {
  const found = readAnyObject(value, at)
  const reserved = Object.keys(found).find((name) => RESERVED_MEMBERS.includes(name))
  if (reserved !== undefined)
    throw createWrongValue(
      `${at}.${reserved}`,
      'a member that the gateway does not set',
      found[reserved],
    )
  return found
}

function readRates(value: unknown, at: string): Record<string, number> {
  const found = readAnyObject(value, at)
  for (const [name, rate] of Object.entries(found)) {
    const place = `${at}.${name}`
    RATED_MEMBER(name, place)
    if (typeof rate !== 'number' || rate <= 0 || rate > 100)
      throw createWrongValue(place, 'a number above 0, and at most 100', rate)
  }
  return found as Record<string, number>
}

function readQuirks(owner: Fields, dialect: Dialect): Quirks {
  const readers = QUIRKS[dialect]
  const fields = owner.object('quirks', Object.keys(readers))
  return Object.fromEntries(
    Object.keys(fields.values).map((field) => {
      const [name, read] = readers[field] as QuirkReader
      return [name, fields.required(field, read)]
    }),
  )
}

function readObject(value: unknown, at: string, fields: readonly string[]): Json {
  const found = readAnyObject(value, at)
  const unknown = Object.keys(found).find((field) => !fields.includes(field))
  if (unknown === undefined) return found
  throw new WrongModelsFile(
    `${at === 'the file' ? '' : `${at}.`}${unknown} is unknown: expected ${fields.join(', ')}`,
  )
}

function readAnyObject(value: unknown, at: string): Json {
  const found = asObject(value)
  if (found === null) throw createWrongValue(at, 'an object', value)
  return found
}

function readList(value: unknown, at: string): unknown[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value
  throw createWrongValue(at, 'a list', value)
}

function readEach<T>(value: unknown, at: string, read: Reader<T>): T[] {
  return readList(value, at).map((one, index) => read(one, `${at}[${index}]`))
}

function readWholeNumber(value: unknown, at: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
  throw createWrongValue(at, 'a whole number above 0', value)
}

function readFlag(value: unknown, at: string): boolean {
  if (typeof value === 'boolean') return value
  throw createWrongValue(at, 'true or false', value)
}

function createWrongValue(at: string, expected: string, value: unknown): WrongModelsFile {
  return new WrongModelsFile(
    `${at} is wrong: expected ${expected}, got ${(JSON.stringify(value) ?? 'nothing').slice(0, 80)}`,
  )
}
