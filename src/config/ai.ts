/**
 * The settings of model vendors: LLM_VENDORS, LLM_FALLBACKS, MODELS, EMBEDDER, and each vendor's
 * own.
 */
import { join, resolve } from 'node:path'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { PRICES_AS_OF } from '../models/built-in.ts'
import {
  type Dialect,
  expandRoute,
  findAliasRoute,
  findModel,
  findVendor,
  type Catalogue as ModelCatalogue,
  parseRoute,
  type Route,
  type VendorEntry,
} from '../models/catalogue.ts'
import { readNames, readVendors, WrongModelsFile } from '../models/models-file.ts'
import {
  type PriceFiles,
  type PriceList,
  readPriceList,
  WrongPriceList,
} from '../models/price-list.ts'
import { ConfigError, type Reader, trimSlash } from './reader.ts'

/** A URL and an API key of a vendor. */
export type EndpointConfig = {
  /**
   * The name in logs and metrics: the vendor's for a single endpoint, otherwise `openai#1`,
   * `openai#eu`.
   */
  name: string
  baseUrl: string
  apiKey: string
  weight: number
}

/** A vendor of the catalogue, with the configured address and default model. */
export type VendorConfig = VendorEntry & {
  /** Empty: the vendor is not configured. */
  endpoints: readonly EndpointConfig[]
  /** Settings of endpoints whose keys are not set. */
  missingKeys: readonly string[]
  /** The key of the first endpoint; null: the vendor is not configured. */
  apiKey: string | null
  /** True when the sandbox replaces this vendor. */
  sandboxed: boolean
}

export type AiConfig = ModelCatalogue<VendorConfig> & {
  prices: PriceList
  /** The day of the newest prices in use. */
  pricesAsOf: string
  /** Slot order: llm_vendor_1 is the first. The other vendors follow the named ones. */
  slots: readonly Route[]
  /** Failover order. */
  fallbacks: readonly Route[]
  connectTimeoutMs: number
  /** Limit for all attempts of a call together, until an answer begins. */
  deadlineMs: number
  /** Limit for one attempt of a stream, until the headers of its reply. */
  headersTimeoutMs: number
  /** Maximum requests to vendors for one call. */
  attemptsMax: number
  idleTimeoutMs: number
  /**
   * True when clients may refer to files, prompts, stores, containers and MCP servers in the
   * operator's account with a vendor.
   */
  allowsAccountObjects: boolean
}

export function readAi(
  read: Reader,
  sandboxOn: boolean,
  sandboxUrl: string,
  { plans }: Catalogue,
  dataDir: string,
): AiConfig {
  const prices = readPrices(readPriceFiles(read, dataDir))
  try {
    const { vendors: entries, file } = readVendors(read.optional('MODELS'), prices)
    const configuredVendors = byName(
      entries.map((entry) => readVendor(read, entry, sandboxOn ? sandboxUrl : null)),
    )
    const tiers = plans.map(({ tier }) => tier)
    const { aliases, allow } = readNames(file, configuredVendors, tiers)
    const set = byName(
      Object.values(configuredVendors).map((vendor) => withoutAlias(vendor, aliases)),
    )
    const named = readRoutes(read, 'LLM_VENDORS', { vendors: set, aliases })
    // The first model of a vendor in LLM_VENDORS is its default model.
    const vendors = byName(
      Object.values(set).map((vendor) => ({
        ...vendor,
        defaultModel:
          named.find((slot) => slot.vendor === vendor.name)?.model ?? vendor.defaultModel,
      })),
    )
    return {
      prices,
      pricesAsOf: prices.asOf > PRICES_AS_OF ? prices.asOf : PRICES_AS_OF,
      vendors,
      aliases,
      allow,
      slots: [
        ...named.filter((slot, index) => named.findIndex((other) => isSame(slot, other)) === index),
        ...Object.values(vendors)
          .filter(({ name }) => named.every(({ vendor }) => vendor !== name))
          .map(({ name, defaultModel }) => ({ vendor: name, model: defaultModel })),
      ],
      fallbacks: readRoutes(read, 'LLM_FALLBACKS', { vendors, aliases }).flatMap((route) =>
        expandRoute({ aliases }, route),
      ),
      connectTimeoutMs: read.positive('AI_CONNECT_TIMEOUT_MS', 5_000),
      deadlineMs: read.positive('AI_DEADLINE_MS', 600_000),
      headersTimeoutMs: read.positive('AI_HEADERS_TIMEOUT_MS', 30_000),
      attemptsMax: read.positive('AI_ATTEMPTS_MAX', 10),
      idleTimeoutMs: read.positive('AI_IDLE_TIMEOUT_MS', 120_000),
      allowsAccountObjects: read.allows('vendor_objects'),
    }
  } catch (error) {
    throw error instanceof WrongModelsFile ? new ConfigError(`MODELS: ${error.message}`) : error
  }
}

