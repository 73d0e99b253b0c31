// Tests whether response times reveal which accounts exist: known and unknown addresses in random
// order, one at a time, at every endpoint whose reply does not reveal it. Reports only: on a noisy
// machine the tests can show a false difference or hide a true one.
import { signUp, startService } from './lib/service.ts'
import { printTable, quantile } from './lib/table.ts'
import { compare } from './timing/samples.ts'

export const description =
  'whether response times reveal accounts: two-sample tests at each endpoint'

const TRIES = 2_000
/** An address gets five emails an hour. Later requests would measure another code path. */
const TRIES_PER_ADDRESS = 4
/** Significance level for three endpoints with two tests each. */
const LEVEL = 0.01

type Endpoint = { path: string; status: number; body: (email: string) => object }

const ENDPOINTS: Endpoint[] = [
  {
    path: '/api/auth/login',
    status: 401,
    body: (email) => ({ email, password: 'a wrong password' }),
  },
  { path: '/api/auth/forgot-password', status: 200, body: (email) => ({ email }) },
  { path: '/api/auth/resend-verification', status: 200, body: (email) => ({ email }) },
]

/** `npm run bench -- timing [TRIES]`: tries per endpoint. */
export async function run([tries = String(TRIES)]: string[]): Promise<void> {
  const service = await startService({ RATE_LIMIT_GENERAL: 'off', RATE_LIMIT_AUTH: 'off' })
  try {
    const count = Math.ceil(Number(tries) / 2 / TRIES_PER_ADDRESS)
    const known: string[] = []
    for (let index = 0; index < count; index++) {
      // Registration emails count towards the limit, so each endpoint gets enough addresses.
      known.push((await signUp(service.url, `known-${index}@example.com`)).email)
    }
    const unknown = known.map((email) => email.replace('known', 'other'))
    const rows: (string | number)[][] = []
    const verdicts: string[] = []
    for (const endpoint of ENDPOINTS) {
      const samples = await sample(service.url, endpoint, { known, unknown }, Number(tries))
      for (const kind of ['known', 'unknown'] as const) {
        const sorted = samples[kind].toSorted((a, b) => a - b)
        rows.push([
          endpoint.path,
          kind,
          sorted.length,
          quantile(sorted, 0.5).toFixed(3),
          quantile(sorted, 0.9).toFixed(3),
          quantile(sorted, 0.99).toFixed(3),
        ])
      }
      verdicts.push(formatVerdict(endpoint, samples))
    }
    printTable(
      `Known and unknown addresses, ${tries} tries per endpoint, one at a time in random order`,
      ['endpoint', 'address', 'tries', 'median ms', 'p90 ms', 'p99 ms'],
      rows,
    )
    console.log(`\n${verdicts.join('\n')}`)
    console.log(
      '  /api/auth/register: its reply reveals accounts (400 `Email already registered`), so its time is not compared',
    )
  } finally {
    await service.stop()
  }
}

type Samples = { known: number[]; unknown: number[] }

async function sample(
  url: string,
  { path, status, body }: Endpoint,
  addresses: { known: string[]; unknown: string[] },
  tries: number,
): Promise<Samples> {
  const samples: Samples = { known: [], unknown: [] }
  const half = Math.floor(tries / 2)
  while (samples.known.length < half || samples.unknown.length < half) {
    const isKnown =
      samples.known.length >= half
        ? false
        : samples.unknown.length >= half
          ? true
          : Math.random() < 0.5
    const kind = isKnown ? 'known' : 'unknown'
    const pool = addresses[kind]
    const email = pool[samples[kind].length % pool.length] ?? ''
    const startedMs = performance.now()
    const reply = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body(email)),
    })
    await reply.arrayBuffer()
    if (reply.status !== status) throw new Error(`${path} answered ${reply.status}`)
    samples[kind].push(performance.now() - startedMs)
  }
  return samples
}

function formatVerdict({ path }: Endpoint, { known, unknown }: Samples): string {
  const { differenceMs, t, z, p } = compare(known, unknown)
  const says =
    p < LEVEL
      ? `significant: chance causes such a difference once in ${Math.round(1 / p).toLocaleString('en')} runs`
      : 'no significant difference'
  return `  ${path}: medians differ by ${(differenceMs * 1_000).toFixed(0)} µs; Welch's t = ${t.toFixed(2)}, Mann–Whitney z = ${z.toFixed(2)}, p = ${p.toFixed(3)}: ${says}`
}
