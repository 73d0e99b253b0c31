/**
 * Reads the environment into one frozen object; no other file does. A wrong value stops the start
 * with one line that names the setting.
 */
import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import { join, resolve } from 'node:path'
import type { LiveBrand } from '#brand/live.ts'
import type { Catalogue, Tier } from '#catalogue/catalogue.ts'
import type { Route } from '#models/catalogue.ts'
import type { PriceFiles } from '#models/price-list.ts'
import { version } from '#platform/version.ts'
import {
  type AiConfig,
  readAi,
  readEmbedder,
  readModel,
  readPriceFiles,
  readReranker,
} from './ai.ts'
import { readBrand } from './brand.ts'
import {
  indexPrices,
  type ProcessorConfig,
  readBudgets,
  readCatalogue,
  readProcessor,
  refuseStrayPlans,
} from './catalogue.ts'
import { isLocal } from './exposures.ts'
import { expandFamilies, joinLists, nameFamily } from './families.ts'
import { ConfigError, type Env, type Rate, Reader } from './reader.ts'
import {
  addSavedSettings,
  readSettingsFile,
  type SavedSettings,
  settingsPath,
  writeSettingsFile,
} from './settings-file.ts'
import { type OAuthConfig, readOAuth, readSuperuser } from './sign-in.ts'
import { readSignUp, type SignUpConfig } from './sign-up.ts'
import { readTelemetry, type TelemetryConfig } from './telemetry.ts'

export type { VendorConfig } from './ai.ts'
export { exposures } from './exposures.ts'
export { ConfigError, type Env, type Rate } from './reader.ts'
export type { TracesConfig } from './telemetry.ts'

export type Part = 'api' | 'storefront' | 'worker'

export type Config = {
  /** The operator's name, pictures and links. The only setting that changes while the service runs. */
  brand: LiveBrand
  production: boolean
  debug: boolean
  logLevel: string
  telemetry: TelemetryConfig
  serve: ReadonlySet<Part>
  /** `trustProxy`: the number of proxies in front of the service, or their networks. */
  http: {
    host: string
    port: number
    storefrontPort: number
    trustProxy: false | number | readonly string[]
    /**
     * Maximum open connections of one address without a credential. Null: the default, which does
     * not count private addresses.
     */
    connectionsPerAddress: number | null | 'off'
  }
  urls: { base: string; frontend: string; storefront: string }
  /**
   * How long /readyz answers 503 before the ports close, and how long the shutdown then waits for
   * running requests.
   */
  drain: { delaySeconds: number; seconds: number }
  dataDir: string
  databaseUrl: string | null
  redisUrl: string | null
  /**
   * `on`: the sandbox is served. `open`: it answers hosts other than loopback. `url`: the address
   * that the service calls.
   */
  sandbox: { on: boolean; open: boolean; url: string }
  products: {
    location: string | null
    uploads: string
    s3: {
      endpoint: string | null
      region: string
      accessKeyId: string | null
      secretAccessKey: string | null
      sessionToken: string | null
    }
  }
  /** Location of uploaded files: a folder or `s3://bucket/prefix`; null: they are not stored. */
  originals: string | null
  /** False when the location above is the default in this node's DATA_DIR. */
  isOriginalsDirSet: boolean
  /** Plans with their grants, and products. */
  catalogue: Catalogue
  processor: ProcessorConfig
  ai: AiConfig
  /** `local` or `vendor:MODEL`, with `auto` and aliases resolved. */
  embedder: string
  /** Rewrites follow-up questions before documents are searched; null for none. */
  followUpModel: Route | null
  rerankModel: Route | null
  /** False: the service stores no conversations, and the app keeps them in the browser. */
  conversations: boolean
  oauth: OAuthConfig
  mail: {
    smtpUrl: string | null
    from: { name: string | null; address: string }
    supportEmail: string
    /** In security.txt: a mailto: or https: address. */
    securityContact: string
    sandboxed: boolean
  }
  limits: { general: Rate; ai: Rate; rag: Rate; auth: Rate; signup: Rate }
  signUp: SignUpConfig
  /** True when a plan grants nothing until the address is verified. */
  requireVerifiedEmail: boolean
  /** True when superusers need two-factor authentication for superuser functions. */
  requireSuperuserTwoFactor: boolean
  superuser: ReturnType<typeof readSuperuser>
  /** Address of the breached-password service; null: only the built-in list is used. */
  pwnedPasswordsUrl: string | null
  /** Tokens per user and month, for plans with such a budget. */
  budgets: ReadonlyMap<Tier, number>
  /** Days after which the retention job removes rows. */
  retention: {
    eventsDays: number
    usageDays: number
    auditDays: number
    downloadsDays: number
    contactDays: number
    /** Null: conversations are kept. */
    conversationsDays: number | null
  }
  /** Days for which a plan stays open after a failed payment. */
  pastDueGraceDays: number
  maxTextBytes: number
  maxFileBytes: number
  /** Memory for indexes of recently searched documents; null: an eighth of the machine's memory. */
  searchMemoryMb: number | null
  /** Maximum body of a request to a model, unpacked. */
  maxAiBodyBytes: number
  metricsToken: string | null
  geoipDb: string | null
  /** Encrypts the root of all secrets; null: the root is stored in plain text. */
  secretKey: string | null
  /** The previous key during a rotation. */
  secretKeyOld: string | null
}

