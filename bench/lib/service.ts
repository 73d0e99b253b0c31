// Starts the measured service as `npm start` does, in a separate process on a temporary folder.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keyHash } from '#api-keys/keys.ts'
import { newSecret } from '#api-keys/secret.ts'
import { BUNDLE, isCurrent, USER_APP } from '#app/built.ts'
import { systemClock } from '#platform/clock.ts'
import { openDatabase } from '#platform/db/open.ts'
import { openSecrets } from '#platform/secrets.ts'
import '#identity/tables.ts'

export type RunningService = {
  url: string
  port: number
  storefrontPort: number
  dataDir: string
  child: ChildProcess
  /** Milliseconds from the spawn to the first successful /healthz. */
  startMs: number
  memoryMb(): number
  /** CPU milliseconds of all threads since the start. */
  cpuMs(): number
  stop(): Promise<void>
}

export const ROOT = join(import.meta.dirname, '..', '..')

export async function startService(
  env: Record<string, string> = {},
  keep: { dataDir?: string /** Another checkout. */; root?: string } = {},
): Promise<RunningService> {
  const dataDir = keep.dataDir ?? mkdtempSync(join(tmpdir(), 'latchkey-bench-'))
  const [port, storefrontPort] = [await freePort(), await freePort()]
  const root = keep.root ?? ROOT
  build()
  const started = performance.now()
  const child = spawn(process.execPath, ['--max-semi-space-size=8', join(root, 'latchkey.js')], {
    cwd: dataDir,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      PORT: String(port),
      STOREFRONT_PORT: String(storefrontPort),
      DATA_DIR: dataDir,
      LOG_LEVEL: 'error',
      ...(env.DATABASE_URL ? { ORIGINALS_DIR: 'off' } : {}),
      RATE_LIMIT_SIGNUP: 'off',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://127.0.0.1:${port}`
  await untilAlive(url, child)
  return {
    url,
    port,
    storefrontPort,
    dataDir,
    child,
    startMs: performance.now() - started,
    memoryMb: () =>
      Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) /
      1024,
    cpuMs() {
      // Fields 14 and 15 of proc(5), in hundredths of a second. The preceding name may contain
      // spaces.
      const fields =
        readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) * 10
    },
    async stop() {
      child.kill('SIGTERM')
      if (child.exitCode === null && child.signalCode === null)
        await new Promise((resolve) => child.once('exit', resolve))
      if (keep.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/**
 * Builds beforehand, as a release does. Otherwise the build would be part of the measured start.
 */
function build() {
  if (isCurrent(USER_APP) && isCurrent(BUNDLE)) return
  execFileSync(process.execPath, [join(ROOT, 'scripts', 'build.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

async function untilAlive(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + 60_000
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error('the service did not start')
    const alive = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(10_000) }).then(
      (response) => response.ok,
      () => false,
    )
    if (alive) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('the service did not answer within 60 s')
}

const givenPorts = new Set<number>()

/**
 * Returns a port that was not returned before, because the system may reuse a port once it is free.
 */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  if (givenPorts.has(port)) return freePort()
  givenPorts.add(port)
  return port
}

/** Limits the pool to the service's default size. */
export function withOwnPool(address: string): string {
  const url = new URL(address)
  url.searchParams.delete('max')
  return url.href
}

/** Registers a user. Returns an access token and the id. */
export async function signUp(
  url: string,
  email = `bench-${Date.now()}@example.com`,
): Promise<{ token: string; userId: string; email: string; password: string }> {
  const password = 'a long enough password'
  const json = (body: object) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  await fetch(`${url}/api/auth/register`, json({ email, password }))
  const reply = await fetch(`${url}/api/auth/login`, json({ email, password }))
  if (!reply.ok) throw new Error(`signing in failed: ${reply.status} ${await reply.text()}`)
  const body = (await reply.json()) as { access_token: string; user: { id: string } }
  return { token: body.access_token, userId: body.user.id, email, password }
}

/** Creates a user of the paid tier. Returns an access token and an API key. */
export async function payingKey(
  service: RunningService,
  databaseUrl: string | null = null,
): Promise<{ token: string; userId: string; key: string }> {
  const { url } = service
  const { token, userId } = await payingUser(service, databaseUrl)
  const reply = await fetch(`${url}/api/api-keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench' }),
  })
  if (reply.status !== 201)
    throw new Error(`creating a key failed: ${reply.status} ${await reply.text()}`)
  return { token, userId, key: ((await reply.json()) as { key: string }).key }
}

/**
 * Creates many users of the paid tier with an API key each: copies of one user, because hashing a
 * password costs as much as a hundred searches.
 */
export async function payingKeys(
  service: RunningService,
  databaseUrl: string | null,
  count: number,
): Promise<string[]> {
  const { userId, key } = await payingKey(service, databaseUrl)
  const { db, close } = openDatabase({ databaseUrl, dataDir: service.dataDir })
  const secrets = await openSecrets(
    { db, clock: systemClock },
    { secretKey: null, secretKeyOld: null },
    { isGuest: true },
  )
  const user = await db
    .selectFrom('users')
    .selectAll()
    .where('id', '=', userId)
    .executeTakeFirstOrThrow()
  const first = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  const keys = [key]
  while (keys.length < count) {
    const id = randomUUID()
    const secret = newSecret(id)
    const email = `copy-${id}@example.com`
    await db
      .insertInto('users')
      .values({ ...user, id, email })
      .execute()
    await db
      .insertInto('api_keys')
      .values({ ...first, id: randomUUID(), user_id: id, hash: keyHash({ secrets }, secret) })
      .execute()
    keys.push(secret)
  }
  await close()
  return keys
}

/** `databaseUrl`: the service's database; null when it is in its folder. */
export async function payingUser(
  { url, dataDir }: RunningService,
  databaseUrl: string | null = null,
) {
  const user = await signUp(url, `payer-${Date.now()}@example.com`)
  const { db, close } = openDatabase({ databaseUrl, dataDir })
  const paid = { subscription_tier: 'pro', subscription_status: 'active' } as const
  await db.updateTable('users').set(paid).where('id', '=', user.userId).execute()
  await close()
  // The service caches the session's user for a second.
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  return user
}
