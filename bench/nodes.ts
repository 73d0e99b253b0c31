/**
 * Compares two processes on one PostgreSQL with one process: an authenticated read, and a call
 * through the gateway to a vendor that answers at once. They take turns in one run. Target: 1.6
 * times the requests, which needs cores for both beside PostgreSQL and the load. On fewer cores,
 * the requests per CPU second of the service predict the result: they fall when the processes slow
 * each other. Needs Debian's PostgreSQL.
 */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { hasPostgres, startPostgres } from './faults/servers.ts'
import { createCustomer } from './faults/traffic.ts'
import { load } from './lib/load.ts'
import { freePort, type RunningService, startService } from './lib/service.ts'
import { printTable, quantile } from './lib/table.ts'

export const description =
  'two processes compared with one on the same PostgreSQL: requests per second and per CPU second'

const ROUNDS = 5
const SECONDS = 4
/** Connections per process. Fewer would make its batches smaller and each call more expensive. */
const CONNECTIONS = 16
/**
 * Minimum requests per CPU second of two processes relative to one: 0.8 twice is 1.6 times the
 * requests.
 */
const EFFICIENCY_MIN = 0.8

type Route = { name: string; path: string; headers: Record<string, string>; body?: string }
type Turn = { perSecond: number; perCpuSecond: number; p99Ms: number; errors: number }

/** `npm run bench -- nodes [SECONDS]`: the duration of each turn. */
export async function run([seconds = String(SECONDS)]: string[]): Promise<void> {
  if (!hasPostgres()) {
    console.log('Debian’s postgresql is not installed.')
    return
  }
  const postgres = await startPostgres()
  const vendorPort = await freePort()
  const vendor = spawn(
    process.execPath,
    [join(import.meta.dirname, 'gateway/mock.ts'), String(vendorPort)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  await new Promise((resolve) => vendor.stdout.once('data', resolve))
  const env = {
    DATABASE_URL: postgres.url,
    RATE_LIMIT_GENERAL: 'off',
    RATE_LIMIT_AI: 'off',
    RATE_LIMIT_AUTH: 'off',
    OPENAI_BASE_URL: `http://127.0.0.1:${vendorPort}/v1`,
    OPENAI_API_KEY: 'sk-bench',
    SIGNUP_PROOF: 'off',
    // Each node must accept the tokens of the other.
    BASE_URL: 'http://127.0.0.1:8000',
  }
  const nodes: RunningService[] = []
  try {
    for (let n = 0; n < 2; n++) nodes.push(await startService(env))
    const { token } = await createCustomer({
      urls: () => nodes.map(({ url }) => url),
      query: postgres.query,
    })
    const bearer = { authorization: `Bearer ${token}` }
    const body = JSON.stringify({
      model: 'gpt-4.1-mini',
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 20,
    })
    const routes: Route[] = [
      { name: 'me', path: '/api/auth/me', headers: bearer },
      { name: 'chat', path: '/api/ai/chat', headers: bearer, body },
    ]
    for (const route of routes) print(route.name, await inTurns(nodes, route, Number(seconds)))
  } finally {
    for (const node of nodes) await node.stop()
    vendor.kill()
    await postgres.end()
  }
}

async function inTurns(nodes: readonly RunningService[], route: Route, seconds: number) {
  await turn(nodes, route, 2)
  const rounds: { one: Turn; two: Turn }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    // The nodes alternate as the single process.
    const alone = nodes.slice(round % 2, (round % 2) + 1)
    rounds.push({ one: await turn(alone, route, seconds), two: await turn(nodes, route, seconds) })
  }
  return rounds
}

async function turn(
  nodes: readonly RunningService[],
  { path, headers, body }: Route,
  seconds: number,
): Promise<Turn> {
  const before = nodes.map((node) => node.cpuMs())
  const results = await Promise.all(
    nodes.map(({ port }) =>
      load({ port, path, headers, ...(body && { body }), connections: CONNECTIONS, seconds }),
    ),
  )
  const cpuMs = nodes.reduce((sum, node, index) => sum + node.cpuMs() - (before[index] ?? 0), 0)
  const requests = results.reduce((sum, result) => sum + result.requests, 0)
  return {
    perSecond: results.reduce((sum, result) => sum + result.perSecond, 0),
    perCpuSecond: (requests / cpuMs) * 1_000,
    p99Ms: Math.max(...results.map((result) => result.p99Ms)),
    errors: results.reduce((sum, result) => sum + result.errors, 0),
  }
}

function print(name: string, rounds: readonly { one: Turn; two: Turn }[]): void {
  const whole = (value: number) => String(Math.round(value))
  printTable(
    `${name}, ${CONNECTIONS} connections per process, ${availableParallelism()} cores for services, PostgreSQL, vendor and load`,
    [
      'round',
      'one, req/s',
      'two, req/s',
      'ratio',
      'one, req/CPU s',
      'two, req/CPU s',
      'ratio',
      'p99 one',
      'p99 two',
      'errors',
    ],
    rounds.map(({ one, two }, index) => [
      index + 1,
      whole(one.perSecond),
      whole(two.perSecond),
      (two.perSecond / one.perSecond).toFixed(2),
      whole(one.perCpuSecond),
      whole(two.perCpuSecond),
      (two.perCpuSecond / one.perCpuSecond).toFixed(2),
      one.p99Ms.toFixed(0),
      two.p99Ms.toFixed(0),
      one.errors + two.errors,
    ]),
  )
  const median = (of: (round: { one: Turn; two: Turn }) => number) =>
    quantile(
      rounds.map(of).sort((a, b) => a - b),
      0.5,
    )
  const wall = median(({ one, two }) => two.perSecond / one.perSecond)
  const efficiency = median(({ one, two }) => two.perCpuSecond / one.perCpuSecond)
  const errors = rounds.reduce((sum, { one, two }) => sum + one.errors + two.errors, 0)
  const verdict = (holds: boolean) => (holds && errors === 0 ? 'ok' : 'FAILED')
  console.log(
    `\n  ${name}: ${wall.toFixed(2)} times the requests (target: 1.6) ${verdict(wall >= 1.6)}`,
  )
  console.log(
    `  ${name}: ${efficiency.toFixed(2)} of the requests per CPU second of one process (target: ${EFFICIENCY_MIN}) ${verdict(efficiency >= EFFICIENCY_MIN)}`,
  )
}
