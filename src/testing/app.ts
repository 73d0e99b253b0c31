// Starts the whole service for a test: on real ports, with a real database and the sandbox as the
// external services. Jobs run when a test calls `settle` (or reads mail), so a test can observe the
// states between.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { migrations } from '#app/migrations.ts'
import { createService, type Service } from '#app/service.ts'
import { type Config, readConfig } from '#config/config.ts'
import { addSavedSettings, readSettingsFile } from '#config/settings-file.ts'
import { createHasher } from '#identity/passwords/hasher.ts'
import { findUserByEmail, updateUser } from '#identity/users.ts'
import { movableClock } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { Host } from '#setup/saved-settings.ts'
import { type FreshDatabase, migratedDatabase } from './database.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read bodies without declaring their types.
export type Reply = { status: number; headers: Headers; body: any; text: string }
export type RequestOptions = {
  body?: unknown
  headers?: Record<string, string>
  redirect?: 'manual' | 'follow' | 'error'
  signal?: AbortSignal
}
export type SandboxMail = {
  id: string
  to: string
  subject: string
  text: string
  html: string
  links: string[]
  at: string
}
export type Client = ReturnType<typeof createClient>
export type TestApp = Awaited<ReturnType<typeof testApp>>

export const PASSWORD = 'correct horse battery'

/**
 * One for all services of the process, so that its threads start once; and of no strength, so that
 * a sign-in costs nothing.
 */
const hasher = {
  ...createHasher({ parameters: { memory: 8, passes: 1, parallelism: 1 } }),
  close: async () => {},
}

/**
 * Starts a service of the test's own and stops it with the test. Limits are off unless `env` sets
 * them.
 */
export async function testApp(
  t: Pick<TestContext, 'after'>,
  options: {
    env?: Record<string, string>
    userApp?: boolean
    worker?: boolean
    /** Hashes as in production, on separate threads. */
    fullHashing?: boolean
    /**
     * A folder, and a database, that an earlier process left; nothing of them is removed
     * afterwards.
     */
    onData?: { dataDir: string; databaseUrl: string | null }
    /** Reads what the service logs. */
    log?: Log
    /** Puts something between the service and its PostgreSQL; not asked on SQLite. */
    databaseThrough?: (url: string) => Promise<string>
  } = {},
) {
  const { onData } = options
  const dataDir = onData?.dataDir ?? mkdtempSync(join(tmpdir(), 'latchkey-test-'))
  const database = onData
    ? { url: onData.databaseUrl, drop: async () => {} }
    : await migratedDatabase(dataDir, migrations)
  const databaseUrl =
    database.url === null ? '' : ((await options.databaseThrough?.(database.url)) ?? database.url)
  const clock = movableClock()
  const create = (config: Config, host: Host) =>
    createService(config, {
      host,
      ...(options.fullHashing ? {} : { hasher: { ...hasher } }),
      clock,
      log: options.log ?? pino({ level: config.logLevel }),
      userApp: options.userApp ?? false,
    })

  const signedIn = new Map<string, Promise<Client>>()
  const running: Running = { service: null, restart: Promise.resolve(), signedIn, isEnding: false }
  const started = await onFreePorts(async (port, storefrontPort) => {
    const env = {
      PORT: String(port),
      STOREFRONT_PORT: String(storefrontPort),
      DATA_DIR: dataDir,
      DATABASE_URL: databaseUrl,
      REDIS_URL: process.env.TEST_REDIS_URL
        ? `${process.env.TEST_REDIS_URL}?prefix=${basename(dataDir)}&timeout=5000`
        : '',
      SERVE: options.worker ? 'api,storefront,worker' : 'api,storefront',
      LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
      RATE_LIMIT_GENERAL: 'off',
      RATE_LIMIT_AI: 'off',
      RATE_LIMIT_RAG: 'off',
      RATE_LIMIT_AUTH: 'off',
      RATE_LIMIT_SIGNUP: 'off',
      ...options.env,
    }
    const config = readConfig(env)
    const host: Host = {
      env,
      restartFailure: null,
      restart() {
        if (running.isEnding) return
        running.restart = restartSaved(running, config, env, (next) => create(next, host))
      },
    }
    const service = await create(config, host)
    await service.listen().catch(async (error) => {
      await service.close(0)
      throw error
    })
    running.service = service
    return { config, host }
  })
  const { config, host } = started
  t.after(createEnd(running, database, onData ? null : dataDir))

  const url = `http://127.0.0.1:${config.http.port}`
  const storefrontUrl = `http://127.0.0.1:${config.http.storefrontPort}`
  const request = (method: string, path: string, requestOptions: RequestOptions = {}) =>
    call(url, method, path, requestOptions)

  const app = {
    url,
    storefrontUrl,
    get config() {
      return getService(running).platform.config
    },
    clock,
    dataDir,
    get platform() {
      return getService(running).platform
    },
    get service() {
      return getService(running)
    },
    request,
    get: (path: string, requestOptions?: RequestOptions) => request('GET', path, requestOptions),
    post: (path: string, body?: unknown, requestOptions?: RequestOptions) =>
      request('POST', path, { ...requestOptions, body }),
    /** Calls the storefront's server. */
    store: (method: string, path: string, requestOptions: RequestOptions = {}) =>
      call(storefrontUrl, method, path, requestOptions),

    /** A person with an account, signed in; the same name is the same person. */
    as(name: string, { tier, superuser = false }: Person = {}): Promise<Client> & ClientShortcuts {
      const key = `${name}:${tier ?? ''}:${superuser}`
      const known =
        signedIn.get(key) ?? signIn(url, getService(running).platform.db, { name, tier, superuser })
      signedIn.set(key, known)
      known.catch(() => signedIn.delete(key))
      return withShortcuts(known)
    },

    /** Runs all jobs that are due. */
    settle: () => getService(running).platform.jobs.drain(),

    /** Returns the emails for the address, newest first. */
    async mail(to: string): Promise<SandboxMail[]> {
      await getService(running).platform.jobs.drain()
      const reply = await request('GET', `/sandbox/mail.json?to=${encodeURIComponent(to)}`)
      return reply.body
    },

    /** Waits for the restart that the setup page asked for. */
    restarted: () => running.restart,

    /**
     * Stops the service and starts it again on the same data, as after a deployment; with other
     * settings, if they are given.
     */
    async restart(changes: Partial<Config> = {}) {
      await getService(running).close(1_000)
      running.service = await create({ ...config, ...changes }, host)
      await running.service.listen()
    },
  }
  return app
}

