// Measures sign-ins under heavy load: the share of the machine's Argon2 capacity that sign-ins get,
// and the slowdown of other requests. Targets: 0.9 of bare Argon2id hashes on all cores; p99 of
// other requests within 2× of p99 without load.
import { availableParallelism } from 'node:os'
import { type RunningService, signUp, startService } from './lib/service.ts'
import { printTable, quantile } from './lib/table.ts'
import { bareArgon2 } from './login/argon2.ts'
import { type Peer, startBetterAuth } from './peers/better-auth.ts'

export const description =
  'sign-ins per second compared with bare Argon2id, and other requests meanwhile'

const ROUNDS = 3
const SECONDS = 6
const PROBES_PER_SECOND = 50

type Post = { url: string; body: object; headers?: Record<string, string> }
type Get = { url: string; headers: Record<string, string> }
type Target = { name: string; login: Post; read: Get }

export async function run(): Promise<void> {
  const service = await startService({ RATE_LIMIT_GENERAL: 'off', RATE_LIMIT_AUTH: 'off' })
  const peer = await startBetterAuth()
  try {
    const person = await signUp(service.url)
    const ours = buildTarget(service, person)
    await throughput(ours, ofPeer(peer))
    await storm(ours, ofPeer(peer))
  } finally {
    peer.stop()
    await service.stop()
  }
}

function buildTarget(
  { url }: RunningService,
  { email, password, token }: Awaited<ReturnType<typeof signUp>>,
): Target {
  return {
    name: 'Latchkey',
    login: { url: `${url}/api/auth/login`, body: { email, password } },
    read: { url: `${url}/api/auth/me`, headers: { authorization: `Bearer ${token}` } },
  }
}

function ofPeer({ url, email, password, cookie }: Peer): Target {
  return {
    name: 'better-auth',
    login: {
      url: `${url}/api/auth/sign-in/email`,
      body: { email, password },
      headers: { origin: url },
    },
    read: { url: `${url}/api/auth/get-session`, headers: { cookie } },
  }
}

/** Bare hashes and sign-ins take turns, so that other load on the machine affects both. */
async function throughput(ours: Target, peer: Target) {
  const inFlight = 4 * availableParallelism()
  await logins(ours.login, inFlight, 1)
  const rounds: { bare: number; ours: number; peer: number }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({
      bare: await bareArgon2(SECONDS),
      ours: (await logins(ours.login, inFlight, SECONDS)).perSecond,
      peer: (await logins(peer.login, inFlight, SECONDS)).perSecond,
    })
  }
  const of = (pick: (round: (typeof rounds)[number]) => number) =>
    median(rounds.map(pick)).toFixed(1)
  printTable(
    `Sign-ins, ${inFlight} in flight, ${availableParallelism()} cores, ${ROUNDS} alternating rounds of ${SECONDS} s, medians`,
    ['measured', 'per second'],
    [
      ['Argon2id alone, 19 MiB, 2 passes, all cores', of((round) => round.bare)],
      [ours.name, of((round) => round.ours)],
      [`${peer.name} (scrypt, its default)`, of((round) => round.peer)],
    ],
  )
  const ratio = median(rounds.map((round) => round.ours / round.bare))
  console.log(
    `\n  Ratio, median of the pairs: ${ratio.toFixed(2)} (target: 0.90) ${ratio >= 0.9 ? 'ok' : 'FAILED'}`,
  )
}

async function storm(...targets: Target[]) {
  const inFlight = 16 * availableParallelism()
  const rows: (string | number)[][] = []
  let ratio = Number.NaN
  for (const target of targets) {
    const calm: number[] = []
    const wild: number[] = []
    await probe(target.read, 1)
    for (let round = 0; round < ROUNDS; round++) {
      calm.push(...(await probe(target.read, SECONDS)))
      const raging = logins(target.login, inFlight, SECONDS + 1)
      wild.push(...(await probe(target.read, SECONDS)))
      await raging
    }
    const [before, during] = [p99(calm), p99(wild)]
    if (target === targets[0]) ratio = during / before
    rows.push([
      target.name,
      before.toFixed(1),
      during.toFixed(1),
      `${(during / before).toFixed(1)} ×`,
    ])
  }
  printTable(
    `Other requests, ${PROBES_PER_SECOND} per second, while ${inFlight} sign-ins are in flight`,
    ['server', 'p99 ms without sign-ins', 'p99 ms with sign-ins', 'ratio'],
    rows,
  )
  console.log(`\n  Ratio: ${ratio.toFixed(1)} (target: at most 2) ${ratio <= 2 ? 'ok' : 'FAILED'}`)
}

async function logins({ url, body, headers }: Post, inFlight: number, seconds: number) {
  const startedMs = performance.now()
  const deadlineMs = startedMs + seconds * 1_000
  const text = JSON.stringify(body)
  let done = 0
  const sendLogins = async () => {
    while (performance.now() < deadlineMs) {
      const reply = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: text,
      })
      await reply.arrayBuffer()
      if (reply.status === 200) done++
      else if (reply.status !== 503) throw new Error(`${url} answered ${reply.status}`)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, sendLogins))
  return { perSecond: done / ((performance.now() - startedMs) / 1_000) }
}

/**
 * Sends at a fixed rate regardless of the answers, so that a stall delays every request that
 * arrives during it.
 */
async function probe({ url, headers }: Get, seconds: number): Promise<number[]> {
  const times: Promise<number>[] = []
  const startedMs = performance.now()
  for (let sent = 0; sent < seconds * PROBES_PER_SECOND; sent++) {
    const dueMs = startedMs + (sent * 1_000) / PROBES_PER_SECOND
    const leftMs = dueMs - performance.now()
    if (leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs))
    const sentMs = performance.now()
    times.push(
      fetch(url, { headers }).then(async (reply) => {
        await reply.arrayBuffer()
        if (reply.status !== 200) throw new Error(`${url} answered ${reply.status}`)
        return performance.now() - sentMs
      }),
    )
  }
  return Promise.all(times)
}

const p99 = (times: number[]) =>
  quantile(
    times.toSorted((a, b) => a - b),
    0.99,
  )

function median(values: number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  )
}
