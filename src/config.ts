// Guards the door between the environment and the service: the only reader of process.env.
// One thing to know: a wrong value stops the start with one line that names the setting; nothing falls back silently.
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { BUILT_IN, FREE_PLAN } from './catalogue/built-in.ts'
import {
  BY_INTERVAL,
  type Catalogue,
  type CataloguePlan,
  FREE,
  INTERVALS,
  type Interval,
  priceField,
  priceSetting,
  settingPart,
  type Tier,
} from './catalogue/catalogue.ts'
import { CatalogueError, type CatalogueFile, type FilePlan, parseCatalogue } from './catalogue/read.ts'
import {
  type Dialect,
  findModel,
  type Catalogue as ModelCatalogue,
  type Route,
  routeNamed,
  type VendorEntry,
  vendorNamed,
} from './models/catalogue.ts'
import { readNames, readVendors, WrongModelsFile } from './models/models-file.ts'
import { isLoopbackAddress, isLoopbackHost } from './platform/http/loopback.ts'

export type Part = 'api' | 'storefront' | 'worker'

/** A limit of `requests` per `seconds`; null switches it off. */
export type Rate = { requests: number; seconds: number } | null

export type OAuthClient = {
  clientId: string
  clientSecret: string
  /** True when the sandbox plays this provider: it vouches for whatever address is typed. */
  sandboxed: boolean
}

/** A vendor of the catalogue, its address and default model as the settings say. */
export type VendorConfig = VendorEntry & {
  /** Null: the vendor is not configured. */
  apiKey: string | null
  /** True when the sandbox plays this vendor. */
  sandboxed: boolean
}

export type Config = {
  /** What emails, passkeys and authenticator apps call the service. */
  brand: string
  production: boolean
  debug: boolean
  logLevel: string
  serve: ReadonlySet<Part>
  /** `trustProxy`: how many proxies stand in front, or their networks. */
  http: { host: string; port: number; storefrontPort: number; trustProxy: false | number | readonly string[] }
  urls: { base: string; frontend: string; storefront: string }
  /** How long /readyz says that the process goes before its ports close, and how long what runs may still take. */
  drain: { delaySeconds: number; seconds: number }
  dataDir: string
  databaseUrl: string | null
  redisUrl: string | null
  /** `on` when the sandbox is served at all; `open` lets it answer other hosts than loopback. `url`: where the service calls it. */
  sandbox: { on: boolean; open: boolean; url: string }
  products: {
    location: string | null
    name: string
    s3: {
      endpoint: string | null
      region: string
      accessKeyId: string | null
      secretAccessKey: string | null
      sessionToken: string | null
    }
  }
  /** What is sold, and what each plan grants. */
  catalogue: Catalogue
  processor: {
    secretKey: string | null
    webhookSecret: string | null
    storefrontWebhookSecret: string | null
    /** Null: the processor's own address. */
    apiBase: string | null
    sandboxed: boolean
    /** Price id → tier and interval, of the catalogue's plans and in their order. */
    prices: ReadonlyMap<string, { tier: Tier; interval: Interval }>
  }
  ai: ModelCatalogue<VendorConfig> & {
    /** Slot order: llm_vendor_1 is the first. Behind those that are named come the other vendors. */
    slots: readonly Route[]
    /** Failover order. */
    fallbacks: readonly Route[]
    connectTimeoutMs: number
    firstByteTimeoutMs: number
    idleTimeoutMs: number
  }
  /** `local` or `vendor:MODEL`, with `auto` and aliases resolved. */
  embedder: string
  oauth: {
    google: (OAuthClient & { issuer: string }) | null
    github: (OAuthClient & { baseUrl: string; apiUrl: string }) | null
  }
  mail: { smtpUrl: string | null; from: string; supportEmail: string; sandboxed: boolean }
  limits: { general: Rate; ai: Rate; rag: Rate; auth: Rate; signup: Rate }
  superuser: { email: string; password: string | null } | null
  /** Tokens a month and user, of the plans that have such a budget. */
  budgets: ReadonlyMap<Tier, number>
  /** How long what has happened is kept. */
  retention: { eventsDays: number }
  /** How long a failed payment leaves a plan open. */
  pastDueGraceDays: number
  maxTextBytes: number
  maxFileBytes: number
  metricsToken: string | null
  geoipDb: string | null
  /** Seals the root of all secrets; null: it lies plain in the database. */
  secretKey: string | null
  /** The former one, while it is being changed. */
  secretKeyOld: string | null
}

