// Prices and limits of over a thousand models by vendor, with a date. A newer list that the
// operator installs (`npm run cli -- prices update FILE`) replaces the shipped one (prices.json),
// and the MODELS file overrides both. It only prices models that are named, and adds none to the
// lists.

import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '#platform/json.ts'
import { MEDIA, type MediaPrices, type Model, removeDate, type VendorPrices } from './catalogue.ts'

/** In the format of the file: the fields of a MODELS file, and other names of the same model. */
export type ListedPrice = {
  id: string
  also?: string[]
  kind?: 'embedding'
  context_tokens?: number
  output_tokens_max?: number
  price: {
    input: number
    output?: number
    cached?: number
    cache_write?: number
    long?: { above: number; input: number; output?: number; cached?: number; cache_write?: number }
  } & MediaPrices
}

export type PriceListFile = {
  /** The date of its prices: `2026-11-04`. */
  as_of: string
  source: string
  vendors: Record<string, ListedPrice[]>
}

export type PriceList = {
  asOf: string
  /** The file that was read; null: the shipped list. */
  path: string | null
  /** Returns an empty part for a vendor without entries. */
  getPrices(vendor: string): VendorPrices
  /** A function, so that the shipped list is read only when a price is needed. */
  file(): PriceListFile
}

/** Describes an unusable list in one line. */
export class WrongPriceList extends Error {}

const SHIPPED = join(import.meta.dirname, 'prices.json')

/** Possible paths of the operator's own list: the configured one, or the data directory's. */
export type PriceFiles = { named: string | null; usual: string }

/** The list at `named`, else the newer of the shipped and `usual`. @throws WrongPriceList */
export function readPriceList({ named, usual }: PriceFiles): PriceList {
  if (named !== null) return openOwnList(readOptionalFile(named), named)
  const shipped = openShippedList()
  const text = readOptionalFile(usual)
  const own = text === null ? null : openOwnList(text, usual)
  return own !== null && own.asOf >= shipped.asOf ? own : shipped
}

export function openShippedList(): PriceList {
  return createList(
    readShippedDate(),
    null,
    () => parsePriceJson(readFileSync(SHIPPED, 'utf8'), SHIPPED) as PriceListFile,
  )
}

function openOwnList(text: string | null, path: string): PriceList {
  if (text === null) throw new WrongPriceList(`${path} does not exist`)
  const file = checkPriceList(parsePriceJson(text, path), path)
  return createList(file.as_of, path, () => file)
}