/** In characters. 16 random characters have about 95 bits; the key is not stretched. */
export const SECRET_KEY_LENGTH_MIN = 16

/** Returns why the service cannot start, or null when all nodes use the same files. */
export function findOriginalsFault({
  databaseUrl,
  isOriginalsDirSet,
}: Pick<Config, 'databaseUrl' | 'isOriginalsDirSet'>): string | null {
  if (databaseUrl === null || isOriginalsDirSet) return null
  return 'ORIGINALS_DIR is not set: with DATABASE_URL several nodes may serve, and each needs the files that users upload. Set it to s3://bucket/prefix, to a folder that all nodes share (of this machine, if it is the only one), or to off'
}

/**
 * Reads settings from the environment, from `.env` in the working directory and from the settings
 * that the setup page saved, in this order of precedence. `for`: `service` needs all settings, a `command` no ORIGINALS_DIR; `look` is
 * for commands that report what is missing. `changes` replace settings of those names. @throws
 * ConfigError with one line that names the wrong setting.
 */
export function configFromProcess({
  for: use,
  changes = {},
}: {
  for: 'service' | 'command' | 'look'
  changes?: Env
}): Config {
  const env = { ...processEnv(), ...changes }
  const config = readConfig(addSavedSettings(env, readSavedSettings(env, use)))
  const originalsFault = use === 'service' ? findOriginalsFault(config) : null
  if (originalsFault !== null) throw new ConfigError(originalsFault)
  if (!config.production || use === 'look') return config
  if (config.secretKey === null) {
    throw new ConfigError(
      'SECRET_KEY is not set: NODE_ENV=production requires it, so that a stolen database is useless (npm run -s cli -- secret)',
    )
  }
  if (config.secretKey.length < SECRET_KEY_LENGTH_MIN) {
    throw new ConfigError(
      `SECRET_KEY is shorter than ${SECRET_KEY_LENGTH_MIN} characters: an attacker with a copy of the database can guess it (npm run -s cli -- secret; this one goes into SECRET_KEY_OLD)`,
    )
  }
  return config
}

/**
 * Reads only the setting that `prices` needs, because a broken price list stops every other
 * command. @throws ConfigError
 */
export function priceFilesFromProcess(): PriceFiles {
  return priceFiles(processEnv())
}

export function priceFiles(env: Env): PriceFiles {
  const read = new Reader(env)
  return readPriceFiles(read, readDataDir(read))
}

/** Settings of commands that call a service over HTTP. @throws ConfigError */
export function clientSettingsFromProcess(): { url: string; apiKey: string | null } {
  const read = new Reader(processEnv())
  const url = read.url('LATCHKEY_URL', ['http:', 'https:'])
  return {
    url:
      url ??
      read.url('BASE_URL', ['http:', 'https:']) ??
      `http://localhost:${read.port('PORT', 8000)}`,
    apiKey: read.optional('LATCHKEY_API_KEY'),
  }
}