export function readPriceFiles(read: Reader, dataDir: string): PriceFiles {
  const named = read.optional('PRICES')
  return { named: named === null ? null : resolve(named), usual: join(dataDir, 'prices.json') }
}

/** @throws ConfigError for an unusable list, because calls would have unexpected costs */
function readPrices(files: PriceFiles): PriceList {
  try {
    return readPriceList(files)
  } catch (error) {
    throw error instanceof WrongPriceList ? new ConfigError(`PRICES: ${error.message}`) : error
  }
}

type Names = Pick<AiConfig, 'vendors' | 'aliases'>

/** Reads a list of vendors, `vendor/model` pairs, and aliases. */
function readRoutes(read: Reader, setting: string, { vendors, aliases }: Names): Route[] {
  return read.words(setting).map((word) => {
    const route = findAliasRoute({ aliases }, word) ?? parseRoute({ vendors }, word)
    if (route !== null) return route
    const names = [...Object.keys(vendors), ...aliases.keys()].join(', ')
    throw new ConfigError(`${setting} names '${word}': expected ${names}, or vendor/model`)
  })
}

/** Resolves an alias in GROQ_MODEL=…, which must be for a model of that vendor. */
function withoutAlias(vendor: VendorConfig, aliases: Names['aliases']): VendorConfig {
  const alias = aliases.get(vendor.defaultModel)
  if (alias === undefined) return vendor
  const own = alias.routes.find((route) => route.vendor === vendor.name)
  if (own !== undefined) return { ...vendor, defaultModel: own.model }
  const aliasVendor = alias.routes[0].vendor
  throw new ConfigError(
    `${settingPrefix(vendor.name)}_MODEL names '${vendor.defaultModel}', a model of ${aliasVendor}`,
  )
}

const byName = (vendors: VendorConfig[]) =>
  Object.fromEntries(vendors.map((vendor) => [vendor.name, vendor]))

const SANDBOX_PATHS: Record<Dialect, string> = {
  openai: '/openai/v1',
  anthropic: '/anthropic',
  gemini: '/gemini',
}

/**
 * Reads the settings of a vendor: GROQ_BASE_URL, GROQ_MODEL, and the key setting that the catalogue
 * names.
 */
function readVendor(read: Reader, entry: VendorEntry, sandboxUrl: string | null): VendorConfig {
  const prefix = settingPrefix(entry.name)
  const own = read.url(`${prefix}_BASE_URL`, ['http:', 'https:'])
  const baseUrl = trimSlash(own ?? entry.baseUrl)
  const keyed = listEndpoints(read, entry, baseUrl, own !== null)
  // The sandbox plays only vendors without a key and without a configured address.
  const sandboxed = sandboxUrl !== null && keyed.length === 0
  const played = {
    name: entry.name,
    baseUrl: sandboxUrl + SANDBOX_PATHS[entry.dialect],
    apiKey: 'sandbox',
    weight: 1,
  }
  const endpoints = sandboxed ? [played] : keyed
  return {
    ...entry,
    defaultModel: read.optional(`${prefix}_MODEL`) ?? entry.defaultModel,
    endpoints,
    missingKeys: entry.endpointSettings.flatMap(({ keySetting: name }) =>
      name === null || read.words(name).length > 0 ? [] : [name],
    ),
    apiKey: endpoints[0]?.apiKey ?? null,
    baseUrl: endpoints[0]?.baseUrl ?? baseUrl,
    sandboxed,
  }
}

/**
 * Returns the endpoints with keys. A key setting may contain several keys, each of which is an
 * endpoint.
 */
function listEndpoints(
  read: Reader,
  entry: VendorEntry,
  baseUrl: string,
  isOwnAddress: boolean,
): EndpointConfig[] {
  const { name: vendor, keySetting } = entry
  const usual = { name: null, baseUrl: null, keySetting, weight: 1 }
  const settings = entry.endpointSettings.length > 0 ? entry.endpointSettings : [usual]
  const found = settings.flatMap((setting) => {
    const keys = setting.keySetting === null ? ['none'] : read.words(setting.keySetting)
    // A custom base address (Ollama, vLLM) often needs no key.
    if (keys.length === 0 && isOwnAddress && setting.baseUrl === null) keys.push('none')
    return keys.map((apiKey, index) => ({
      name:
        setting.name === null
          ? null
          : keys.length === 1
            ? setting.name
            : `${setting.name}-${index + 1}`,
      baseUrl: setting.baseUrl ?? baseUrl,
      apiKey,
      weight: setting.weight,
    }))
  })
  return found.map((one, index) => ({
    ...one,
    name: found.length === 1 && one.name === null ? vendor : `${vendor}#${one.name ?? index + 1}`,
  }))
}