/** Reads only the date, which comes first: the whole file would take five milliseconds. */
function readShippedDate(): string {
  const file = openSync(SHIPPED, 'r')
  try {
    const head = Buffer.alloc(40)
    readSync(file, head)
    const day = /^\{"as_of": "([\d-]{10})"/.exec(head.toString('latin1'))?.[1]
    if (day === undefined) throw new WrongPriceList(`${SHIPPED} does not begin with its date`)
    return day
  } finally {
    closeSync(file)
  }
}

function createList(asOf: string, path: string | null, read: () => PriceListFile): PriceList {
  let whole: PriceListFile | null = null
  const file = () => {
    whole ??= read()
    return whole
  }
  const opened = new Map<string, VendorPrices>()
  return {
    asOf,
    path,
    file,
    getPrices(vendor) {
      const prices =
        opened.get(vendor) ??
        createVendorPrices(() => {
          const { vendors } = file()
          return Object.hasOwn(vendors, vendor) ? (vendors[vendor] ?? []) : []
        }, Date.parse(asOf) / 1_000)
      opened.set(vendor, prices)
      return prices
    },
  }
}

function createVendorPrices(
  listed: () => readonly ListedPrice[],
  createdSeconds: number,
): VendorPrices {
  let byId: Map<string, Model> | null = null
  const models = () => {
    if (byId !== null) return byId
    byId = new Map()
    for (const entry of listed()) {
      const model = readModel(entry, createdSeconds)
      for (const id of [entry.id, ...(entry.also ?? [])]) if (!byId.has(id)) byId.set(id, model)
    }
    return byId
  }
  return {
    find: (id) => models().get(id) ?? models().get(removeDate(id)) ?? null,
    prices: (kind) =>
      [...models().values()].flatMap((model) =>
        model.kind === kind && model.price ? [model.price] : [],
      ),
  }
}

function readModel(listed: ListedPrice, createdSeconds: number): Model {
  const { long } = listed.price
  return {
    id: listed.id,
    kind: listed.kind ?? 'chat',
    contextTokens: listed.context_tokens ?? null,
    outputTokensMax: listed.output_tokens_max ?? null,
    price: {
      ...readRate(listed.price),
      ...(long === undefined ? {} : { long: { above: long.above, ...readRate(long) } }),
      ...readMedia(listed.price),
    },
    createdSeconds,
    quirks: {},
  }
}

export function readRate({
  input,
  output = 0,
  cached = input,
  cache_write: cacheWrite,
}: ListedPrice['price']) {
  return { input, output, cached, ...(cacheWrite === undefined ? {} : { cacheWrite }) }
}

function readMedia(price: ListedPrice['price']): { media?: MediaPrices } {
  const { audio, image, video } = price
  if (audio === undefined && image === undefined && video === undefined) return {}
  return { media: { ...(audio && { audio }), ...(image && { image }), ...(video && { video }) } }
}

/** Checks an operator's whole file. */
export function checkPriceList(value: unknown, path: string): PriceListFile {
  const wrong = (words: string) => new WrongPriceList(`${path} is not a price list: ${words}`)
  if (!isObject(value) || !isObject(value.vendors)) {
    throw wrong(
      "expected {as_of, source, vendors}; 'npm run cli -- prices update FILE' creates one",
    )
  }
  const { as_of, source, vendors } = value
  if (typeof as_of !== 'string' || !DAY.test(as_of))
    throw wrong('as_of is not a date like 2026-11-04')
  for (const [vendor, models] of Object.entries(vendors)) {
    if (!Array.isArray(models)) throw wrong(`vendors.${vendor} is not a list`)
    for (const model of models) {
      if (typeof model?.id !== 'string' || model.id === '')
        throw wrong(`vendors.${vendor} has a model without an id`)
      const fault = findFault(model)
      if (fault !== null) throw wrong(`vendors.${vendor} ${model.id} ${fault}`)
    }
  }
  return { as_of, source: String(source ?? path), vendors: vendors as PriceListFile['vendors'] }
}

/** Returns the fault of a named model that would break a call or be ignored silently. */
function findFault({
  also,
  kind,
  context_tokens,
  output_tokens_max,
  price,
}: Record<string, unknown>): string | null {
  if (
    also !== undefined &&
    !(Array.isArray(also) && also.every((name) => typeof name === 'string'))
  ) {
    return 'has wrong other names (also): expected a list of texts'
  }
  if (kind !== undefined && kind !== 'embedding')
    return 'has a wrong kind: expected embedding, or none'
  for (const [name, limit] of Object.entries({ context_tokens, output_tokens_max })) {
    if (limit !== undefined && !isCount(limit))
      return `has a wrong ${name}: expected a whole number from 1`
  }
  if (!isObject(price)) return 'has no price'
  const { long, audio, image, video, ...rate } = price
  const isChat = kind === undefined
  const fault = findRateFault(rate, 'price', isChat) ?? findMediaFault({ audio, image, video })
  if (fault !== null || long === undefined) return fault
  if (!isObject(long)) return 'has a wrong price.long: expected {above, input, output, …}'
  const { above, ...longRate } = long
  return isCount(above)
    ? findRateFault(longRate, 'price.long', isChat)
    : 'has a wrong price.long.above: expected tokens, from 1'
}

const RATES = ['input', 'output', 'cached', 'cache_write']

function findRateFault(rate: Record<string, unknown>, at: string, isChat: boolean): string | null {
  if (rate.input === undefined) return `has no ${at}.input`
  for (const [name, figure] of Object.entries(rate)) {
    if (!RATES.includes(name)) return `has a ${at}.${name}, which is none of ${RATES.join(', ')}`
    if (!isDollars(figure)) return `has a wrong ${at}.${name}`
  }
  if (isChat && rate.output === undefined) return `has no ${at}.output`
  return null
}

function findMediaFault(media: Record<(typeof MEDIA)[number], unknown>): string | null {
  for (const medium of MEDIA) {
    const parts = media[medium] ?? {}
    if (parts === 'as-text') continue
    if (!isObject(parts))
      return `has a wrong price.${medium}: expected {input, output, cached} or as-text`
    for (const [name, figure] of Object.entries(parts)) {
      const isPart = name === 'input' || name === 'output' || name === 'cached'
      if (!isPart) return `has a price.${medium}.${name}, which is none of input, output, cached`
      if (!isDollars(figure)) return `has a wrong price.${medium}.${name}`
    }
  }
  return null
}

const isDollars = (figure: unknown) =>
  typeof figure === 'number' && Number.isFinite(figure) && figure >= 0

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) > 0

export const DAY = /^20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/

function parsePriceJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new WrongPriceList(`${path} is not valid JSON: ${(error as Error).message}`)
  }
}

function readOptionalFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    // The reader of the data directory reports a path that is not a directory.
    if (/^(ENOENT|ENOTDIR)$/.test(String((error as NodeJS.ErrnoException).code))) return null
    throw new WrongPriceList(`${path} cannot be read: ${(error as Error).message}`)
  }
}