type Person = { tier?: string; superuser?: boolean }

/**
 * `restart`: ends with the last restart that the setup page asked for. `signedIn`: the sign-ins of
 * people, also those that no test has awaited.
 */
type Running = {
  service: Service | null
  restart: Promise<void>
  signedIn: Map<string, Promise<Client>>
  isEnding: boolean
}

/** Starts the service again with the settings that the setup page saved, as main.ts does. */
async function restartSaved(
  running: Running,
  config: Config,
  env: Record<string, string>,
  create: (config: Config) => Promise<Service>,
): Promise<void> {
  await getService(running).close(1_000)
  const { saved } = readSettingsFile(config.dataDir, config)
  running.service = await create(readConfig(addSavedSettings(env, saved)))
  await running.service.listen()
}

/** The runner keeps callbacks until all tests have run: references are released here. */
function createEnd(
  running: Running,
  database: FreshDatabase,
  dataDir: string | null,
): () => Promise<void> {
  return async () => {
    running.isEnding = true
    await running.restart
    await Promise.allSettled(running.signedIn.values())
    await running.service?.close(1_000)
    running.service = null
    await database.drop()
    if (dataDir !== null) rmSync(dataDir, { recursive: true, force: true })
  }
}

function getService({ service }: Running): Service {
  if (service === null) throw new Error('the service has ended with its test')
  return service
}

