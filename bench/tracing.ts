// Measures the CPU cost of tracing for a call through the gateway and an authenticated read.
// Compares this service without a collector, a copy without the tracing code, the same copy again,
// and this service with a collector. They take turns. Target: tracing costs less than 3 % when it
// is off. If two identical copies differ by more, the result is inconclusive.
import { type ChildProcess, spawn } from 'node:child_process'
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from './lib/load.ts'
import { computeInterval, computeNoise, judgeChange, pairedChange, percent } from './lib/paired.ts'
import { freePort, payingKey, ROOT, type RunningService, startService } from './lib/service.ts'
import { printTable, quantile } from './lib/table.ts'

export const description = 'CPU per request with tracing off, on, and without the tracing code'

/** Requests per round. Rounds are short, so that other load affects neighbouring rounds equally. */
const REQUESTS = 250
const ROUNDS = 40
const CONNECTIONS = 16
const WARM_UP = 10_000
/** The cost of enabled tracing is larger, so it needs fewer generations. */
const GENERATIONS_ON = 3
/** Ends a round only when a request hangs. */
const SECONDS_MAX = 30
const OFF_MAX = 0.03

/**
 * The tracing code on the hot path and its replacements. Each must occur the given number of times.
 */
const WITHOUT: { file: string; from: RegExp; to: string; times: number }[] = [
  {
    file: 'ai/call-record.ts',
    from: /this\.#span = deps\.tracer && startSpan\(deps\.tracer, call\)/g,
    to: 'this.#span = null; void startSpan',
    times: 1,
  },
  { file: 'ai/call-record.ts', from: / {4}this\.#span\?\.set\(\{[^}]*\}\)\n/g, to: '', times: 1 },
  { file: 'ai/call-record.ts', from: /\w+\.#span\?\.end\([^\n]*\)\n/g, to: '\n', times: 3 },
  {
    file: 'ai/vendors/exchange.ts',
    from: /const span =\n\s+tracing\?\.tracer\.start\([\s\S]*?\) \?\? null\n/g,
    to: '',
    times: 1,
  },
  { file: 'ai/vendors/exchange.ts', from: /span\?\.(?:end|set)\([^\n]*\)\n/g, to: '\n', times: 2 },
  { file: 'ai/vendors/exchange.ts', from: /\.\.\.\(span !== null[^\n]*\n/g, to: '\n', times: 1 },
]

type ArmOptions = { name: string; root: string; env?: Record<string, string> }
type Arm = { name: string; service: RunningService; key: string }
/** Two copies of the same code. */
const BARE = 'without the code'
const TWIN = 'the same copy again'

type Route = { name: string; path: string; body?: string }

const ROUTES: Route[] = [
  {
    name: 'chat',
    path: '/api/ai/chat',
    body: JSON.stringify({
      model: 'gpt-4.1-mini',
      messages: [{ role: 'user', content: 'Hello' }],
      max_tokens: 20,
    }),
  },
  { name: 'a model', path: '/v1/models/gpt-4.1-mini' },
]

type Took = ReadonlyMap<string, number[]>

/**
 * `npm run bench -- tracing [GENERATIONS]`: how often all processes restart, at least three times.
 */
export async function run([generations = '12']: string[]): Promise<void> {
  const [bare, whole] = [copySources(WITHOUT), copySources([])]
  const collector = createServer(
    (request, reply) => void request.resume().on('end', () => reply.end('{}')),
  )
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  const vendorPort = await freePort()
  const vendor: ChildProcess = spawn(
    process.execPath,
    [join(import.meta.dirname, 'gateway/mock.ts'), String(vendorPort)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  await new Promise((resolve) => vendor.stdout?.once('data', resolve))
  const on = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
  }
  const arms: ArmOptions[] = [
    { name: BARE, root: bare },
    { name: TWIN, root: bare },
    // Also a copy, so that only the code differs between the arms.
    { name: 'off', root: whole },
    {
      name: 'on, 1 of 100',
      root: whole,
      env: { ...on, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' },
    },
    { name: 'on, all', root: whole, env: on },
  ]
  const took = ROUTES.map((): Took[] => [])
  try {
    for (let generation = 0; generation < Number(generations); generation++) {
      const some =
        generation < GENERATIONS_ON ? arms : arms.filter(({ name }) => !name.startsWith('on'))
      const measured = await inTurns(some, vendorPort)
      for (const [n, one] of measured.entries()) took[n]?.push(one)
      console.log(`  generation ${generation + 1} of ${generations}`)
    }
  } finally {
    vendor.kill()
    collector.close()
    for (const root of [bare, whole]) rmSync(root, { recursive: true, force: true })
  }
  for (const [n, route] of ROUTES.entries()) print(route.name, took[n] ?? [])
}

const COPIED = ['src', 'latchkey.js', 'package.json']

/** Copies this checkout and applies `edits` to its sources. */
function copySources(edits: typeof WITHOUT): string {
  const root = mkdtempSync(join(tmpdir(), 'latchkey-untraced-'))
  for (const name of readdirSync(ROOT)) {
    // Copies instead of linking, because Node resolves links and would load the original sources.
    if (COPIED.includes(name)) cpSync(join(ROOT, name), join(root, name), { recursive: true })
    else if (name !== 'data') symlinkSync(join(ROOT, name), join(root, name))
  }
  for (const { file, from, to, times } of edits) {
    const path = join(root, 'src', file)
    const text = readFileSync(path, 'utf8')
    const found = text.match(from)?.length ?? 0
    if (found !== times)
      throw new Error(`${file}: ${from} occurs ${found} times, not ${times}: update WITHOUT`)
    writeFileSync(path, text.replace(from, to))
  }
  return root
}

/**
 * Starts new processes and runs the rounds in turn. Returns CPU microseconds per request, by route
 * and arm, one number per round.
 */
async function inTurns(options: readonly ArmOptions[], vendorPort: number): Promise<Took[]> {
  const env = {
    RATE_LIMIT_GENERAL: 'off',
    RATE_LIMIT_AI: 'off',
    RATE_LIMIT_AUTH: 'off',
    SIGNUP_PROOF: 'off',
    OPENAI_BASE_URL: `http://127.0.0.1:${vendorPort}/v1`,
    OPENAI_API_KEY: 'sk-bench',
  }
  const arms: Arm[] = []
  try {
    for (const { name, root, env: more } of options) {
      const service = await startService({ ...env, ...more }, { root })
      arms.push({ name, service, key: (await payingKey(service)).key })
    }
    const all: Took[] = []
    for (const route of ROUTES) {
      const took = new Map(arms.map(({ name }): [string, number[]] => [name, []]))
      for (const arm of arms) await measureCpu(arm, route, WARM_UP)
      for (let round = 0; round < ROUNDS; round++) {
        for (const arm of orderArms(arms, round))
          took.get(arm.name)?.push(await measureCpu(arm, route, REQUESTS))
      }
      all.push(took)
    }
    return all
  } finally {
    for (const { service } of arms) await service.stop()
  }
}

/** Every arm starts equally often, and no arm always follows the same neighbour. */
function orderArms(arms: readonly Arm[], round: number): readonly Arm[] {
  const first = Math.floor(round / 2) % arms.length
  const order = [...arms.slice(first), ...arms.slice(0, first)]
  return round % 2 === 0 ? order : order.reverse()
}

async function measureCpu(
  { service, key }: Arm,
  { path, body }: Route,
  requests: number,
): Promise<number> {
  const before = cpuUs(service)
  const done = await load({
    port: service.port,
    path,
    headers: { authorization: `Bearer ${key}` },
    ...(body === undefined ? {} : { body }),
    connections: CONNECTIONS,
    seconds: SECONDS_MAX,
    requests,
  })
  if (done.errors > 0) throw new Error(`${done.errors} of ${done.requests} requests failed`)
  return (cpuUs(service) - before) / done.requests
}

/**
 * Returns the CPU time of all threads in nanosecond resolution: the hundredths of a second of
 * `cpuMs` are a tenth of a round.
 */
function cpuUs({ child }: RunningService): number {
  const threads = readdirSync(`/proc/${child.pid}/task`)
  const nanoseconds = threads.map(
    (id) => readFileSync(`/proc/${child.pid}/task/${id}/schedstat`, 'utf8').split(' ')[0],
  )
  return nanoseconds.reduce((sum, one) => sum + Number(one), 0) / 1_000
}

function print(route: string, generations: readonly Took[]): void {
  const median = (values: number[]) =>
    quantile(
      values.sort((a, b) => a - b),
      0.5,
    )
  const of = (arm: string) => generations.map((took) => took.get(arm) ?? [])
  const computeChange = (arm: string) =>
    computeInterval(
      generations.flatMap((took) => {
        const values = took.get(arm)
        return values ? [pairedChange(values, took.get(BARE) ?? [])] : []
      }),
    )
  const arms = [...(generations[0]?.keys() ?? [])]
  printTable(
    `${route}: ${generations.length} generations of processes, ${ROUNDS} alternating rounds of ${REQUESTS} requests`,
    ['tracing', 'CPU per request', 'added', '95 % interval'],
    arms.map((arm) => {
      const { low, mean, high } = computeChange(arm)
      const difference =
        arm === BARE ? ['', ''] : [percent(mean), `${percent(low)} to ${percent(high)}`]
      return [arm, `${median(of(arm).flat()).toFixed(0)} µs`, ...difference]
    }),
  )
  const [off, noise] = [computeChange('off'), computeNoise(computeChange(TWIN))]
  console.log(
    `\n  ${route}: off costs ${percent(off.mean)}, two identical copies differ by up to ${percent(noise)} (target: at most ${percent(OFF_MAX)}): ${judgeChange(off, noise, OFF_MAX)}`,
  )
}
