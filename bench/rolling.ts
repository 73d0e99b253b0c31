// Three nodes on one PostgreSQL and one Redis, behind a balancer that checks /readyz twice a second
// and retries no request. Each node is replaced in turn under load; then one is killed every
// fifteen seconds. Targets: replacing a node fails no request, cuts no stream and takes under 10 s;
// killing loses and duplicates nothing. Needs Debian's PostgreSQL and Redis.
import { setTimeout as sleep } from 'node:timers/promises'
import { type MailServer, startMailServer } from '#testing/mail-server.ts'
import { hasPostgres, hasRedis, startPostgres, startRedis } from './faults/servers.ts'
import {
  createCustomer,
  inspect,
  type Place,
  startTraffic,
  type Traffic,
} from './faults/traffic.ts'
import { type RunningService, startService } from './lib/service.ts'
import { printTable } from './lib/table.ts'

export const description =
  'three nodes replaced one by one, then killed every 15 s, behind a balancer without retries'

const NODES = 3
const CLIENTS = 6
const LOOK_MS = 500
const DRAIN_DELAY_S = 3
const REQUESTS_MIN = 2_000
const KILL_EVERY_MS = 15_000
const NODE_MS_MAX = 10_000

/** `npm run bench -- rolling [SECONDS]`: the duration of the kills. */
export async function run([seconds = '180']: string[]): Promise<void> {
  if (!hasPostgres() || !hasRedis()) {
    console.log('Debian’s postgresql and redis-server are not installed.')
    return
  }
  const [postgres, redis, mail] = [
    await startPostgres(),
    await startRedis(),
    await startMailServer(),
  ]
  const env = {
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    SMTP_URL: mail.url,
    SANDBOX: 'on',
    BASE_URL: 'http://127.0.0.1:8000',
    DRAIN: `delay_s=${DRAIN_DELAY_S}`,
    LOG_LEVEL: 'fatal',
    RATE_LIMIT_GENERAL: 'off',
    RATE_LIMIT_AI: 'off',
    RATE_LIMIT_RAG: 'off',
    RATE_LIMIT_AUTH: 'off',
    SIGNUP_PROOF: 'off',
  }
  const nodes: RunningService[] = []
  const balancer = balance(nodes)
  try {
    for (let n = 0; n < NODES; n++) nodes.push(await startService(env))
    await balancer.look()
    const place: Place = { urls: balancer.ready, query: postgres.query }
    const { token } = await createCustomer(place)
    const wrong = [
      ...(await replaced(place, token, nodes, env)),
      ...(await killed(place, token, { nodes, env, mail, forMs: Number(seconds) * 1_000 })),
    ]
    for (const fault of wrong.slice(0, 20)) console.log(`  ${fault}`)
    if (wrong.length > 0) process.exitCode = 1
  } finally {
    balancer.end()
    for (const node of nodes) await node.stop()
    await mail.stop()
    await redis.end()
    await postgres.end()
  }
}

/** Tracks the addresses of the nodes whose last /readyz check succeeded. */
function balance(nodes: readonly RunningService[]) {
  let ready: string[] = []
  const look = async () => {
    const checks = nodes.map(({ url }) =>
      fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
        async (reply) => {
          await reply.text()
          return reply.ok ? [url] : []
        },
        () => [],
      ),
    )
    const found = (await Promise.all(checks)).flat()
    if (found.length > 0) ready = found
  }
  const timer = setInterval(() => void look(), LOOK_MS)
  return { look, ready: () => ready, end: () => clearInterval(timer) }
}

type Env = Record<string, string>

async function replaced(
  place: Place,
  token: string,
  nodes: RunningService[],
  env: Env,
): Promise<string[]> {
  const traffic = startTraffic(place, token, CLIENTS)
  const tookMs: number[] = []
  for (let turn = 0; turn < NODES || countRequests(traffic) < REQUESTS_MIN; turn++) {
    const index = turn % NODES
    const old = nodes[index]
    if (!old) break
    const fresh = await startService(env)
    // The balancer sees the new node before the old one stops.
    await sleep(2 * LOOK_MS)
    const begun = performance.now()
    const gone = new Promise((resolve) => old.child.once('exit', resolve))
    old.child.kill('SIGTERM')
    nodes.push(fresh)
    await gone
    tookMs.push(Math.round(performance.now() - begun))
    nodes.splice(index, 1)
  }
  await traffic.stop()
  const { journal } = traffic
  const noticed = journal.answers.get(503) ?? 0
  const slow = tookMs.filter((ms) => ms > NODE_MS_MAX)
  const wrong = [
    ...journal.unanswered.map((what) => `no answer: ${what}`),
    ...journal.wrong,
    ...(noticed > 0 ? [`${noticed} requests were rejected`] : []),
    ...slow.map((ms) => `a node took ${ms} ms to stop`),
    ...(await inspect(place, journal, token)),
  ]
  const failed = journal.unanswered.length + journal.wrong.length + noticed
  printTable(
    `${tookMs.length} nodes replaced under load, without retries`,
    ['requests', 'failed', 'complete calls', 'ms per node', 'faults'],
    [[countRequests(traffic), failed, journal.calls.length, tookMs.join(', '), wrong.length]],
  )
  return wrong
}

async function killed(
  place: Place,
  token: string,
  {
    nodes,
    env,
    mail,
    forMs,
  }: { nodes: RunningService[]; env: Env; mail: MailServer; forMs: number },
): Promise<string[]> {
  const traffic = startTraffic(place, token, CLIENTS)
  const end = performance.now() + forMs
  let kills = 0
  while (performance.now() < end) {
    await sleep(KILL_EVERY_MS)
    const index = kills++ % NODES
    const old = nodes[index]
    if (!old) break
    old.child.kill('SIGKILL')
    nodes.splice(index, 1, await startService(env))
  }
  await traffic.stop()
  const { journal } = traffic
  const missing = () => journal.registered.filter((email) => !mail.to.includes(email))
  // An email whose sender was killed waits for its lease to expire.
  for (let tries = 0; tries < 60 && missing().length > 0; tries++) await sleep(1_000)
  const own = mail.to.filter((to) => to.startsWith('fault-'))
  const twice = own.length - new Set(own).size
  const wrong = [
    ...(await inspect(place, journal, token)),
    ...missing().map((email) => `the email to ${email} never arrived`),
    ...(twice > 0 ? [`${twice} emails arrived twice`] : []),
  ]
  printTable(
    `${kills} kills, one every ${KILL_EVERY_MS / 1_000} s`,
    ['requests', 'interrupted', 'accounts', 'documents', 'calls', 'emails', 'lost or duplicate'],
    [
      [
        countRequests(traffic),
        journal.unanswered.length,
        journal.registered.length,
        journal.documents.length,
        journal.calls.length,
        own.length,
        wrong.length,
      ],
    ],
  )
  return wrong
}

const countRequests = ({ journal }: Traffic) =>
  [...journal.answers.values()].reduce((sum, count) => sum + count, 0)