const settingPrefix = (vendor: string) => vendor.toUpperCase().replaceAll('-', '_')

const isSame = (one: Route, other: Route) =>
  one.vendor === other.vendor && one.model === other.model

export function readEmbedder(read: Reader, ai: AiConfig): string {
  const setting = read.text('EMBEDDER', 'auto')
  if (setting === 'local') return setting
  if (setting === 'auto') {
    // A replacement for OpenAI without a key may have no embeddings.
    const { openai } = ai.vendors
    const isKeyed =
      openai !== undefined && !openai.sandboxed && read.optional(openai.keySetting ?? '') !== null
    return isKeyed ? 'openai:text-embedding-3-small' : 'local'
  }
  const [, name = '', model = ''] = /^([^:]+):(\S+)$/.exec(setting) ?? []
  if ((ai.aliases.get(setting)?.routes.length ?? 1) > 1) {
    throw new ConfigError(
      `EMBEDDER=${setting}: an alias of several models, whose vectors do not compare`,
    )
  }
  const route = findAliasRoute(ai, setting) ?? (model === '' ? null : { vendor: name, model })
  const vendor = route === null ? undefined : findVendor(ai, route.vendor)
  if (route === null || vendor === undefined) {
    const vendors = Object.keys(ai.vendors).join(', ')
    throw new ConfigError(
      `EMBEDDER is wrong: expected auto, local, vendor:MODEL (of ${vendors}) or an alias, got '${setting}'`,
    )
  }
  if (vendor.dialect === 'anthropic')
    throw new ConfigError(`EMBEDDER=${setting}: ${vendor.name} has no embeddings`)
  if (findModel(vendor, route.model)?.kind === 'chat') {
    throw new ConfigError(`EMBEDDER=${setting}: ${route.model} is no model for embeddings`)
  }
  if (vendor.apiKey === null || vendor.sandboxed) {
    throw new ConfigError(`EMBEDDER=${setting} needs ${vendor.keySetting}`)
  }
  return `${vendor.name}:${route.model}`
}

/** Reads a setting with a chat model or an alias; null when empty. */
export function readModel(read: Reader, setting: string, ai: AiConfig): Route | null {
  const name = read.optional(setting)
  if (name === null) return null
  const route = findAliasRoute(ai, name) ?? parseRoute(ai, name)
  if (route === null)
    throw new ConfigError(`${setting} is wrong: expected vendor/model or an alias, got '${name}'`)
  const vendor = findVendor(ai, route.vendor)
  if (vendor === undefined || vendor.apiKey === null)
    throw new ConfigError(`${setting}=${name} needs ${vendor?.keySetting}`)
  const kind = findModel(vendor, route.model)?.kind ?? 'chat'
  if (kind !== 'chat') {
    throw new ConfigError(
      `${setting}=${name}: ${route.model} answers nothing, it ${kind === 'embedding' ? 'embeds' : 'reranks'}`,
    )
  }
  return route
}

/** Reads RERANK_MODEL: a model of a vendor with `/rerank`; null when empty. */
export function readReranker(read: Reader, ai: AiConfig): Route | null {
  const setting = 'RERANK_MODEL'
  const name = read.optional(setting)
  if (name === null) return null
  const route = findAliasRoute(ai, name) ?? (name.includes('/') ? parseRoute(ai, name) : null)
  const vendor = route && findVendor(ai, route.vendor)
  if (!route || !vendor || route.alias !== undefined) {
    throw new ConfigError(
      `${setting} is wrong: expected vendor/model, or an alias of one, got '${name}'`,
    )
  }
  if (vendor.dialect !== 'openai')
    throw new ConfigError(`${setting}=${name}: ${vendor.name} has no /rerank`)
  if (vendor.apiKey === null) throw new ConfigError(`${setting}=${name} needs ${vendor.keySetting}`)
  const kind = findModel(vendor, route.model)?.kind ?? 'rerank'
  if (kind !== 'rerank')
    throw new ConfigError(`${setting}=${name}: ${route.model} is no model that reranks`)
  return route
}
