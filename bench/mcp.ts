// The protocol's official clients (TypeScript in both major versions, Python, FastMCP) call /mcp in
// its new and its old version. They are installed in a separate package and virtual environment at
// the first use.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { payingKey, startService } from './lib/service.ts'
import { printTable } from './lib/table.ts'

export const description =
  'official clients of the Model Context Protocol at /mcp, in its version of 2026 and earlier ones'

const HERE = join(import.meta.dirname, 'mcp')
const BIN = join(HERE, 'venv', process.platform === 'win32' ? 'Scripts' : 'bin')

/** Four clients. All except the oldest support both versions. */
const WALKS = 7

type Step = { client: string; mode: string; step: string; told: unknown; ok: boolean }

export async function run(): Promise<void> {
  install()
  const service = await startService({ RATE_LIMIT_GENERAL: 'off', RATE_LIMIT_RAG: 'off' })
  try {
    const { key } = await payingKey(service)
    const env = { MCP_URL: `${service.url}/mcp`, API_KEY: key }
    const steps = [
      ...runWalk(process.execPath, ['walk.js'], env),
      ...runWalk(join(BIN, 'python'), ['walk.py'], env),
    ]
    const failed = steps.filter(({ ok }) => !ok)
    const walks = [...Map.groupBy(steps, ({ client, mode }) => `${client} (${mode})`)]
    const columns = ['client', 'version', 'steps', 'failed']
    const table = walks.map(([client, of]) => [
      client,
      String(of.find(({ step }) => step === 'connect')?.told ?? 'nothing'),
      of.length,
      of.filter(({ ok }) => !ok).length,
    ])
    printTable('Clients of the Model Context Protocol', columns, table)
    for (const { client, mode, step, told } of failed)
      console.error(`\n${client} (${mode}), ${step}: ${told}`)
    if (failed.length > 0 || walks.length < WALKS) process.exitCode = 1
  } finally {
    await service.stop()
  }
}

function install(): void {
  if (!existsSync(join(HERE, 'node_modules')))
    must('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock'])
  if (existsSync(join(BIN, 'fastmcp'))) return
  must('python3', ['-m', 'venv', 'venv'])
  must(join(BIN, 'pip'), ['install', '--quiet', '--requirement', 'requirements.txt'])
}

function must(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: HERE, stdio: 'inherit' })
  if (status !== 0)
    throw new Error(`${command} ${args[0]}: ${error?.message ?? `ended with ${status}`}`)
}

function runWalk(command: string, args: string[], env: Record<string, string>): Step[] {
  const PATH = process.env.PATH ?? ''
  const { stdout } = spawnSync(command, args, {
    cwd: HERE,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH, PYTHONDONTWRITEBYTECODE: '1', ...env },
  })
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Step)
}
