// Compares the AI gateway with the npm package @portkey-ai/gateway and with no gateway, using a
// mock vendor in a separate process. Latchkey checks an API key and writes its ledger; Portkey does
// neither. They take turns under one load.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  askStreams,
  askWhole,
  type StreamResult,
  type Target,
  type WholeResult,
} from './gateway/client.ts'
import { inspectArgs, watchHeap } from './gateway/memory.ts'
import { freePort, payingKey, type RunningService, startService } from './lib/service.ts'
import { printTable, quantile } from './lib/table.ts'
import { installPeers, PORTKEY } from './peers/install.ts'

export const description =
  'chat through the gateway, @portkey-ai/gateway and no gateway: requests, streams, CPU per token, memory'

const SECONDS = 4
const ROUNDS = 3
const FLAT_TOKENS = 1_000
const PACED_TOKENS = 250
const PACED_GAP_MS = 20
/**
 * Paced streams start spread over this time. Unpaced streams start together, so their first tokens
 * queue for the CPU.
 */
const PACED_SPREAD_MS = 1_000
/**
 * Every server gets this load before the first measurement, so that no engine's first compilation
 * is measured.
 */
const WARM_SECONDS = 3

type Server = { target: Target; pid: number | null }

/**
 * `npm run bench -- gateway [whole|flat|paced|doors|memory]`: without a name, runs all except
 * `memory`.
 */
export async function run(args: string[]): Promise<void> {
  const wants = (part: string) => (args.length === 0 && part !== 'memory') || args.includes(part)
  installPeers('@portkey-ai/gateway')
  const vendorPort = await freePort()
  const vendor = await startNode([join(import.meta.dirname, 'gateway/mock.ts'), String(vendorPort)])
  const pipePort = await freePort()
  const pipe = await startNode([
    join(import.meta.dirname, 'gateway/pipe.ts'),
    String(pipePort),
    String(vendorPort),
  ])
  const portkeyPort = await freePort()
  const inspects = wants('memory')
    ? { portkey: await freePort(), latchkey: await freePort() }
    : null
  const portkey = await startNode(
    [
      ...inspectArgs(inspects?.portkey),
      join(PORTKEY, 'build/start-server.js'),
      `--port=${portkeyPort}`,
      '--headless',
    ],
    portkeyPort,
  )
  const service = await startService({
    RATE_LIMIT_GENERAL: 'off',
    RATE_LIMIT_AI: 'off',
    OPENAI_BASE_URL: `http://127.0.0.1:${vendorPort}/v1`,
    OPENAI_API_KEY: 'sk-bench',
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${vendorPort}`,
    ANTHROPIC_API_KEY: 'sk-ant-bench',
    NODE_OPTIONS: inspectArgs(inspects?.latchkey).join(' '),
  })
  try {
    const { key } = await payingKey(service)
    const servers: Server[] = [
      {
        target: { name: 'direct', port: vendorPort, path: '/v1/chat/completions', headers: {} },
        pid: null,
      },
      {
        target: {
          name: 'Portkey 1.15.2',
          port: portkeyPort,
          path: '/v1/chat/completions',
          headers: {
            'x-portkey-provider': 'openai',
            'x-portkey-custom-host': `http://127.0.0.1:${vendorPort}/v1`,
            Authorization: 'Bearer sk-bench',
          },
        },
        pid: portkey.pid ?? null,
      },
      {
        target: {
          name: 'Latchkey',
          port: service.port,
          path: '/v1/chat/completions',
          headers: { Authorization: `Bearer ${key}` },
        },
        pid: service.child.pid ?? null,
      },
    ]
    // Reads no HTTP, so its cost is the minimum for a gateway in Node.
    const all = servers.toSpliced(1, 0, {
      target: { name: 'a TCP pipe', port: pipePort, path: '/v1/chat/completions', headers: {} },
      pid: pipe.pid ?? null,
    })
    if (wants('whole'))
      for (const { target } of all) await askWhole(target, WHOLE, 16, WARM_SECONDS)
    if (wants('whole')) for (const inFlight of [1, 16, 64]) await measureWhole(all, inFlight)
    if (wants('flat')) for (const atOnce of [16, 64, 256]) await measureStreams(all, atOnce, 'flat')
    if (wants('paced'))
      for (const atOnce of [16, 64, 256]) await measureStreams(all, atOnce, 'paced')
    if (wants('doors')) await measureDoors(servers.at(-1) as Server)
    if (inspects) {
      const [, portkeyServer, latchkeyServer] = servers
      await measureMemory([
        { ...portkeyServer, inspectPort: inspects.portkey } as Inspected,
        { ...latchkeyServer, inspectPort: inspects.latchkey } as Inspected,
      ])
    }
    if (wants('flat') || wants('paced')) {
      const bare = execFileSync(process.execPath, [join(import.meta.dirname, 'gateway/bare.ts')], {
        encoding: 'utf8',
      })
      console.log(
        `\n  Parsing and printing the same events in a bare script: ${Number(bare).toFixed(2)} µs per token`,
      )
    }
    countLedger(service)
  } finally {
    await service.stop()
    portkey.kill()
    pipe.kill()
    vendor.kill()
  }
}

