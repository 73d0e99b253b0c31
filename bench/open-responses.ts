// Checks /v1/responses with the schemas that Open Responses publishes, for the models of all three
// vendors. The schemas come as Python types; they are installed at the first run, into a virtual
// environment beside the check.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { payingKey, startService } from './lib/service.ts'
import { printTable } from './lib/table.ts'

export const description =
  '/v1/responses against the published schemas of Open Responses, objects and events'

const HERE = join(import.meta.dirname, 'open-responses')
const BIN = join(HERE, 'venv', process.platform === 'win32' ? 'Scripts' : 'bin')
const MODELS = ['gpt-6.1-terra', 'claude-sonnet-5-5', 'gemini-3.8-flash']

type Check = { name: string; errors: string[] }

export async function run(): Promise<void> {
  install()
  const service = await startService({ RATE_LIMIT_GENERAL: 'off', RATE_LIMIT_AI: 'off' })
  try {
    const { key } = await payingKey(service)
    const rows: (string | number)[][] = []
    for (const model of MODELS) {
      const checks = runChecks({ BASE_URL: `${service.url}/v1`, API_KEY: key, MODEL: model })
      const failed = checks.filter(({ errors }) => errors.length > 0)
      rows.push([model, checks.length - failed.length, failed.length])
      for (const { name, errors } of failed)
        console.error(`${model}, ${name}:\n  ${errors.join('\n  ')}`)
      if (failed.length > 0 || checks.length === 0) process.exitCode = 1
    }
    printTable('Open Responses', ['model', 'passed', 'failed'], rows)
  } finally {
    await service.stop()
  }
}

function install(): void {
  if (existsSync(join(BIN, 'python'))) return
  for (const [command, ...args] of [
    ['python3', '-m', 'venv', 'venv'],
    [join(BIN, 'pip'), 'install', '--quiet', '--requirement', 'requirements.txt'],
  ] as [string, ...string[]][]) {
    const { status, error } = spawnSync(command, args, { cwd: HERE, stdio: 'inherit' })
    if (status !== 0)
      throw new Error(`${command} failed: ${error?.message ?? `exit code ${status}`}`)
  }
}

function runChecks(env: Record<string, string>): Check[] {
  const { stdout } = spawnSync(join(BIN, 'python'), ['check.py'], {
    cwd: HERE,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH ?? '', PYTHONDONTWRITEBYTECODE: '1', ...env },
  })
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Check)
}