/** Registers the person where they are new, and signs them in. */
async function signIn(
  url: string,
  db: Db,
  { name, tier, superuser }: { name: string; tier: string | undefined; superuser: boolean },
): Promise<Client> {
  const email = `${name}@example.com`
  const registered = await call(url, 'POST', '/api/auth/register', {
    body: { email, password: PASSWORD, full_name: name },
  })
  if (registered.status !== 201 && registered.body?.code !== 'email_taken')
    throw new Error(`registering ${name}: ${registered.status} ${registered.text}`)
  if (tier || superuser) {
    await transaction(db, async (tx) => {
      const { id } = (await findUserByEmail(tx, email)) ?? { id: '' }
      const status: 'free' | 'active' = tier === 'free' ? 'free' : 'active'
      const change = {
        ...(tier && { subscription_tier: tier, subscription_status: status }),
        ...(superuser && { is_superuser: true }),
      }
      await updateUser(tx, id, change, new Date().toISOString())
    })
  }
  const token = await call(url, 'POST', '/api/auth/login', { body: { email, password: PASSWORD } })
  if (token.status !== 200) throw new Error(`signing ${name} in: ${token.status} ${token.text}`)
  return createClient(url, token.body.access_token, {
    email,
    userId: token.body.user.id,
    refreshToken: token.body.refresh_token,
  })
}

type ClientShortcuts = Pick<Client, 'get' | 'post' | 'patch' | 'delete'>

/** Lets a test write `await app.as('ada').get(…)`. */
function withShortcuts(client: Promise<Client>): Promise<Client> & ClientShortcuts {
  return Object.assign(
    client.then((value) => value),
    {
      get: async (path: string, options?: RequestOptions) => (await client).get(path, options),
      post: async (path: string, body?: unknown, options?: RequestOptions) =>
        (await client).post(path, body, options),
      patch: async (path: string, body?: unknown, options?: RequestOptions) =>
        (await client).patch(path, body, options),
      delete: async (path: string, body?: unknown, options?: RequestOptions) =>
        (await client).delete(path, body, options),
    },
  )
}

/** A client that sends `token` as the bearer. */
export function createClient(
  url: string,
  token: string,
  person: { email: string; userId: string; refreshToken: string },
) {
  const send = (method: string, path: string, options: RequestOptions = {}) =>
    call(url, method, path, {
      ...options,
      headers: { authorization: `Bearer ${token}`, ...options.headers },
    })
  return {
    ...person,
    token,
    request: send,
    get: (path: string, options?: RequestOptions) => send('GET', path, options),
    post: (path: string, body?: unknown, options?: RequestOptions) =>
      send('POST', path, { ...options, body }),
    patch: (path: string, body?: unknown, options?: RequestOptions) =>
      send('PATCH', path, { ...options, body }),
    delete: (path: string, body?: unknown, options?: RequestOptions) =>
      send('DELETE', path, { ...options, body }),
  }
}

/**
 * Sends one HTTP request. An object body is sent as JSON; a string, bytes or FormData unchanged.
 * Redirects are not followed.
 */
export async function call(
  url: string,
  method: string,
  path: string,
  { body, headers = {}, redirect = 'manual', signal }: RequestOptions = {},
): Promise<Reply> {
  const isPlain =
    body !== undefined &&
    !(body instanceof FormData) &&
    !(body instanceof URLSearchParams) &&
    !(body instanceof Uint8Array) &&
    typeof body !== 'string'
  const response = await fetch(`${url}${path}`, {
    method,
    redirect,
    headers: isPlain ? { 'content-type': 'application/json', ...headers } : headers,
    ...(body === undefined ? {} : { body: (isPlain ? JSON.stringify(body) : body) as string }),
    ...(signal ? { signal } : {}),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : null,
  }
}

/** Another program may take a port between check and use; then the next pair is tried. */
async function onFreePorts<T>(
  start: (port: number, storefrontPort: number) => Promise<T>,
  triesMax = 5,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const [port = 0, storefrontPort = 0] = await freePorts(2)
    try {
      return await start(port, storefrontPort)
    } catch (error) {
      if (tries === triesMax || !/is taken by another program/.test((error as Error).message))
        throw error
    }
  }
}

/**
 * Ports below the range from which operating systems choose ports of clients and of `listen(0)`. So
 * a service can restart on its ports: nobody takes them meanwhile by chance. `fetch` refuses 10080.
 */
const PORTS = { from: 11_000, to: 32_000 }

/** Returns ports that were free a moment ago. */
export function freePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, () => findFreePort()))
}

async function findFreePort(triesMax = 20): Promise<number> {
  for (let tries = 1; ; tries++) {
    const port = randomInt(PORTS.from, PORTS.to)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
      await new Promise((resolve) => server.close(resolve))
      return port
    } catch (error) {
      if (tries === triesMax) throw error
    }
  }
}
