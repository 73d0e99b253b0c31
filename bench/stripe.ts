// Sends the product's calls to Stripe's official mock, parses the sandbox's replies with Stripe's
// Python SDK and compares them with Stripe's API description. Installs the mock (Go) and the SDK in
// the user's cache at the first use.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { printTable } from './lib/table.ts'
import { findFaults, type Spec } from './stripe/schema.ts'
import { type Call, recordedCalls } from './stripe/walk.ts'

export const description =
  'the product’s calls sent to stripe-mock; the sandbox’s replies parsed by Stripe’s Python SDK'

const HERE = join(import.meta.dirname, 'stripe')
const CACHE = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'latchkey-bench',
  'stripe',
)
const MOCK = 'github.com/stripe/stripe-mock'
const PYTHON = join(CACHE, 'venv', 'bin', 'python')

/** Operations newer than the mock's description, which cannot know them. */
const NEWER: Record<string, RegExp> = {
  'POST /v1/subscriptions/:id/pause': /Unrecognized request URL/,
  'POST /v1/subscriptions/:id/resume': /additional properties are not allowed/,
}

type Row = { operation: string; calls: number; mock: string[]; wrong: string[]; python: string[] }

export async function run(): Promise<void> {
  install()
  const spec = readSpec()
  const calls = await recordedCalls()
  const mock = await startMock()
  const rows = new Map<string, Row>()
  try {
    for (const call of calls) {
      const operation = `${call.method} ${formatOperation(call.path)}`
      const row = rows.get(operation) ?? { operation, calls: 0, mock: [], wrong: [], python: [] }
      rows.set(operation, row)
      row.calls++
      // The walk expects the calls that the sandbox rejects.
      if (call.status < 400) {
        row.mock.push(
          ...(await findRefusals(mock.url, call)).filter((fault) => !NEWER[operation]?.test(fault)),
        )
        row.wrong.push(...findMismatches(spec, JSON.parse(call.reply)))
      }
    }
    const good = calls.filter(({ status }) => status < 400)
    for (const [index, faults] of parsed(good).entries()) {
      const call = good[index]
      if (call) rows.get(`${call.method} ${formatOperation(call.path)}`)?.python.push(...faults)
    }
  } finally {
    mock.stop()
  }
  report([...rows.values()])
}

function report(rows: Row[]): void {
  const sorted = rows.sort((a, b) => (a.operation < b.operation ? -1 : 1))
  const columns = [
    'operation',
    'calls',
    'rejected by the mock',
    'differ from the description',
    'not parsed by the SDK',
  ]
  const table = sorted.map(({ operation, calls, mock, wrong, python }) => {
    const name = operation in NEWER ? `${operation} (newer than the mock)` : operation
    return [name, calls, mock.length, wrong.length, python.length]
  })
  printTable('The product’s calls and the sandbox’s replies', columns, table)
  const faults = sorted.flatMap(({ operation, mock, wrong, python }) =>
    [...mock, ...wrong, ...python].map((fault) => `${operation}: ${fault}`),
  )
  const counted = [...Map.groupBy(faults, (fault) => fault)].map(
    ([fault, of]) => `${of.length} × ${fault}`,
  )
  for (const line of counted) console.error(line)
  if (faults.length > 0 || rows.length < OPERATIONS_LEAST) process.exitCode = 1
}

/** A walk with fewer operations has stopped early. */
const OPERATIONS_LEAST = 25

function install(): void {
  mkdirSync(CACHE, { recursive: true })
  const env = {
    ...process.env,
    GOPATH: join(CACHE, 'go'),
    GOBIN: CACHE,
    GOCACHE: join(CACHE, 'build'),
  }
  if (!existsSync(join(CACHE, 'stripe-mock'))) must('go', ['install', `${MOCK}@latest`], env)
  if (existsSync(PYTHON)) return
  must('python3', ['-m', 'venv', join(CACHE, 'venv')], process.env)
  must(
    PYTHON,
    ['-m', 'pip', 'install', '--quiet', '--requirement', join(HERE, 'requirements.txt')],
    process.env,
  )
}

function must(command: string, args: string[], env: NodeJS.ProcessEnv): void {
  const { status, error } = spawnSync(command, args, { env, stdio: 'inherit' })
  if (status !== 0)
    throw new Error(`${command} ${args[0]}: ${error?.message ?? `ended with ${status}`}`)
}

/** Reads the description that the mock was built with. */
function readSpec(): Spec {
  const [path] = globSync(join(CACHE, 'go/pkg/mod', `${MOCK}@*`, 'embedded/openapi/spec3.json'))
  if (path === undefined) throw new Error('the mock has no API description')
  return JSON.parse(readFileSync(path, 'utf8')) as Spec
}

async function startMock(): Promise<{ url: string; stop: () => void }> {
  const port = await freePort()
  const child = spawn(join(CACHE, 'stripe-mock'), ['-http-addr', `127.0.0.1:${port}`], {
    stdio: 'ignore',
  })
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; tries < 200; tries++) {
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      return { url, stop: () => child.kill() }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  child.kill()
  throw new Error('the mock did not start')
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function findRefusals(url: string, { method, path, body, version }: Call): Promise<string[]> {
  const reply = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: 'Bearer sk_test_123',
      'stripe-version': version,
      'content-type': 'application/x-www-form-urlencoded',
    },
    ...(method === 'POST' ? { body } : {}),
  })
  const text = await reply.text()
  return reply.ok ? [] : [`${reply.status} ${text.replace(/\s+/g, ' ').slice(0, 300)}`]
}

/** Checks lists by their items. Deleted objects have few members. */
function findMismatches(
  spec: Spec,
  reply: { object?: string; deleted?: boolean; data?: unknown },
): string[] {
  if (reply.deleted) return []
  const { object = '' } = reply
  if (object === 'list')
    return Array.isArray(reply.data)
      ? reply.data.flatMap((one) => findMismatches(spec, one))
      : ['no data']
  const schema =
    spec.components.schemas[object.replaceAll('.', '_')] ?? spec.components.schemas[object]
  if (!schema) return [`${object} is not in the description`]
  const inside = (reply as { data?: { object?: object } }).data?.object
  return [
    ...findFaults(spec, schema, reply, object),
    ...(object === 'event' && inside ? findMismatches(spec, inside) : []),
  ]
}

function parsed(calls: Call[]): string[][] {
  const input = calls.map(({ reply }) => `${reply}\n`).join('')
  const { stdout, status } = spawnSync(PYTHON, [join(HERE, 'parse.py')], {
    input,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'inherit'],
    maxBuffer: 256 * 1024 * 1024,
  })
  if (status !== 0) throw new Error(`the SDK ended with ${status}`)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as string[])
}

/** `/v1/customers/:id/tax_ids` */
const formatOperation = (path: string): string =>
  (path.split('?')[0] ?? '').replace(/\/(?:cus|sub|in|cs|pi|ch|re|du|evt|price|promo)_\w+/g, '/:id')
