// Reads the JSON file named by MODELS and merges it with the built-in catalogue: vendors, models,
// prices, aliases and each plan's models. docs/models.json is a working example.
// The trap: nothing is ignored. An unknown field, a wrong value or an unknown name is rejected with
// its path (`vendors[0].models[2].price.input`), since a price or limit that silently does not
// apply costs money.
import { readFileSync, statSync } from 'node:fs'
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

/** Names of models: printable ASCII. */
const MODEL_ID = /^[!-~]{1,200}$/
const VENDOR_NAME = /^[a-z][a-z0-9_-]{0,31}$/
const ALIAS_NAME = /^[A-Za-z0-9][\w.:-]{0,63}$/

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
  for (const [name, target] of Object.entries(readOptionalObject(file.aliases, 'aliases'))) {
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
  for (const [plan, entries] of Object.entries(readOptionalObject(file.allow, 'allow'))) {
    if (!plans.includes(plan))
      throw new WrongModelsFile(`allow.${plan} is wrong: expected one of ${plans.join(', ')}`)
    const allowances = readList(entries, `allow.${plan}`).flatMap((entry, index) =>
      parseAllowances(
        { vendors, aliases },
        readText(entry, `allow.${plan}[${index}]`, MODEL_ID, 'the name of a model, or a pattern'),
      ),
    )
    allow.set(plan, allowances)
  }
  return { aliases, allow }
}

/** Parses `'groq/llama'`, or `{models: ['groq/llama', …], by: 'weight', weights: [3, …]}`. */
function readAlias(value: unknown, at: string, vendors: Catalogue['vendors']): Alias {
  const isSingle = typeof value === 'string'
  const fields = isSingle ? {} : readObject(value, at, ['models', 'by', 'weights'])
  const names = isSingle ? [value] : readList(fields.models, `${at}.models`)
  const routes = names.map((one, index) =>
    readRoute(one, isSingle ? at : `${at}.models[${index}]`, vendors),
  )
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
  const by =
    readOptional(fields.by, (strategy) => readChoice(strategy, `${at}.by`, STRATEGIES)) ?? 'order'
  const weights = readOptional(fields.weights, (all) => readList(all, `${at}.weights`))
  if (weights !== undefined && (by !== 'weight' || weights.length !== routes.length)) {
    throw new WrongModelsFile(
      `${at}.weights is wrong: expected one for each of its models, with "by": "weight"`,
    )
  }
  const shares = routes.map((_, index) =>
    weights ? readWeight(weights[index], `${at}.weights[${index}]`) : 1,
  )
  if (shares.every((share) => share === 0)) {
    throw new WrongModelsFile(`${at}.weights is wrong: at least one must be above 0`)
  }
  return { routes: [first, ...others], by, weights: shares }
}

