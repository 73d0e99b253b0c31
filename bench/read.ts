// Compares GET /api/auth/me with a bearer token with a bare node:http server that verifies the same
// token and reads the same row. The servers run in separate processes, take turns and get the same
// load. Targets: 0.7 of the bare server's requests per second, and 8 times those of better-auth's
// get-session, which returns the same information. Also compares one AI route with an API key and
// with a bearer token. Target: 0.9 of the bearer's rate.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { type LoadResult, load } from './lib/load.ts'
import { freePort, payingKey, type RunningService, signUp, startService } from './lib/service.ts'
import { printTable, quantile } from './lib/table.ts'
import { type Peer, startBetterAuth } from './peers/better-auth.ts'

export const description =
  'an authenticated read, compared with bare node:http with the same verification and SQLite read'

const ROUNDS = 5
const SECONDS = 4
const CONNECTIONS = 32

export async function run(): Promise<void> {
  const service = await startService({ RATE_LIMIT_GENERAL: 'off' })
  try {
    const { token, userId } = await signUp(service.url)
    const bare = await startBare(service, userId)
    const peer = await startBetterAuth()
    try {
      await measure(service.port, bare.port, token, peer)
      await measureKeys(service)
    } finally {
      peer.stop()
      bare.stop()
    }
  } finally {
    await service.stop()
  }
}

async function measure(servicePort: number, barePort: number, token: string, peer: Peer) {
  const once = (port: number, seconds: number) =>
    load({
      port,
      path: '/api/auth/me',
      headers: { authorization: `Bearer ${token}` },
      connections: CONNECTIONS,
      seconds,
    })
  const oncePeer = (seconds: number) =>
    load({
      port: peer.port,
      path: '/api/auth/get-session',
      headers: { cookie: peer.cookie },
      connections: CONNECTIONS,
      seconds,
    })
  await once(barePort, 1)
  await once(servicePort, 2)
  await oncePeer(1)

  const pairs: { bare: LoadResult; service: LoadResult; peer: LoadResult }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    pairs.push({
      bare: await once(barePort, SECONDS),
      service: await once(servicePort, SECONDS),
      peer: await oncePeer(SECONDS),
    })
  }
  printTable(
    `GET /api/auth/me, ${CONNECTIONS} connections, ${ROUNDS} alternating rounds of ${SECONDS} s, medians${formatErrors(pairs.flatMap((pair) => Object.values(pair)))}`,
    ['server', 'requests/s', 'p50 ms', 'p99 ms'],
    [
      row(
        'bare node:http',
        pairs.map((pair) => pair.bare),
      ),
      row(
        'Latchkey',
        pairs.map((pair) => pair.service),
      ),
      row(
        'better-auth 1.7.6, get-session',
        pairs.map((pair) => pair.peer),
      ),
    ],
  )
  const ratio = median(pairs.map(({ bare, service }) => service.perSecond / bare.perSecond))
  const lead = median(pairs.map((pair) => pair.service.perSecond / pair.peer.perSecond))
  console.log(
    `\n  Ratio, median of the pairs: ${ratio.toFixed(2)} (target: 0.70) ${ratio >= 0.7 ? 'ok' : 'FAILED'}`,
  )
  console.log(
    `  Lead over better-auth: ${lead.toFixed(1)} × (target: 8) ${lead >= 8 ? 'ok' : 'FAILED'}`,
  )
}

const AI_ROUTE = '/v1/models/gpt-4.1-mini'

async function measureKeys(service: RunningService) {
  const { token, key } = await payingKey(service)
  const once = (secret: string, seconds: number) =>
    load({
      port: service.port,
      path: AI_ROUTE,
      headers: { authorization: `Bearer ${secret}` },
      connections: CONNECTIONS,
      seconds,
    })
  await once(token, 1)
  await once(key, 1)
  const pairs: { bearer: LoadResult; key: LoadResult }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    pairs.push({ bearer: await once(token, SECONDS / 2), key: await once(key, SECONDS / 2) })
  }
  printTable(
    `GET ${AI_ROUTE}, ${CONNECTIONS} connections, ${ROUNDS} alternating rounds of ${SECONDS / 2} s, medians${formatErrors(pairs.flatMap((pair) => Object.values(pair)))}`,
    ['credential', 'requests/s', 'p50 ms', 'p99 ms'],
    [
      row(
        'bearer (JWT)',
        pairs.map((pair) => pair.bearer),
      ),
      row(
        'API key',
        pairs.map((pair) => pair.key),
      ),
    ],
  )
  const ratio = median(pairs.map(({ bearer, key }) => key.perSecond / bearer.perSecond))
  console.log(
    `\n  Ratio, median of the pairs: ${ratio.toFixed(2)} (target: 0.90) ${ratio >= 0.9 ? 'ok' : 'FAILED'}`,
  )
}

export async function startBare(
  service: RunningService,
  userId: string,
): Promise<{ port: number; stop(): void }> {
  const port = await freePort()
  const child = spawn(
    process.execPath,
    [
      join(import.meta.dirname, 'read', 'bare.ts'),
      String(port),
      join(service.dataDir, 'latchkey.db'),
      service.url,
      userId,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  await new Promise((resolve, reject) =>
    child.stdout
      .once('data', resolve)
      .once('end', () => reject(new Error('the bare server did not start'))),
  )
  return { port, stop: () => void child.kill() }
}

const row = (name: string, results: LoadResult[]) => [
  name,
  Math.round(median(results.map((result) => result.perSecond))),
  median(results.map((result) => result.p50Ms)).toFixed(2),
  median(results.map((result) => result.p99Ms)).toFixed(2),
]

const formatErrors = (results: LoadResult[]) => {
  const errors = results.reduce((sum, result) => sum + result.errors, 0)
  return errors > 0 ? `, ${errors} ERRORS` : ''
}

function median(values: number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  )
}
