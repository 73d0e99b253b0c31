// Converts open price lists into ours: genai-prices' data.json, and models.dev's api.json. Prices
// with hours or steps become their highest, so that no call is undercharged; models without a price
// of tokens are dropped. The trap: both lists use different names for some vendors.
import { asObject } from '#platform/json.ts'
import { MEDIA, type MediaPrices } from './catalogue.ts'
import { DAY, type ListedPrice, type PriceListFile, WrongPriceList } from './price-list.ts'

type Json = Record<string, unknown>

/** The lists' names of vendors → ours. */
const VENDOR_NAMES: Record<string, string> = {
  google: 'gemini',
  'x-ai': 'xai',
  togetherai: 'together',
  'fireworks-ai': 'fireworks',
}

/** Prefixes of model names that the list omits. */
const MODEL_PREFIXES: Record<string, string> = { fireworks: 'accounts/fireworks/models/' }

/** `asOf`: the prices' date; `today` selects among announced ones. @throws WrongPriceList */
export function convertPriceList(value: unknown, asOf: string, today: string): PriceListFile {
  if (!DAY.test(asOf)) throw new WrongPriceList(`'${asOf}' is not a date like 2026-11-04`)
  if (Array.isArray(value))
    return buildFile('genai-prices', asOf, value.map(createGenaiReader(today)))
  const providers = Object.values(asObject(value) ?? {}).map(asObject)
  if (
    providers.length > 0 &&
    providers.every((one) => typeof one?.id === 'string' && asObject(one.models) !== null)
  ) {
    return buildFile(
      'models.dev',
      asOf,
      providers.map((one) => readModelsDev(one ?? {})),
    )
  }
  throw new WrongPriceList(
    "unknown price list: expected genai-prices' data.json or models.dev's api.json",
  )
}

function buildFile(
  source: string,
  asOf: string,
  vendors: [name: string, models: ListedPrice[]][],
): PriceListFile {
  const priced = vendors.filter(([, models]) => models.length > 0)
  if (priced.length === 0) throw new WrongPriceList('the list contains no price')
  return { as_of: asOf, source, vendors: Object.fromEntries(priced) }
}

const readName = (id: unknown) => VENDOR_NAMES[String(id)] ?? String(id)

type Rate = { input?: number; output?: number; cached?: number; cacheWrite?: number }
const PARTS = ['input', 'output', 'cached', 'cacheWrite'] as const

/** Null without a price of tokens, or at 0 for a model that is not named free. */
function buildListedPrice(
  id: string,
  rate: Rate,
  long: (Rate & { above: number }) | null,
  media: MediaPrices = {},
): ListedPrice | null {
  if (rate.input === undefined) return null
  const isFree = !PARTS.some((part) => (rate[part] ?? 0) > 0)
  if (isFree && !id.endsWith(':free')) return null
  const isEmbedding = /embed/i.test(id)
  if (rate.output === undefined && !isEmbedding) return null
  return {
    id,
    ...(isEmbedding ? { kind: 'embedding' as const } : {}),
    price: {
      ...toFileRate(rate, rate.input),
      ...(long === null
        ? {}
        : {
            long: {
              above: long.above,
              ...toFileRate(
                { ...long, output: long.output ?? rate.output },
                long.input ?? rate.input,
              ),
            },
          }),
      // Embedding models read only text.
      ...(isEmbedding ? {} : media),
    },
  }
}

function toFileRate({ output, cached, cacheWrite }: Rate, input: number) {
  return {
    input,
    ...(output === undefined ? {} : { output }),
    ...(cached === undefined ? {} : { cached }),
    ...(cacheWrite === undefined ? {} : { cache_write: cacheWrite }),
  }
}

/** Reads the parts that have a price. */
function readMedia(
  readPrice: (medium: string, part: 'input' | 'output' | 'cached') => number | undefined,
): MediaPrices {
  const found = MEDIA.flatMap((medium) => {
    const parts = (['input', 'output', 'cached'] as const).flatMap((part) => {
      const usd = readPrice(medium, part)
      return usd === undefined ? [] : [[part, usd]]
    })
    return parts.length === 0 ? [] : [[medium, Object.fromEntries(parts)]]
  })
  return Object.fromEntries(found)
}

function buildLimits(
  context: unknown,
  output: unknown,
): Pick<ListedPrice, 'context_tokens' | 'output_tokens_max'> {
  const isCount = (value: unknown): value is number =>
    Number.isSafeInteger(value) && Number(value) > 0
  return {
    ...(isCount(context) ? { context_tokens: context } : {}),
    ...(isCount(output) ? { output_tokens_max: output } : {}),
  }
}

function readDollars(value: unknown, at: string): number | undefined {
  if (value === undefined || value === null) return undefined
  const price = typeof value === 'string' ? Number(value) : value
  if (typeof price === 'number' && Number.isFinite(price) && price >= 0) return price
  throw new WrongPriceList(`${at} is not a price: ${JSON.stringify(value)}`)
}

// models.dev: {openai: {id, models: {'gpt-4o': {id, cost: {input, output, cache_read, cache_write,
// context_over_200k}, limit}}}}

function readModelsDev({ id, models }: Json): [string, ListedPrice[]] {
  const found = Object.entries(asObject(models) ?? {}).flatMap(([key, value]) => {
    const model = asObject(value)
    const cost = asObject(model?.cost)
    if (model === null || cost === null) return []
    const name = typeof model.id === 'string' ? model.id : key
    const at = `${String(id)}/${name}`
    const over = asObject(cost.context_over_200k)
    const long = over === null ? null : { above: 200_000, ...readModelsDevRate(over, at) }
    const media = readMedia((medium, part) => readDollars(cost[`${part}_${medium}`], at))
    const entry = buildListedPrice(name, readModelsDevRate(cost, at), long, media)
    const limit = asObject(model.limit)
    return entry === null ? [] : [{ ...entry, ...buildLimits(limit?.context, limit?.output) }]
  })
  return [readName(id), found]
}