/** @throws ConfigError */
function readSavedSettings(env: Env, use: 'service' | 'command' | 'look'): SavedSettings {
  const read = new Reader(env)
  const dataDir = readDataDir(read)
  if (read.optional('DATABASE_URL') !== null) {
    // Several nodes may serve, and a file of one of them would give it other settings.
    if (use === 'service' && existsSync(settingsPath(dataDir))) {
      throw new ConfigError(
        `${settingsPath(dataDir)} does not apply with DATABASE_URL, because other nodes do not have it: set its settings in the environment (npm run -s cli -- settings prints them), and remove the file`,
      )
    }
    return {}
  }
  try {
    return readSettingsFile(dataDir, readSecretKeys(read)).saved
  } catch (error) {
    if (use === 'look') return {}
    throw error
  }
}

/** Returns an undo, which writes the saved settings as they are now. */
export function rememberSavedSettings(): () => void {
  const env = processEnv()
  const saved = readSavedSettings(env, 'service')
  const read = new Reader(env)
  return () => writeSettingsFile(readDataDir(read), readSecretKeys(read), saved)
}

/** Returns the environment of this process with `.env`, without saved settings. */
export function processEnv(): Env {
  try {
    process.loadEnvFile()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new ConfigError(`.env cannot be read: ${(error as Error).message}`)
    }
  }
  return process.env
}

/** Returns the environment of a child process: this process's, with changes. */
export function childEnv(changes: Env): Env {
  return { ...process.env, ...changes }
}

/**
 * Returns true when a failed start should print its stack. Works even when other settings are
 * wrong.
 */
export function wantsDetails(): boolean {
  return process.env.LOG_LEVEL === 'debug'
}

function readOriginals(read: Reader, dataDir: string): string | null {
  const location = read.text('ORIGINALS_DIR', join(dataDir, 'originals'))
  if (location === 'off') return null
  return location.startsWith('s3://') ? location : resolve(location)
}

const readDataDir = (read: Reader) => resolve(read.text('DATA_DIR', './data'))

/** @throws ConfigError with one line that names the wrong setting. */
export function readConfig(env: Env): Config {
  try {
    return readSettings(env)
  } catch (error) {
    throw nameFamily(env, error)
  }
}