const WHOLE = {
  model: 'gpt-4.1-mini',
  messages: [{ role: 'user', content: 'Say something short.' }],
  max_tokens: 50,
}

async function measureWhole(servers: Server[], inFlight: number) {
  for (const { target } of servers) await askWhole(target, WHOLE, inFlight, 1)
  const results = new Map<string, { result: WholeResult; cpuUs: number }[]>()
  for (let round = 0; round < ROUNDS; round++) {
    for (const { target, pid } of servers) {
      const before = cpuMs(pid)
      const result = await askWhole(target, WHOLE, inFlight, SECONDS)
      const cpuUs = ((cpuMs(pid) - before) * 1_000) / Math.max(1, result.requests)
      results.set(target.name, [...(results.get(target.name) ?? []), { result, cpuUs }])
    }
  }
  const of = (name: string, pick: (result: WholeResult) => number) =>
    median((results.get(name) ?? []).map(({ result }) => pick(result)))
  const p50 = (result: WholeResult) => quantile(result.times, 0.5)
  const p99 = (result: WholeResult) => quantile(result.times, 0.99)
  printTable(
    `Whole answers, ${inFlight} in flight, ${ROUNDS} alternating rounds of ${SECONDS} s, medians`,
    ['server', 'requests/s', 'added p50 ms', 'added p99 ms', 'CPU µs/request', 'errors'],
    servers.map(({ target: { name }, pid }) => [
      name,
      Math.round(of(name, (result) => result.perSecond)),
      name === 'direct' ? '0' : (of(name, p50) - of('direct', p50)).toFixed(2),
      name === 'direct' ? '0' : (of(name, p99) - of('direct', p99)).toFixed(2),
      pid === null ? '' : Math.round(median((results.get(name) ?? []).map(({ cpuUs }) => cpuUs))),
      (results.get(name) ?? []).reduce((sum, { result }) => sum + result.errors, 0),
    ]),
  )
  explain([...results.values()].flatMap((rounds) => rounds.map(({ result }) => result.firstError)))
}

async function measureStreams(servers: Server[], atOnce: number, kind: 'flat' | 'paced') {
  const tokens = kind === 'flat' ? FLAT_TOKENS : PACED_TOKENS
  const streams = kind === 'flat' ? Math.max(2 * atOnce, 128) : atOnce
  const body = (count: number) => ({
    model: 'gpt-4.1-mini',
    messages: [{ role: 'user', content: 'Tell a story.' }],
    stream: true,
    max_tokens: count,
    ...(kind === 'paced' ? { seed: PACED_GAP_MS } : {}),
  })
  const rows: (string | number)[][] = []
  const errors: (string | null)[] = []
  let directFirst = [0, 0]
  for (const { target, pid } of servers) {
    await askStreams(target, body, kind === 'flat' ? tokens : 50, atOnce, atOnce)
    const before = cpuMs(pid)
    const spreadMs = kind === 'paced' ? PACED_SPREAD_MS : 0
    const result: StreamResult = await askStreams(target, body, tokens, streams, atOnce, spreadMs)
    const cpu = ((cpuMs(pid) - before) * 1_000) / Math.max(1, result.tokens)
    const first = [quantile(result.firstTokenMs, 0.5), quantile(result.firstTokenMs, 0.99)]
    if (target.name === 'direct') directFirst = first
    rows.push([
      target.name,
      target.name === 'direct' ? '0' : ((first[0] ?? 0) - (directFirst[0] ?? 0)).toFixed(1),
      target.name === 'direct' ? '0' : ((first[1] ?? 0) - (directFirst[1] ?? 0)).toFixed(1),
      Math.round(result.tokens / result.elapsedS),
      pid === null ? '' : cpu.toFixed(1),
      pid === null ? '' : Math.round(memoryMb(pid)),
      result.wrong,
      result.incomplete,
    ])
    errors.push(result.firstError)
  }
  printTable(
    kind === 'flat'
      ? `Unpaced streams, ${atOnce} at once, ${streams} of ${tokens} tokens, started together`
      : `Paced streams, one token per ${PACED_GAP_MS} ms, ${atOnce} at once, ${tokens} tokens each, starts spread over ${PACED_SPREAD_MS} ms`,
    [
      'server',
      'first token: added p50 ms',
      'added p99 ms',
      'tokens/s',
      'CPU µs/token',
      'memory MB',
      'lost or reordered',
      'incomplete streams',
    ],
    rows,
  )
  explain(errors)
}

const HI = [{ role: 'user', content: 'Tell a story.' }]
/**
 * Each API of clients, with a vendor that has the same API (passed on) and one that does not
 * (translated).
 */