const readModelsDevRate = (
  { input, output, cache_read: cached, cache_write: cacheWrite }: Json,
  at: string,
): Rate => ({
  input: readDollars(input, at),
  output: readDollars(output, at),
  cached: readDollars(cached, at),
  cacheWrite: readDollars(cacheWrite, at),
})

// genai-prices: [{id, models: [{id, match, context_window, prices: {input_mtok: 1 | {base, tiers:
// [{start, price}]}, …} or a list of {constraint, prices}}]}]

const createGenaiReader =
  (today: string) =>
  (value: unknown): [string, ListedPrice[]] => {
    const provider = asObject(value)
    if (typeof provider?.id !== 'string' || !Array.isArray(provider.models)) {
      throw new WrongPriceList(
        "unknown price list: expected genai-prices' providers, each with id and models",
      )
    }
    const named = new Set(provider.models.map((model) => asObject(model)?.id))
    const found = provider.models.flatMap((one) => {
      const model = asObject(one)
      if (typeof model?.id !== 'string') return []
      const at = `${provider.id}/${model.id}`
      const current = findCurrentPrices(model.prices, today)
      const { base, long } = findHighest(current.map((price) => readGenaiRate(price, at)))
      const media = readMedia((medium, part) =>
        findHighestPart(current, GENAI_MEDIA[part](medium), at),
      )
      const price = buildListedPrice(
        model.id,
        base,
        long,
        addAudioPrice(provider.id, model.id, media),
      )
      if (price === null) return []
      const prefix = MODEL_PREFIXES[readName(provider.id)]
      const names = [
        ...collectNames(model.match),
        ...(prefix === undefined ? [] : [prefix + model.id]),
      ]
      const also = [...new Set(names)].filter((name) => !named.has(name))
      return [
        {
          ...price,
          ...(also.length > 0 ? { also } : {}),
          ...buildLimits(model.context_window, null),
        },
      ]
    })
    return [readName(provider.id), found]
  }

/** Collects the names in a model's matching rule; a date is not part of a name. */
function collectNames(match: unknown): string[] {
  const rule = asObject(match)
  if (rule === null) return []
  if (Array.isArray(rule.or)) return rule.or.flatMap(collectNames)
  const name = rule.equals ?? rule.starts_with
  // A prefix that ends in a separator is not a name.
  return typeof name === 'string' && /[a-z0-9]$/i.test(name) && name.length > 2 ? [name] : []
}

/** Returns the latest price that has begun, or all prices by the hour. */
function findCurrentPrices(prices: unknown, today: string): Json[] {
  if (!Array.isArray(prices)) return [asObject(prices) ?? {}]
  let current: Json[] = []
  for (const item of prices) {
    const { constraint, prices: price } = asObject(item) ?? {}
    const from = asObject(constraint)?.start_date
    const rate = asObject(price) ?? {}
    if (typeof from === 'string' && from > today) continue
    if (constraint == null || typeof from === 'string') current = [rate]
    else current.push(rate)
  }
  return current
}

type Tiered = { base: Rate; long: (Rate & { above: number }) | null }

const GENAI_PARTS = [
  ['input', 'input_mtok'],
  ['output', 'output_mtok'],
  ['cached', 'cache_read_mtok'],
  ['cacheWrite', 'cache_write_mtok'],
] as const

const GENAI_MEDIA = {
  input: (medium: string) => `input_${medium}_mtok`,
  output: (medium: string) => `output_${medium}_mtok`,
  cached: (medium: string) => `cache_${medium}_read_mtok`,
}

function findHighestPart(prices: Json[], name: string, at: string): number | undefined {
  const found = prices.flatMap((price) => {
    const steps = asObject(price[name])
    return readDollars(steps === null ? price[name] : steps.base, `${at} ${name}`) ?? []
  })
  return found.length === 0 ? undefined : Math.max(...found)
}

/** Gemini's input price also applies to sound, unless the list has a separate price. */
function addAudioPrice(provider: unknown, model: string, media: MediaPrices): MediaPrices {
  const acceptsAudio = provider === 'google' && model.startsWith('gemini-') && !/embed/i.test(model)
  return acceptsAudio && media.audio === undefined ? { audio: 'as-text', ...media } : media
}

/** Returns the base price, and the highest price for prompts beyond the lowest step. */
function readGenaiRate(price: Json, at: string): Tiered {
  const base: Rate = {}
  const high: Rate = {}
  let above = Number.POSITIVE_INFINITY
  for (const [part, name] of GENAI_PARTS) {
    const value = price[name]
    const steps = asObject(value)
    base[part] = readDollars(steps === null ? value : steps.base, `${at} ${name}`)
    high[part] = base[part]
    const tiers = Array.isArray(steps?.tiers) ? steps.tiers.map(asObject) : []
    for (const tier of tiers) {
      above = Math.min(above, Number(tier?.start))
      high[part] = Math.max(high[part] ?? 0, readDollars(tier?.price, `${at} ${name}`) ?? 0)
    }
  }
  return { base, long: Number.isSafeInteger(above) && above > 0 ? { above, ...high } : null }
}

function findHighest(all: Tiered[]): Tiered {
  const sum = ({ base }: Tiered) => (base.input ?? 0) + (base.output ?? 0)
  return all.reduce(
    (most, one) => (sum(one) > sum(most) ? one : most),
    all[0] ?? { base: {}, long: null },
  )
}