function readSettings(env: Env): Config {
  const read = new Reader(joinLists(expandFamilies(env)))

  const nodeEnv = read.oneOf('NODE_ENV', ['development', 'production', 'test'], 'development')
  const production = nodeEnv === 'production'

  const sandboxSetting = read.oneOf('SANDBOX', ['auto', 'on', 'off'], 'auto')
  if (sandboxSetting === 'on' && production) {
    throw new ConfigError(
      'SANDBOX=on is refused with NODE_ENV=production: the sandbox shows all email and accepts fake payments from anyone',
    )
  }
  const host = read.text('HOST', '127.0.0.1')
  const port = read.port('PORT', 8000)
  const storefrontPort = read.port('STOREFRONT_PORT', 8001)
  const base = read.url('BASE_URL', ['http:', 'https:']) ?? `http://localhost:${port}`
  const urls = {
    base,
    frontend: read.url('FRONTEND_URL', ['http:', 'https:']) ?? base,
    storefront:
      read.url('STOREFRONT_URL', ['http:', 'https:']) ?? `http://localhost:${storefrontPort}`,
  }
  if (
    port === storefrontPort &&
    port !== 0 &&
    new URL(urls.base).host === new URL(urls.storefront).host
  ) {
    throw new ConfigError(
      'STOREFRONT_URL and BASE_URL name the same host on one port: give them different hosts, or STOREFRONT_PORT another port',
    )
  }

  const serve = new Set(
    read.list('SERVE', ['api', 'storefront', 'worker'] as const, ['api', 'storefront', 'worker']),
  )
  const sandbox = {
    // A public address means that this is not a trial on a laptop.
    on: sandboxSetting === 'on' || (sandboxSetting === 'auto' && !production && isLocal(urls)),
    open: sandboxSetting === 'on',
    // Uses the listening address, not the public one; when another process serves the API, `PORT`
    // is not its port.
    url: serve.has('api') ? `http://127.0.0.1:${port}/sandbox` : `${base}/sandbox`,
  }

  const productName = read.matching(
    'PRODUCT_NAME',
    /^[a-z0-9][a-z0-9._-]{0,63}$/i,
    'letters, digits, dots, dashes',
    'latchkey',
  )
  const databaseUrl = readDatabaseUrl(read)
  const processor = readProcessor(read, sandbox.on, sandbox.url)
  const catalogue = readCatalogue(read, processor.sandboxed)
  const uncoded = catalogue.products.findIndex(({ taxCode }) => taxCode === null)
  if (processor.tax.by === 'managed' && catalogue.productsPath !== null && uncoded >= 0) {
    throw new ConfigError(
      `TAX=managed needs the tax code of every product: products[${uncoded}].tax_code of CATALOGUE is missing`,
    )
  }
  const dataDir = readDataDir(read)
  const ai = readAi(read, sandbox.on, sandbox.url, catalogue, dataDir)
  const required = read.list('REQUIRE', ['verified_email', 'superuser_two_factor'], [])
  refuseStrayPlans(env, catalogue)

  return deepFreeze({
    brand: readBrand(read, productName, urls.base),
    production,
    debug: read.flag('DEBUG', !production),
    logLevel: read.oneOf(
      'LOG_LEVEL',
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'info',
    ),
    telemetry: readTelemetry(read, version),
    serve,
    http: {
      host,
      port,
      storefrontPort,
      trustProxy: readTrustProxy(read),
      connectionsPerAddress:
        read.optional('CONNECTIONS_PER_ADDRESS') === 'off'
          ? 'off'
          : read.count('CONNECTIONS_PER_ADDRESS'),
    },
    urls,
    drain: {
      delaySeconds: read.seconds('DRAIN_DELAY_SECONDS', production ? 5 : 0),
      seconds: read.seconds('DRAIN_SECONDS', 30),
    },
    dataDir,
    databaseUrl,
    redisUrl: read.url('REDIS_URL', ['redis:', 'rediss:']),
    sandbox,
    products: {
      location: read.optional('PRODUCTS_DIR'),
      uploads: join(dataDir, 'products'),
      s3: {
        endpoint: read.url('S3_ENDPOINT', ['http:', 'https:']),
        region: read.optional('AWS_REGION') ?? read.optional('AWS_DEFAULT_REGION') ?? 'us-east-1',
        accessKeyId: read.optional('AWS_ACCESS_KEY_ID'),
        secretAccessKey: read.optional('AWS_SECRET_ACCESS_KEY'),
        sessionToken: read.optional('AWS_SESSION_TOKEN'),
      },
    },
    originals: readOriginals(read, dataDir),
    isOriginalsDirSet: read.optional('ORIGINALS_DIR') !== null,
    catalogue,
    processor: { ...processor, prices: indexPrices(catalogue) },
    ai,
    embedder: readEmbedder(read, ai),
    followUpModel: readModel(read, 'FOLLOW_UP_MODEL', ai),
    rerankModel: readReranker(read, ai),
    conversations: read.oneOf('CONVERSATIONS', ['on', 'off'], 'on') === 'on',
    // With real email, the sandboxed sign-in providers would confirm other people's addresses.
    oauth: readOAuth(read, sandbox.on && read.optional('SMTP_URL') === null, sandbox.url),
    mail: readMail(read, sandbox.on, urls.base),
    limits: {
      general: read.rate('RATE_LIMIT_GENERAL', '100/60'),
      ai: read.rate('RATE_LIMIT_AI', '30/60'),
      rag: read.rate('RATE_LIMIT_RAG', '60/60'),
      auth: read.rate('RATE_LIMIT_AUTH', '10/60'),
      signup: read.rate('RATE_LIMIT_SIGNUP', '10/3600'),
    },
    signUp: readSignUp(read),
    requireVerifiedEmail: required.includes('verified_email'),
    requireSuperuserTwoFactor: required.includes('superuser_two_factor'),
    superuser: readSuperuser(read),
    pwnedPasswordsUrl: read.url('PWNED_PASSWORDS_URL', ['http:', 'https:']),
    budgets: readBudgets(read, catalogue),
    retention: readRetention(read),
    pastDueGraceDays: read.days('PAST_DUE_GRACE_DAYS', 14),
    maxTextBytes: read.positive('MAX_TEXT_MB', 64) * 1024 * 1024,
    maxFileBytes: read.positive('MAX_FILE_MB', 25) * 1024 * 1024,
    searchMemoryMb: read.count('SEARCH_MEMORY_MB'),
    maxAiBodyBytes: read.positive('MAX_AI_BODY_MB', 32) * 1024 * 1024,
    metricsToken: read.optional('METRICS_TOKEN'),
    geoipDb: read.optional('GEOIP_DB'),
    ...readSecretKeys(read),
  })
}