const DOORS: { api: string; to: string; path: string; body(tokens: number): object }[] = [
  ...[
    ['OpenAI', 'gpt-4.1-mini'],
    ['Anthropic', 'claude-haiku-5-5'],
  ].map(([to = '', model]) => ({
    api: 'chat completions',
    to,
    path: '/v1/chat/completions',
    body: (tokens: number) => ({ model, stream: true, max_tokens: tokens, messages: HI }),
  })),
  ...[
    ['OpenAI', 'gpt-4.1-mini'],
    ['Anthropic', 'claude-haiku-5-5'],
  ].map(([to = '', model]) => ({
    api: 'responses',
    to,
    path: '/v1/responses',
    body: (tokens: number) => ({
      model,
      stream: true,
      max_output_tokens: tokens,
      input: 'Tell a story.',
    }),
  })),
  ...[
    ['OpenAI', 'gpt-4.1-mini'],
    ['Anthropic', 'claude-haiku-5-5'],
  ].map(([to = '', model]) => ({
    api: 'messages',
    to,
    path: '/v1/messages',
    body: (tokens: number) => ({ model, stream: true, max_tokens: tokens, messages: HI }),
  })),
]

/** Measures the CPU per token of each of the service's APIs, in turn. */
async function measureDoors({ target, pid }: Server) {
  const atOnce = 16
  const costs = new Map<object, number[]>()
  const errors: (string | null)[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    for (const door of DOORS) {
      const before = cpuMs(pid)
      const result = await askStreams(
        { ...target, path: door.path },
        door.body,
        FLAT_TOKENS,
        4 * atOnce,
        atOnce,
      )
      errors.push(result.firstError)
      // The first round warms up.
      if (round > 0)
        costs.set(door, [
          ...(costs.get(door) ?? []),
          ((cpuMs(pid) - before) * 1_000) / Math.max(1, result.tokens),
        ])
    }
  }
  const of = (door: object) => median(costs.get(door) ?? [])
  const chat = of(DOORS[0] ?? {})
  printTable(
    `Unpaced streams, ${atOnce} at once, ${4 * atOnce} of ${FLAT_TOKENS} tokens, ${ROUNDS} alternating rounds, medians`,
    ['API', 'vendor', 'CPU µs/token', 'relative to chat to OpenAI'],
    DOORS.map((door) => [door.api, door.to, of(door).toFixed(1), (of(door) / chat).toFixed(2)]),
  )
  explain(errors)
}

const MEMORY_CALLS = 100_000

type Inspected = Server & { inspectPort: number }

/**
 * Measures heap in use and resident memory after each fifth of 100,000 calls, a tenth of which are
 * streams.
 */
async function measureMemory(servers: Inspected[]) {
  const streamed = (tokens: number) => ({ ...WHOLE, stream: true, max_tokens: tokens })
  const rows: string[][] = []
  for (const { target, pid, inspectPort } of servers) {
    await askWhole(target, WHOLE, 64, WARM_SECONDS)
    const heap = await watchHeap(inspectPort)
    const reading = async () => {
      const used = await heap.afterCollection()
      return `${used.toFixed(1)} / ${Math.round(pid === null ? 0 : memoryMb(pid))}`
    }
    const row = [target.name, await reading()]
    let calls = 0
    for (let fifth = 1; fifth <= 5; fifth++) {
      const until = (MEMORY_CALLS / 5) * fifth
      while (calls < until) {
        calls += (await askWhole(target, WHOLE, 64, 1)).requests
        const streams = Math.min(500, until - calls)
        if (streams > 0) calls += (await askStreams(target, streamed, 20, streams, 64)).streams
      }
      row.push(await reading())
    }
    heap.close()
    rows.push(row)
  }
  const fifths = [1, 2, 3, 4, 5].map((fifth) => `${(MEMORY_CALLS / 5) * fifth} calls`)
  printTable(
    'MB of heap after a collection / resident, 64 in flight',
    ['server', 'warmed up', ...fifths],
    rows,
  )
}

function explain(errors: (string | null)[]) {
  const first = errors.find((error) => error !== null)
  if (first) console.log(`\n  First failure:\n${first.replaceAll(/^/gm, '    ')}`)
}

function countLedger(service: RunningService) {
  const db = new DatabaseSync(join(service.dataDir, 'latchkey.db'), {
    readOnly: true,
    timeout: 5_000,
  })
  const records = db
    .prepare('select outcome, count(*) as calls from usage_records group by outcome')
    .all()
  db.close()
  console.log(
    `\n  The ledger has ${records.map((row) => `${row.calls} ${row.outcome}`).join(', ') || 'nothing'}`,
  )
}

async function startNode(args: string[], port?: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  if (port === undefined) await new Promise((resolve) => child.stdout?.once('data', resolve))
  child.stdout?.resume()
  for (let left = 200; port !== undefined && left > 0; left--) {
    const alive = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    )
    if (alive) return child
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return child
}

/** Returns the user and system time of a process in steps of 10 ms. */
function cpuMs(pid: number | null): number {
  if (pid === null) return 0
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

function memoryMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

function median(values: number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  )
}
