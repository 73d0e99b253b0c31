// Two generated clients (TypeScript, Python) call every row of the specification, which checks that
// the description matches the replies. Their generators are installed in a separate package and
// virtual environment at the first use.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { API_ROWS, STOREFRONT_ROWS } from './clients/rows.ts'
import { ROOT, type RunningService, signUp, startService } from './lib/service.ts'
import { printTable } from './lib/table.ts'

export const description =
  'clients generated from the description call every row of the specification'

const HERE = join(import.meta.dirname, 'clients')
const GENERATED = join(HERE, 'generated')
const BIN = join(HERE, 'venv', process.platform === 'win32' ? 'Scripts' : 'bin')
const DOCUMENTS = { api: 'openapi.json', storefront: 'storefront.openapi.json' }
const WEBHOOK_SECRETS = {
  WEBHOOK_SECRET: 'whsec_bench',
  STOREFRONT_WEBHOOK_SECRET: 'whsec_bench_storefront',
}

type Server = keyof typeof DOCUMENTS
type Call = { server: string; method: string; path: string; status: number }
type Row = { server: Server; method: string; path: string; operation: string }

export async function run(): Promise<void> {
  install()
  generate()
  const service = await startService({
    RATE_LIMIT_GENERAL: 'off',
    RATE_LIMIT_AUTH: 'off',
    STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRETS.WEBHOOK_SECRET,
    STRIPE_STOREFRONT_WEBHOOK_SECRET: WEBHOOK_SECRETS.STOREFRONT_WEBHOOK_SECRET,
  })
  try {
    const env = {
      API_URL: service.url,
      STOREFRONT_URL: `http://127.0.0.1:${service.storefrontPort}`,
      SUPERUSER_TOKEN: await superuserToken(service),
      ...WEBHOOK_SECRETS,
    }
    const typescript = runWalk(process.execPath, ['walk.ts'], env)
    const python = runWalk(join(BIN, 'python'), ['walk.py'], env)
    const rows = readRows()
    const findStatus = (calls: Call[], row: Row) =>
      calls.find((call) => matchesRow(call, row, env))?.status ?? 'not called'
    const table = rows.map((row) => [
      `${row.method} ${row.path}`,
      row.operation,
      findStatus(typescript.calls, row),
      findStatus(python.calls, row),
    ])
    printTable(
      'Every row of the specification',
      ['row', 'operation', 'TypeScript', 'Python'],
      table,
    )
    const wrong = table.filter((cells) =>
      cells.slice(2).some((status) => typeof status !== 'number' || status >= 400),
    )
    if (wrong.length > 0 || typescript.failed || python.failed) {
      console.error(`\n${wrong.length} of ${rows.length} rows have no successful reply`)
      process.exitCode = 1
    }
  } finally {
    await service.stop()
  }
}

function install(): void {
  if (!existsSync(join(HERE, 'node_modules')))
    must('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock'])
  if (existsSync(join(BIN, 'openapi-python-client'))) return
  must('python3', ['-m', 'venv', 'venv'])
  must(join(BIN, 'pip'), ['install', '--quiet', '--requirement', 'requirements.txt'])
}

/** Generates both clients and compiles the TypeScript walk, so that a wrong type fails the run. */
function generate(): void {
  const tool = (name: string) => join(HERE, 'node_modules', '.bin', name)
  for (const [name, file] of Object.entries(DOCUMENTS)) {
    const document = join(ROOT, 'docs', file)
    must(tool('openapi-typescript'), [document, '--output', join(GENERATED, `${name}.d.ts`)])
    const output = join(GENERATED, `${name}_client`)
    const options = [
      '--meta',
      'none',
      '--overwrite',
      '--config',
      'python.yaml',
      '--fail-on-warning',
    ]
    must(join(BIN, 'openapi-python-client'), [
      'generate',
      '--path',
      document,
      '--output-path',
      output,
      ...options,
    ])
  }
  must(tool('tsc'), ['-p', '.'])
}

function must(command: string, args: string[]): void {
  const PATH = `${BIN}:${process.env.PATH}`
  const { status, error } = spawnSync(command, args, {
    cwd: HERE,
    stdio: 'inherit',
    env: { ...process.env, PATH },
  })
  if (status !== 0)
    throw new Error(`${command} ${args[0]}: ${error?.message ?? `ended with ${status}`}`)
}

function runWalk(
  command: string,
  args: string[],
  env: Record<string, string>,
): { calls: Call[]; failed: boolean } {
  const PATH = process.env.PATH ?? ''
  const { stdout, status } = spawnSync(command, args, {
    cwd: HERE,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH, PYTHONPATH: GENERATED, PYTHONDONTWRITEBYTECODE: '1', ...env },
  })
  const calls = (stdout ?? '')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Call)
  return { calls, failed: status !== 0 }
}

function readRows(): Row[] {
  return Object.entries({ api: API_ROWS, storefront: STOREFRONT_ROWS }).flatMap(
    ([server, rows]) => {
      const { paths } = JSON.parse(
        readFileSync(join(ROOT, 'docs', DOCUMENTS[server as Server]), 'utf8'),
      )
      return rows.map((row) => {
        const [method = '', path = ''] = row.split(' ')
        const operation = paths[path]?.[method.toLowerCase()]?.operationId ?? 'not described'
        return { server: server as Server, method, path, operation }
      })
    },
  )
}

function matchesRow(
  call: Call,
  { server, method, path }: Row,
  env: { API_URL: string; STOREFRONT_URL: string },
): boolean {
  const url = server === 'api' ? env.API_URL : env.STOREFRONT_URL
  const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`)
  return call.server === url && call.method === method && pattern.test(call.path)
}

async function superuserToken({ url, dataDir }: RunningService): Promise<string> {
  const { token, userId } = await signUp(url)
  const db = new DatabaseSync(join(dataDir, 'latchkey.db'), { timeout: 5_000 })
  db.prepare('update users set is_superuser = 1 where id = ?').run(userId)
  db.close()
  // The service caches the user for a second.
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  return token
}