function readRetention(read: Reader): Config['retention'] {
  const days = read.numbers('RETENTION_DAYS', {
    // Budgets need the daily sums of the previous month.
    usage: { fallback: 400, min: 62 },
    events: { fallback: 90, min: 7 },
    audit: { fallback: 400, min: 30 },
    downloads: { fallback: 400, min: 7 },
    contact: { fallback: 730, min: 7 },
    conversations: { fallback: Number.POSITIVE_INFINITY, min: 1 },
  })
  return {
    usageDays: days.usage,
    eventsDays: days.events,
    auditDays: days.audit,
    downloadsDays: days.downloads,
    contactDays: days.contact,
    conversationsDays: Number.isFinite(days.conversations) ? days.conversations : null,
  }
}

function readMail(read: Reader, sandboxOn: boolean, base: string): Config['mail'] {
  const domain = new URL(base).hostname
  const smtpUrl = read.url('SMTP_URL', ['smtp:', 'smtps:'])
  const supportEmail = read.text('SUPPORT_EMAIL', `support@${domain}`)
  return {
    smtpUrl,
    from: readSender(read.text('MAIL_FROM', `no-reply@${domain}`)),
    supportEmail,
    securityContact:
      read.url('SECURITY_CONTACT', ['mailto:', 'https:']) ?? `mailto:${supportEmail}`,
    sandboxed: sandboxOn && smtpUrl === null,
  }
}

/** Reads `Name <address>`, or an address alone. */
function readSender(text: string): Config['mail']['from'] {
  const [, name = '', address = text] = /^(.*?)\s*<([^<>]+)>$/.exec(text) ?? []
  return { name: name.replace(/^"(.*)"$/, '$1') || null, address }
}

function readSecretKeys(read: Reader): Pick<Config, 'secretKey' | 'secretKeyOld'> {
  const secretKey = read.optional('SECRET_KEY')
  const secretKeyOld = read.optional('SECRET_KEY_OLD')
  if (secretKeyOld !== null && secretKey === null)
    throw new ConfigError('SECRET_KEY_OLD is set without SECRET_KEY')
  return { secretKey, secretKeyOld }
}

/**
 * Rejects trust in all proxies, because callers can forge the first addresses of X-Forwarded-For.
 */
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

/**
 * Returns true for an address, a network other than `/0`, or a name that the `proxy-addr` package
 * knows.
 */
function isNetwork(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return (
    bits === undefined ||
    (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
  )
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) deepFreeze(inner)
  }
  return value
}

/**
 * Rejects libpq's list of hosts, which Patroni and some clouds use. It is not a valid URL, and the
 * driver connects to one host.
 */
function readDatabaseUrl(read: Reader): string | null {
  const value = read.optional('DATABASE_URL')
  if (value !== null && /^postgres(?:ql)?:\/\/(?:[^/?#@]*@)?[^/?#@]*,/.test(value)) {
    throw new ConfigError(
      'DATABASE_URL names several hosts, and the service connects to one host: put a proxy or a DNS name before several',
    )
  }
  return read.url('DATABASE_URL', ['postgres:', 'postgresql:'])
}