export class ConfigError extends Error {}

type Env = Readonly<Record<string, string | undefined>>

/**
 * Reads settings from `.env` (in the working directory, when there) and the environment, which wins.
 * `toLook`: for commands that tell what is missing, and open nothing.
 * @throws ConfigError with one line that names the wrong setting.
 */
export function configFromProcess({ toLook = false }: { toLook?: boolean } = {}): Config {
  try {
    process.loadEnvFile()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new ConfigError(`.env cannot be read: ${(error as Error).message}`)
    }
  }
  const config = readConfig(process.env)
  if (config.production && config.secretKey === null && !toLook) {
    throw new ConfigError(
      'SECRET_KEY is not set: with NODE_ENV=production it is needed, so that a copy of the database opens nothing (openssl rand -base64 32)',
    )
  }
  return config
}

/** Whether a failed start tells its stack as well; also where the settings themselves are wrong. */
export function wantsDetails(): boolean {
  return process.env.LOG_LEVEL === 'debug'
}

/** @throws ConfigError with one line that names the wrong setting. */
export function readConfig(env: Env): Config {
  const read = reader(env)

  const nodeEnv = read.oneOf('NODE_ENV', ['development', 'production', 'test'], 'development')
  const production = nodeEnv === 'production'

  const sandboxSetting = read.oneOf('SANDBOX', ['auto', 'on', 'off'], 'auto')
  if (sandboxSetting === 'on' && production) {
    throw new ConfigError(
      'SANDBOX=on is refused with NODE_ENV=production: the sandbox hands out mail and money to anyone',
    )
  }
  const host = read.text('HOST', '127.0.0.1')
  const port = read.port('PORT', 8000)
  const storefrontPort = read.port('STOREFRONT_PORT', 8001)
  const base = read.url('BASE_URL', ['http:', 'https:']) ?? `http://localhost:${port}`
  const urls = {
    base,
    frontend: read.url('FRONTEND_URL', ['http:', 'https:']) ?? base,
    storefront: read.url('STOREFRONT_URL', ['http:', 'https:']) ?? `http://localhost:${storefrontPort}`,
  }
  if (port === storefrontPort && port !== 0 && new URL(urls.base).host === new URL(urls.storefront).host) {
    throw new ConfigError(
      'STOREFRONT_URL and BASE_URL name the same host on one port: give them different hosts, or STOREFRONT_PORT another port',
    )
  }

  const serve = new Set(read.list('SERVE', ['api', 'storefront', 'worker'] as const, ['api', 'storefront', 'worker']))
  const sandbox = {
    // Whoever tells the world a public address is no newcomer on a laptop.
    on: sandboxSetting === 'on' || (sandboxSetting === 'auto' && !production && isLocal(urls)),
    open: sandboxSetting === 'on',
    // Over the address this process listens on, whatever the public one is; where another process has the API, `PORT` is not its.
    url: serve.has('api') ? `http://127.0.0.1:${port}/sandbox` : `${base}/sandbox`,
  }

  const productName = read.matching(
    'PRODUCT_NAME',
    /^[a-z0-9][a-z0-9._-]{0,63}$/i,
    'letters, digits, dots, dashes',
    'latchkey',
  )
  const databaseUrl = read.url('DATABASE_URL', ['postgres:', 'postgresql:'])
  const processor = readProcessor(read, sandbox.on, sandbox.url)
  const catalogue = readCatalogue(read, processor.sandboxed)
  const ai = readAi(read, sandbox.on, sandbox.url, catalogue)
  refuseStrayPlans(env, catalogue)

  return deepFreeze({
    brand: read.matching(
      'BRAND',
      /^[a-z0-9][a-z0-9 ._-]{0,63}$/i,
      'letters, digits, spaces, dots, dashes',
      productName,
    ),
    production,
    debug: read.flag('DEBUG', !production),
    logLevel: read.oneOf('LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
    serve,
    http: { host, port, storefrontPort, trustProxy: readTrustProxy(read) },
    urls,
    drain: {
      delaySeconds: read.seconds('DRAIN_DELAY_SECONDS', production ? 5 : 0),
      seconds: read.seconds('DRAIN_SECONDS', 30),
    },
    dataDir: resolve(read.text('DATA_DIR', './data')),
    databaseUrl,
    redisUrl: read.url('REDIS_URL', ['redis:', 'rediss:']),
    sandbox,
    products: {
      location: read.optional('PRODUCTS_DIR'),
      name: productName,
      s3: {
        endpoint: read.url('S3_ENDPOINT', ['http:', 'https:']),
        region: read.optional('AWS_REGION') ?? read.optional('AWS_DEFAULT_REGION') ?? 'us-east-1',
        accessKeyId: read.optional('AWS_ACCESS_KEY_ID'),
        secretAccessKey: read.optional('AWS_SECRET_ACCESS_KEY'),
        sessionToken: read.optional('AWS_SESSION_TOKEN'),
      },
    },
    catalogue,
    processor: { ...processor, prices: pricesOf(catalogue) },
    ai,
    embedder: readEmbedder(read, ai),
    // Nobody is vouched for by a sandbox where the letters to them are real.
    oauth: readOAuth(read, sandbox.on && read.optional('SMTP_URL') === null, sandbox.url),
    mail: readMail(read, sandbox.on, urls.base),
    limits: {
      general: read.rate('RATE_LIMIT_GENERAL', '100/60'),
      ai: read.rate('RATE_LIMIT_AI', '30/60'),
      rag: read.rate('RATE_LIMIT_RAG', '60/60'),
      auth: read.rate('RATE_LIMIT_AUTH', '10/60'),
      signup: read.rate('RATE_LIMIT_SIGNUP', '10/3600'),
    },
    superuser: readSuperuser(read),
    budgets: readBudgets(read, catalogue),
    retention: { eventsDays: read.positive('RETENTION_EVENTS_DAYS', 90) },
    pastDueGraceDays: read.days('PAST_DUE_GRACE_DAYS', 14),
    maxTextBytes: read.positive('MAX_TEXT_MB', 64) * 1024 * 1024,
    maxFileBytes: read.positive('MAX_FILE_MB', 25) * 1024 * 1024,
    metricsToken: read.optional('METRICS_TOKEN'),
    geoipDb: read.optional('GEOIP_DB'),
    ...readSecretKeys(read),
  })
}

function readAi(read: Reader, sandboxOn: boolean, sandboxUrl: string, { plans }: Catalogue): Config['ai'] {
  try {
    const { vendors: entries, file } = readVendors(read.optional('MODELS'))
    const given = byName(entries.map((entry) => readVendor(read, entry, sandboxOn ? sandboxUrl : null)))
    const tiers = plans.map(({ tier }) => tier)
    const { aliases, allow } = readNames(file, given, tiers)
    const set = byName(Object.values(given).map((vendor) => withoutAlias(vendor, aliases)))
    const named = readRoutes(read, 'LLM_VENDORS', { vendors: set, aliases })
    // The model with which LLM_VENDORS first names a vendor is that vendor's usual one.
    const vendors = byName(
      Object.values(set).map((vendor) => ({
        ...vendor,
        defaultModel: named.find((slot) => slot.vendor === vendor.name)?.model ?? vendor.defaultModel,
      })),
    )
    return {
      vendors,
      aliases,
      allow,
      slots: [
        ...named.filter((slot, index) => named.findIndex((other) => isSame(slot, other)) === index),
        ...Object.values(vendors)
          .filter(({ name }) => named.every(({ vendor }) => vendor !== name))
          .map(({ name, defaultModel }) => ({ vendor: name, model: defaultModel })),
      ],
      fallbacks: readRoutes(read, 'LLM_FALLBACKS', { vendors, aliases }),
      connectTimeoutMs: read.positive('AI_CONNECT_TIMEOUT_MS', 5_000),
      firstByteTimeoutMs: read.positive('AI_FIRST_BYTE_TIMEOUT_MS', 600_000),
      idleTimeoutMs: read.positive('AI_IDLE_TIMEOUT_MS', 120_000),
    }
  } catch (error) {
    throw error instanceof WrongModelsFile ? new ConfigError(`MODELS: ${error.message}`) : error
  }
}

type Names = Pick<Config['ai'], 'vendors' | 'aliases'>

/** A list of vendors, of `vendor/model`, and of aliases. */
function readRoutes(read: Reader, setting: string, { vendors, aliases }: Names): Route[] {
  return read.words(setting).map((word) => {
    const route = aliases.get(word) ?? routeNamed({ vendors }, word)
    if (route !== null) return route
    const names = [...Object.keys(vendors), ...aliases.keys()].join(', ')
    throw new ConfigError(`${setting} names '${word}': expected ${names}, or vendor/model`)
  })
}

/** GROQ_MODEL=… may name an alias, of a model of the vendor's own. */
function withoutAlias(vendor: VendorConfig, aliases: Names['aliases']): VendorConfig {
  const alias = aliases.get(vendor.defaultModel)
  if (alias === undefined) return vendor
  if (alias.vendor === vendor.name) return { ...vendor, defaultModel: alias.model }
  throw new ConfigError(`${prefixOf(vendor.name)}_MODEL names '${vendor.defaultModel}', a model of ${alias.vendor}`)
}

const byName = (vendors: VendorConfig[]) => Object.fromEntries(vendors.map((vendor) => [vendor.name, vendor]))

const SANDBOX_PATHS: Record<Dialect, string> = { openai: '/openai/v1', anthropic: '/anthropic', gemini: '/gemini' }

/** Where a vendor is set by itself: GROQ_BASE_URL, GROQ_MODEL, and its key where the catalogue says. */
function readVendor(read: Reader, entry: VendorEntry, sandboxUrl: string | null): VendorConfig {
  const prefix = prefixOf(entry.name)
  const key = entry.keySetting === null ? 'none' : read.optional(entry.keySetting)
  const baseUrl = read.url(`${prefix}_BASE_URL`, ['http:', 'https:'])
  const vendor = { ...entry, defaultModel: read.optional(`${prefix}_MODEL`) ?? entry.defaultModel }
  // A base address of one's own (Ollama, vLLM) often needs no key; the sandbox plays only what has neither.
  if (sandboxUrl !== null && key === null && baseUrl === null) {
    return { ...vendor, apiKey: 'sandbox', baseUrl: sandboxUrl + SANDBOX_PATHS[entry.dialect], sandboxed: true }
  }
  return {
    ...vendor,
    apiKey: key ?? (baseUrl === null ? null : 'none'),
    baseUrl: trimSlash(baseUrl ?? entry.baseUrl),
    sandboxed: false,
  }
}

const prefixOf = (vendor: string) => vendor.toUpperCase().replaceAll('-', '_')

const isSame = (one: Route, other: Route) => one.vendor === other.vendor && one.model === other.model

function readEmbedder(read: Reader, ai: Config['ai']): string {
  const setting = read.text('EMBEDDER', 'auto')
  if (setting === 'local') return setting
  if (setting === 'auto') {
    // A stand-in for OpenAI without a key may have no embeddings.
    const { openai } = ai.vendors
    const isKeyed = openai !== undefined && !openai.sandboxed && read.optional(openai.keySetting ?? '') !== null
    return isKeyed ? 'openai:text-embedding-3-small' : 'local'
  }
  const [, name = '', model = ''] = /^([^:]+):(\S+)$/.exec(setting) ?? []
  const route = ai.aliases.get(setting) ?? (model === '' ? null : { vendor: name, model })
  const vendor = route === null ? undefined : vendorNamed(ai, route.vendor)
  if (route === null || vendor === undefined) {
    const vendors = Object.keys(ai.vendors).join(', ')
    throw new ConfigError(
      `EMBEDDER is wrong: expected auto, local, vendor:MODEL (of ${vendors}) or an alias, got '${setting}'`,
    )
  }
  if (vendor.dialect === 'anthropic') throw new ConfigError(`EMBEDDER=${setting}: ${vendor.name} has no embeddings`)
  if (findModel(vendor, route.model)?.kind === 'chat') {
    throw new ConfigError(`EMBEDDER=${setting}: ${route.model} is no model for embeddings`)
  }
  if (vendor.apiKey === null || vendor.sandboxed) {
    throw new ConfigError(`EMBEDDER=${setting} needs ${vendor.keySetting}`)
  }
  return `${vendor.name}:${route.model}`
}

function readProcessor(read: Reader, sandboxOn: boolean, sandboxUrl: string): Omit<Config['processor'], 'prices'> {
  const secretKey = read.optional('STRIPE_SECRET_KEY') ?? read.optional('PROCESSOR_SECRET_KEY')
  const webhookSecret = read.optional('STRIPE_WEBHOOK_SECRET') ?? read.optional('PROCESSOR_WEBHOOK_SECRET')
  const sandboxed = sandboxOn && secretKey === null

  return {
    secretKey: secretKey ?? (sandboxed ? 'sk_sandbox_latchkey' : null),
    // The sandbox's own are made from the data's root (platform.ts): one that stood here would be everybody's.
    webhookSecret,
    storefrontWebhookSecret: read.optional('STRIPE_STOREFRONT_WEBHOOK_SECRET') ?? webhookSecret,
    apiBase: sandboxed ? `${sandboxUrl}/stripe` : read.url('STRIPE_API_BASE', ['http:', 'https:']),
    sandboxed,
  }
}

/** The file's, or the built-in one. */
function readCatalogue(read: Reader, isPlayed: boolean): Catalogue {
  const path = read.optional('CATALOGUE')
  const file = path === null ? {} : readCatalogueFile(path)
  const { plans, products }: CatalogueFile = { ...BUILT_IN, ...file }
  const all = plans.some(({ tier }) => tier === FREE) ? plans : [FREE_PLAN, ...plans]
  const priced = all.map((plan) => ({ ...plan, prices: readPrices(read, plan, isPlayed) }))
  return { plansPath: file.plans ? path : null, plans: priced, products }
}

function readCatalogueFile(path: string): Partial<CatalogueFile> {
  try {
    return parseCatalogue(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof CatalogueError) throw new ConfigError(`CATALOGUE (${path}): ${error.message}`)
    throw new ConfigError(`CATALOGUE cannot be read: ${(error as Error).message}`)
  }
}

/** A plan that names no prices takes them from settings; what is missing then, the sandbox makes up. */
function readPrices(read: Reader, { tier, prices }: FilePlan, isPlayed: boolean): CataloguePlan['prices'] {
  if (tier === FREE) return {}
  const found: Partial<Record<Interval, string>> = {}
  for (const interval of INTERVALS) {
    const setting = priceSetting(tier, interval)
    const set = read.optional(setting)
    if (set !== null && prices !== null) {
      throw new ConfigError(`${setting} is set, and CATALOGUE names the prices of '${tier}': one of them has to go`)
    }
    const price = set ?? (isPlayed ? `price_sandbox_${tier}_${BY_INTERVAL[interval]}` : null)
    if (price !== null) found[interval] = price
  }
  return prices ?? found
}

function pricesOf(catalogue: Catalogue): Config['processor']['prices'] {
  const prices = new Map<string, { tier: Tier; interval: Interval }>()
  for (const { tier, prices: ids } of catalogue.plans) {
    for (const interval of INTERVALS) {
      const id = ids[interval]
      if (id === undefined) continue
      const other = prices.get(id)
      if (other) {
        const [field, first] = [{ tier, interval }, other].map((price) => priceField(catalogue, price))
        throw new ConfigError(`${field} repeats the price id '${id}' of ${first}`)
      }
      prices.set(id, { tier, interval })
    }
  }
  return prices
}

function readBudgets(read: Reader, { plans }: Catalogue): Config['budgets'] {
  return new Map(
    plans.flatMap(({ tier }) => {
      const tokens = read.count(`BUDGET_${settingPart(tier)}_TOKENS`)
      return tokens === null ? [] : [[tier, tokens] as const]
    }),
  )
}

/** A setting of a plan that there is not would change nothing, in silence. */
function refuseStrayPlans(env: Env, { plans }: Catalogue): void {
  const all = plans.map(({ tier }) => settingPart(tier))
  const sold = all.filter((part) => part !== settingPart(FREE))
  for (const [setting, value] of Object.entries(env)) {
    const [, ofPrice, ofBudget] = /^(?:PRICE_(.+)_(?:MONTHLY|YEARLY)|BUDGET_(.+)_TOKENS)$/.exec(setting) ?? []
    const known = ofPrice === undefined ? all : sold
    const part = ofPrice ?? ofBudget
    if (part === undefined || !value?.trim() || known.includes(part)) continue
    throw new ConfigError(
      `${setting} names no plan of the catalogue: expected ${known.join(' or ')} in place of ${part}`,
    )
  }
}

function readOAuth(read: Reader, isPlayed: boolean, sandboxUrl: string): Config['oauth'] {
  const client = (prefix: string): OAuthClient | null => {
    const clientId = read.optional(`${prefix}_CLIENT_ID`)
    const clientSecret = read.optional(`${prefix}_CLIENT_SECRET`)
    if ((clientId === null) !== (clientSecret === null)) {
      throw new ConfigError(`${prefix}_CLIENT_ID and ${prefix}_CLIENT_SECRET go together: one of them is missing`)
    }
    if (clientId !== null && clientSecret !== null) return { clientId, clientSecret, sandboxed: false }
    return null
  }
  const sandboxClient = { clientId: 'sandbox', clientSecret: 'sandbox-secret', sandboxed: true }
  const google = client('GOOGLE')
  const github = client('GITHUB')

  return {
    google: google
      ? { ...google, issuer: read.url('GOOGLE_ISSUER', ['http:', 'https:']) ?? 'https://accounts.google.com' }
      : isPlayed
        ? { ...sandboxClient, issuer: `${sandboxUrl}/oauth/google` }
        : null,
    github: github
      ? {
          ...github,
          baseUrl: trimSlash(read.url('GITHUB_BASE_URL', ['http:', 'https:']) ?? 'https://github.com'),
          apiUrl: trimSlash(read.url('GITHUB_API_URL', ['http:', 'https:']) ?? 'https://api.github.com'),
        }
      : isPlayed
        ? { ...sandboxClient, baseUrl: `${sandboxUrl}/oauth/github`, apiUrl: `${sandboxUrl}/oauth/github` }
        : null,
  }
}

function readMail(read: Reader, sandboxOn: boolean, base: string): Config['mail'] {
  const domain = new URL(base).hostname
  const smtpUrl = read.url('SMTP_URL', ['smtp:', 'smtps:'])
  return {
    smtpUrl,
    from: read.text('MAIL_FROM', `Latchkey <no-reply@${domain}>`),
    supportEmail: read.text('SUPPORT_EMAIL', `support@${domain}`),
    sandboxed: sandboxOn && smtpUrl === null,
  }
}

function readSuperuser(read: Reader): Config['superuser'] {
  const email = read.optional('SUPERUSER_EMAIL')
  const password = read.optional('SUPERUSER_PASSWORD')
  if (email === null && password !== null) throw new ConfigError('SUPERUSER_PASSWORD is set without SUPERUSER_EMAIL')
  if (email !== null && !/^[^\s@]+@[^\s@]+$/.test(email))
    throw new ConfigError(`SUPERUSER_EMAIL is not an email address: '${email}'`)
  if (password !== null && (password.length < 8 || password.length > 128)) {
    throw new ConfigError('SUPERUSER_PASSWORD needs 8 to 128 characters')
  }
  return email === null ? null : { email, password }
}

function readSecretKeys(read: Reader): Pick<Config, 'secretKey' | 'secretKeyOld'> {
  const secretKey = read.optional('SECRET_KEY')
  const secretKeyOld = read.optional('SECRET_KEY_OLD')
  if (secretKeyOld !== null && secretKey === null) throw new ConfigError('SECRET_KEY_OLD is set without SECRET_KEY')
  return { secretKey, secretKeyOld }
}

/** Never all: the first addresses of X-Forwarded-For are written by whoever asks. */
function readTrustProxy(read: Reader): false | number | string[] {
  const value = read.optional('TRUST_PROXY')
  if (value === null || /^(false|off|0|no)$/i.test(value)) return false
  if (/^(true|on|yes)$/i.test(value)) return 1
  if (/^\d{1,2}$/.test(value)) return Number(value)
  const networks = read.words('TRUST_PROXY')
  const wrong = networks.find((network) => !isNetwork(network))
  if (wrong === undefined && networks.length > 0) return networks
  throw new ConfigError(
    `TRUST_PROXY is wrong: expected the number of proxies in front (true: 1) or their networks (as 10.0.0.0/8), got '${wrong ?? value}'`,
  )
}

/** An address, a network that is not everything, or one of the names that proxy-addr knows. */
function isNetwork(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

type Reader = ReturnType<typeof reader>

function reader(env: Env) {
  const optional = (name: string): string | null => {
    const value = env[name]?.trim()
    if (value) return value
    const file = SECRET_NAME.test(name) ? env[`${name}_FILE`]?.trim() : undefined
    return file ? secretFrom(`${name}_FILE`, file) : null
  }

  const fail = (name: string, expected: string): never => {
    throw new ConfigError(
      `${name} is wrong: expected ${expected}, got '${env[name] === undefined || isSecret(name, env[name]) ? '…' : env[name]}'`,
    )
  }

  const positive = (name: string, fallback: number): number => {
    const value = optional(name)
    if (value === null) return fallback
    return /^\d+$/.test(value) && Number(value) > 0 && Number.isSafeInteger(Number(value))
      ? Number(value)
      : fail(name, 'a whole number above 0')
  }

  const words = (name: string): string[] =>
    (optional(name) ?? '')
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== '')

  return {
    optional,
    positive,
    words,
    text: (name: string, fallback: string) => optional(name) ?? fallback,
    count: (name: string): number | null => (optional(name) === null ? null : positive(name, 0)),
    days: (name: string, fallback: number): number => {
      const value = optional(name)
      if (value === null) return fallback
      return /^\d{1,3}$/.test(value) ? Number(value) : fail(name, 'a number of days from 0 to 999')
    },
    port: (name: string, fallback: number): number => {
      const value = optional(name)
      if (value === null) return fallback
      return /^\d+$/.test(value) && Number(value) <= 65_535 ? Number(value) : fail(name, 'a port from 0 to 65535')
    },
    seconds: (name: string, fallback: number): number => {
      const value = optional(name)
      if (value === null) return fallback
      return /^\d{1,4}$/.test(value) ? Number(value) : fail(name, 'seconds, from 0 to 9999')
    },
    flag: (name: string, fallback: boolean): boolean => {
      const value = optional(name)?.toLowerCase()
      if (value === undefined) return fallback
      if (['true', '1', 'yes', 'on'].includes(value)) return true
      return ['false', '0', 'no', 'off'].includes(value) ? false : fail(name, 'true or false')
    },
    oneOf: <const T extends string>(name: string, choices: readonly T[], fallback: NoInfer<T>): T => {
      const value = optional(name)
      if (value === null) return fallback
      return choices.find((choice) => choice === value) ?? fail(name, `one of ${choices.join(', ')}`)
    },
    list: <const T extends string>(
      name: string,
      choices: readonly T[],
      fallback: readonly NoInfer<T>[],
    ): readonly T[] => {
      const value = words(name)
      if (value.length === 0) return fallback
      return value.map(
        (word) => choices.find((choice) => choice === word) ?? fail(name, `some of ${choices.join(',')}`),
      )
    },
    matching: (name: string, pattern: RegExp, expected: string, fallback: string): string => {
      const value = optional(name) ?? fallback
      return pattern.test(value) ? value : fail(name, expected)
    },
    url: (name: string, protocols: readonly string[]): string | null => {
      const value = optional(name)
      if (value === null) return null
      const parsed = URL.parse(value)
      if (parsed === null || !protocols.includes(parsed.protocol))
        return fail(name, `an address starting with ${protocols.join('// or ')}//`)
      return trimSlash(value)
    },
    rate: (name: string, fallback: string): Rate => {
      const value = optional(name) ?? fallback
      if (value.toLowerCase() === 'off') return null
      const match = /^([1-9]\d{0,8})\/([1-9]\d{0,5})$/.exec(value)
      return match
        ? { requests: Number(match[1]), seconds: Number(match[2]) }
        : fail(name, "requests/seconds, like 100/60, or 'off'")
    },
  }
}

/** Settings that each are right, and together let strangers in; told by `doctor`, and at every start. */
export function exposures({ production, sandbox, http, urls }: Config): { setting: string; says: string }[] {
  const found: { setting: string; says: string }[] = []
  if (sandbox.open) {
    found.push({
      setting: 'SANDBOX',
      says: 'SANDBOX=on: whoever reaches this port reads all mail, pays with play money and signs in as whom they like',
    })
  } else if (sandbox.on && (!isLoopbackBinding(http.host) || http.trustProxy !== false)) {
    found.push({
      setting: 'SANDBOX',
      says: `the sandbox is on, and ${http.trustProxy === false ? `HOST=${http.host} lets others reach this port` : 'TRUST_PROXY says that a proxy stands in front'}: set NODE_ENV=production or SANDBOX=off`,
    })
  }
  if (!production && !isLocal(urls)) {
    found.push({
      setting: 'NODE_ENV',
      says: `NODE_ENV is not production, but ${Object.values(urls).find((url) => !isLocal({ url }))} is no address of this machine: set NODE_ENV=production`,
    })
  }
  return found
}

const isLocal = (urls: Record<string, string>) => Object.values(urls).every((url) => isLoopbackHost(new URL(url).host))
const isLoopbackBinding = (host: string) => isLoopbackHost(host) || isLoopbackAddress(host)

/** Settings that may come from a file, as orchestrators hand secrets over: `NAME_FILE`. */
const SECRET_NAME = /KEY|SECRET|PASSWORD|TOKEN|^(DATABASE|REDIS|SMTP)_URL$/

function secretFrom(setting: string, path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim() || null
  } catch (error) {
    throw new ConfigError(`${setting} cannot be read: ${(error as Error).message}`)
  }
}

/** An address is one only where it can carry a password. */
const isSecret = (name: string, value: string) =>
  /KEY|SECRET|PASSWORD|TOKEN/.test(name) || (name.includes('URL') && /[@?]/.test(value))

const trimSlash = (url: string) => url.replace(/\/+$/, '')

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) deepFreeze(inner)
  }
  return value
}