function readRoute(value: unknown, at: string, vendors: Catalogue['vendors']): Route {
  const to = readText(value, at, MODEL_ID, "'vendor/model'")
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

const VENDOR_FIELDS = [
  'name',
  'label',
  'dialect',
  'base_url',
  'api_key_env',
  'endpoints',
  'default_model',
  'quirks',
  'embeddings',
  'models',
  'price_list',
  'timeout_ms',
]

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
  const fields = readObject(value, at, VENDOR_FIELDS)
  const name = readText(
    fields.name,
    `${at}.name`,
    VENDOR_NAME,
    'lower-case letters, digits, dashes',
  )
  if (
    known === undefined &&
    (RESERVED_NAMES.includes(name) || BUILT_IN.some((one) => one.otherNames.includes(name)))
  ) {
    throw createWrongValue(`${at}.name`, 'an unused name', name)
  }
  const dialect =
    fields.dialect === undefined && known
      ? known.dialect
      : readDialect(fields.dialect, `${at}.dialect`)
  if (known !== undefined && known.dialect !== dialect) {
    throw createWrongValue(`${at}.dialect`, `'${known.dialect}', the dialect of ${name}`, dialect)
  }
  const prices =
    readPrices(fields.price_list, `${at}.price_list`, list) ?? known?.prices ?? list.getPrices(name)
  const models = readList(fields.models, `${at}.models`).map((one, index) => {
    const model = readModel(one, `${at}.models[${index}]`, dialect, known?.models ?? [])
    const listed = prices?.find(model.own.id) ?? null
    // With a named part of the list, its prices take precedence.
    return completeModel(
      model,
      fields.price_list == null ? [model.known, listed] : [listed, model.known],
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
    readOptional(fields.default_model, (id) =>
      readText(id, `${at}.default_model`, MODEL_ID, "a model's name"),
    ) ??
    known?.defaultModel ??
    all.find(({ kind }) => kind === 'chat')?.id ??
    all[0]?.id
  if (defaultModel === undefined)
    throw new WrongModelsFile(`${at}.models is wrong: expected one model or more`)

  return {
    name,
    otherNames: known?.otherNames ?? [],
    label:
      readOptional(fields.label, (label) => readText(label, `${at}.label`, /\S/, 'a name')) ??
      known?.label ??
      name,
    dialect,
    baseUrl:
      fields.base_url === undefined && known
        ? known.baseUrl
        : readAddress(fields.base_url, `${at}.base_url`),
    keySetting:
      readKeySetting(fields.api_key_env, `${at}.api_key_env`) ?? known?.keySetting ?? null,
    endpointSettings: readEndpoints(fields, at, known),
    defaultModel,
    timeoutMs:
      readOptional(fields.timeout_ms, (ms) => readWholeNumber(ms, `${at}.timeout_ms`)) ??
      known?.timeoutMs ??
      null,
    modelNames: known?.modelNames ?? null,
    quirks: { ...known?.quirks, ...readQuirks(fields.quirks, `${at}.quirks`, dialect) },
    embeddings: readEmbeddings(
      fields.embeddings,
      `${at}.embeddings`,
      known?.embeddings ?? EMBEDDINGS,
    ),
    models: all,
    prices,
  }
}

/** Reads the vendor's name in the price list, if it differs. */
function readPrices(value: unknown, at: string, list: PriceList): VendorPrices | null {
  if (value === undefined || value === null) return null
  const name = readText(value, at, MODEL_ID, "a vendor's name in the price list")
  const { vendors } = list.file()
  if (!Object.hasOwn(vendors, name))
    throw createWrongValue(at, `one of ${Object.keys(vendors).join(', ')}`, value)
  return list.getPrices(name)
}

const readKeySetting = (value: unknown, at: string) =>
  readOptional(value, (name) =>
    readText(name, at, /^[A-Z][A-Z0-9_]*$/, "a setting's name, like GROQ_API_KEY"),
  )

function readEndpoints(
  { endpoints, api_key_env: usual }: Json,
  at: string,
  known?: VendorEntry,
): EndpointSetting[] {
  const found = readList(endpoints, `${at}.endpoints`).map((one, index) => {
    const place = `${at}.endpoints[${index}]`
    const fields = readObject(one, place, ['name', 'base_url', 'api_key_env', 'weight'])
    return {
      name:
        readOptional(fields.name, (name) =>
          readText(name, `${place}.name`, VENDOR_NAME, 'lower-case letters'),
        ) ?? null,
      baseUrl:
        readOptional(fields.base_url, (address) => readAddress(address, `${place}.base_url`)) ??
        null,
      keySetting:
        readKeySetting(fields.api_key_env, `${place}.api_key_env`) ??
        readKeySetting(usual, `${at}.api_key_env`) ??
        known?.keySetting ??
        null,
      weight: readOptional(fields.weight, (weight) => readWeight(weight, `${place}.weight`)) ?? 1,
    }
  })
  const repeated = found.findIndex(
    ({ name }, index) => found.findIndex((other) => other.name === name) < index,
  )
  if (repeated !== -1 && found[repeated]?.name !== null) {
    throw new WrongModelsFile(`${at}.endpoints[${repeated}].name is wrong: it is listed twice`)
  }
  if (found.length > 0 && found.every(({ weight }) => weight === 0)) {
    throw new WrongModelsFile(`${at}.endpoints is wrong: at least one needs a weight above 0`)
  }
  return found
}

function readWeight(value: unknown, at: string): number {
  if (typeof value === 'number' && value >= 0 && value <= 1_000_000) return value
  throw createWrongValue(at, 'a number from 0 to 1,000,000', value)
}

function readDialect(value: unknown, at: string): Dialect {
  return readChoice(value, at, ['openai', 'anthropic', 'gemini'])
}

function readAddress(value: unknown, at: string): string {
  const address = readText(value, at, /\S/, 'an address starting with http:// or https://')
  if (!/^https?:$/.test(URL.parse(address)?.protocol ?? '')) {
    throw createWrongValue(at, 'an address starting with http:// or https://', value)
  }
  return address.replace(/\/+$/, '')
}

function readEmbeddings(
  value: unknown,
  at: string,
  usual: VendorEntry['embeddings'],
): VendorEntry['embeddings'] {
  const fields = readObject(value ?? {}, at, ['inputs_max', 'characters_max'])
  return {
    inputsMax:
      readOptional(fields.inputs_max, (n) => readWholeNumber(n, `${at}.inputs_max`)) ??
      usual.inputsMax,
    charactersMax:
      readOptional(fields.characters_max, (n) => readWholeNumber(n, `${at}.characters_max`)) ??
      usual.charactersMax,
  }
}

const MODEL_FIELDS = [
  'id',
  'kind',
  'context_tokens',
  'output_tokens_max',
  'price',
  'quirks',
  'similarity',
  'tasks',
  'timeout_ms',
]

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
  const fields = readObject(value, at, MODEL_FIELDS)
  const id = readText(fields.id, `${at}.id`, MODEL_ID, "a model's name")
  const kind = readOptional(fields.kind, (kind) =>
    readChoice(kind, `${at}.kind`, ['chat', 'embedding', 'rerank']),
  )
  const known =
    models.find((model) => model.id === id && model.kind === (kind ?? model.kind)) ?? null
  const isChat = (kind ?? known?.kind ?? 'chat') === 'chat'
  const similarity = readOptional(fields.similarity, (one) =>
    readSimilarity(one, `${at}.similarity`),
  )
  const tasks = readOptional(fields.tasks, (one) => readTasks(one, `${at}.tasks`))
  const own = {
    id,
    kind,
    contextTokens: readOptional(fields.context_tokens, (n) =>
      readWholeNumber(n, `${at}.context_tokens`),
    ),
    outputTokensMax: readOptional(fields.output_tokens_max, (n) =>
      readWholeNumber(n, `${at}.output_tokens_max`),
    ),
    price: readOptional(fields.price, (price) => readPrice(price, `${at}.price`, isChat)),
    timeoutMs: readOptional(fields.timeout_ms, (ms) => readWholeNumber(ms, `${at}.timeout_ms`)),
    quirks: readQuirks(fields.quirks, `${at}.quirks`, dialect),
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
  const fields = readObject(value, at, ['member', 'query', 'document'])
  const member = readOptional(fields.member, (one) =>
    readText(one, `${at}.member`, /^[A-Za-z_]{1,64}$/, 'the name of a member'),
  )
  const readTask = (one: unknown, name: string) =>
    readText(one, `${at}.${name}`, /^[^\p{Cc}]{0,200}$/u, 'a text')
  const tasks = {
    query: readTask(fields.query, 'query'),
    document: readTask(fields.document, 'document'),
  }
  return member === undefined ? tasks : { member, ...tasks }
}

const RATE_FIELDS = ['input', 'output', 'cached', 'cache_write']

function readPrice(value: unknown, at: string, isChat: boolean): Price {
  const fields = readObject(value, at, [...RATE_FIELDS, 'long', ...MEDIA])
  const long = readOptional(fields.long, (one) => {
    const rate = readObject(one, `${at}.long`, ['above', ...RATE_FIELDS])
    return {
      above: readWholeNumber(rate.above, `${at}.long.above`),
      ...readRate(rate, `${at}.long`, isChat),
    }
  })
  const media = readMedia(fields, at)
  return {
    ...readRate(fields, at, isChat),
    ...(long === undefined ? {} : { long }),
    ...(media === undefined ? {} : { media }),
  }
}

function readMedia(fields: Json, at: string): MediaPrices | undefined {
  const found = MEDIA.flatMap((medium) => {
    if (fields[medium] == null) return []
    if (fields[medium] === 'as-text') return [[medium, 'as-text']]
    const parts = readObject(fields[medium], `${at}.${medium}`, ['input', 'output', 'cached'])
    const priced = Object.entries(parts).map(([part, usd]) => [
      part,
      readDollars(usd, `${at}.${medium}.${part}`),
    ])
    return [[medium, Object.fromEntries(priced)]]
  })
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

function readRate(
  { input, output, cached, cache_write: write }: Json,
  at: string,
  isChat: boolean,
) {
  const dollars = readDollars(input, `${at}.input`)
  return {
    input: dollars,
    // Embeddings have no output price unless the file names one.
    output: output == null && !isChat ? 0 : readDollars(output, `${at}.output`),
    cached: readOptional(cached, (n) => readDollars(n, `${at}.cached`)) ?? dollars,
    ...(write === undefined ? {} : { cacheWrite: readDollars(write, `${at}.cache_write`) }),
  }
}

function readDollars(value: unknown, at: string): number {
  if (typeof value === 'number' && value >= 0 && value <= 100_000) return value
  throw createWrongValue(at, 'US dollars per million tokens', value)
}

type QuirkReader = [name: keyof Quirks, read: (value: unknown, at: string) => unknown]

const TEMPERATURE: QuirkReader = [
  'temperature',
  (value, at) => readChoice(value, at, ['taken', 'refused', 'without-reasoning']),
]
const ABILITIES: Record<keyof Abilities, QuirkReader> = {
  vision: ['vision', readFlag],
  pdf: ['pdf', readFlag],
  audio: ['audio', readFlag],
  tools: ['tools', readFlag],
  json_schema: ['json_schema', readFlag],
}
const RATES: QuirkReader = ['rates', readRates]
/** By their names in the file. */
const QUIRKS: Record<Dialect, Record<string, QuirkReader>> = {
  openai: {
    temperature: TEMPERATURE,
    ...ABILITIES,
    length_name: [
      'lengthName',
      (value, at) => readChoice(value, at, ['max_tokens', 'max_completion_tokens']),
    ],
    foreign_members: [
      'foreignMembers',
      (value, at) => readChoice(value, at, ['taken', 'openai', 'refused']),
    ],
    tool_ids: ['toolIds', (value, at) => readChoice(value, at, ['any', 'nine-characters'])],
    refuses: ['refuses', readMemberNames],
    passes: ['passes', readMemberNames],
    unknown_members: [
      'unknownMembers',
      (value, at) => readChoice(value, at, ['left-out', 'taken', 'refused']),
    ],
    adds: ['adds', readMembers],
    earlier_reasoning: [
      'earlierReasoning',
      (value, at) => readChoice(value, at, ['as-given', 'reasoning_content']),
    ],
    reports_cost: ['reportsCost', readFlag],
    stream_usage: ['streamUsage', (value, at) => readChoice(value, at, ['on-request', 'always'])],
    responses: [
      'responses',
      (value, at) =>
        readChoice(value, at, ['never', 'always', 'for-tools', 'for-tools-with-effort']),
    ],
    has_responses: ['hasResponses', readFlag],
    rates: RATES,
  },
  anthropic: {
    temperature: TEMPERATURE,
    ...ABILITIES,
    forced_tools: ['forcedTools', (value, at) => readChoice(value, at, ['taken', 'refused'])],
    thinking: [
      'thinking',
      (value, at) => readChoice(value, at, ['by-default', 'on-request', 'none']),
    ],
    checks_reasoning_prefix: ['checksReasoningPrefix', readFlag],
    cache_tokens_min: [
      'cacheTokensMin',
      (value, at) => (value === null ? null : readWholeNumber(value, at)),
    ],
    passes: ['passes', readMemberNames],
    rates: RATES,
  },
  gemini: {
    temperature: TEMPERATURE,
    ...ABILITIES,
    signs_reasoning: ['signsReasoning', readFlag],
    returns_reasoning: ['returnsReasoning', readFlag],
  },
}

/** Members that define the request; dropping them would change its meaning. */
const RESERVED_MEMBERS = ['model', 'messages', 'stream', 'tools', 'tool_choice', 'n']

function readMemberNames(value: unknown, at: string): string[] {
  return readList(value, at).map((one, index) => {
    const name = readText(
      one,
      `${at}[${index}]`,
      /^[a-z_]{1,64}(\.[a-z_]{1,64})?$/,
      'the name of a member of a request',
    )
    if (RESERVED_MEMBERS.includes(name))
      throw createWrongValue(`${at}[${index}]`, 'a member that may be omitted', name)
    return name
  })
}

function readMembers(value: unknown, at: string): Json {
  const found = asObject(value)
  if (found === null) throw createWrongValue(at, 'an object', value)
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
  const found = asObject(value)
  if (found === null) throw createWrongValue(at, 'an object', value)
  for (const [name, rate] of Object.entries(found)) {
    const place = `${at}.${name}`
    readText(
      name,
      place,
      /^(service_tier|speed|inference_geo|reasoning\.mode):\S{1,100}$/,
      'a member of a request and its value, like speed:fast',
    )
    if (typeof rate !== 'number' || rate <= 0 || rate > 100)
      throw createWrongValue(place, 'a number above 0, and at most 100', rate)
  }
  return found as Record<string, number>
}

function readQuirks(value: unknown, at: string, dialect: Dialect): Quirks {
  const readers = QUIRKS[dialect]
  return Object.fromEntries(
    Object.entries(readObject(value ?? {}, at, Object.keys(readers))).map(([field, quirk]) => {
      const [name, read] = readers[field] as QuirkReader
      return [name, read(quirk, `${at}.${field}`)]
    }),
  )
}

function readOptional<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : read(value)
}

function readObject(value: unknown, at: string, fields: readonly string[]): Json {
  const found = asObject(value)
  if (found === null) throw createWrongValue(at, 'an object', value)
  const unknown = Object.keys(found).find((field) => !fields.includes(field))
  if (unknown === undefined) return found
  throw new WrongModelsFile(
    `${at === 'the file' ? '' : `${at}.`}${unknown} is unknown: expected ${fields.join(', ')}`,
  )
}

function readOptionalObject(value: unknown, at: string): Json {
  const found = asObject(value ?? {})
  if (found === null) throw createWrongValue(at, 'an object', value)
  return found
}

function asObject(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Json)
    : null
}

function readList(value: unknown, at: string): unknown[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value
  throw createWrongValue(at, 'a list', value)
}

function readText(value: unknown, at: string, pattern: RegExp, expected: string): string {
  if (typeof value === 'string' && pattern.test(value)) return value
  throw createWrongValue(at, expected, value)
}

function readChoice<const T extends string>(value: unknown, at: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value)
  if (found !== undefined) return found
  throw createWrongValue(at, `one of ${choices.join(', ')}`, value)
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
