// Runs the wire cases of docs/conformance.md against Latchkey, Portkey and LiteLLM, with the same
// strict vendors and the same clients.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CASES } from '#testing/conformance/cases.ts'
import type { DoorName } from '#testing/conformance/door.ts'
import {
  DOORS,
  type GatewayUnderTest,
  MODELS,
  type Outcome,
  runMatrix,
  VENDORS,
} from '#testing/conformance/matrix.ts'
import { startStrictVendors, vendorSettings } from '#testing/conformance/strict-vendors.ts'
import { listSigns, summarize } from '#testing/conformance/table.ts'
import { freePort, payingKey, startService } from './lib/service.ts'
import { printTable } from './lib/table.ts'
import { installLiteLlm, installPeers, isInstalled, LITELLM, PORTKEY } from './peers/install.ts'

export const description =
  'the wire cases of docs/conformance.md, against Portkey and LiteLLM where installed or named; --why'

type Running = GatewayUnderTest & { name: string; stop(): void | Promise<void> }

const AT_ONCE = 4
const NAMES = ['latchkey', 'portkey', 'litellm'] as const

/**
 * `npm run bench -- conformance [latchkey|portkey|litellm …] [--why]`: without a name, runs all
 * that are installed.
 */
export async function run(args: string[]): Promise<void> {
  const named = NAMES.filter((name) => args.includes(name))
  const wants = (name: (typeof NAMES)[number]) =>
    named.length > 0 ? named.includes(name) : name === 'latchkey' || isInstalled(name)
  const doors = Object.keys(DOORS) as DoorName[]
  const vendors = await startStrictVendors()
  const results: { name: string; outcomes: Outcome[] }[] = []
  for (const [name, start] of [
    ['latchkey', startLatchkey],
    ['portkey', startPortkey],
    ['litellm', startLiteLlm],
  ] as const) {
    if (!wants(name)) continue
    const gateway = await start(vendors.url)
    try {
      const outcomes = await runMatrix(vendors, gateway, CASES, { doors, atOnce: AT_ONCE })
      results.push({ name: gateway.name, outcomes })
    } finally {
      await gateway.stop()
    }
  }
  await vendors.close()
  print(results, doors, args.includes('--why'))
}

function print(
  results: { name: string; outcomes: Outcome[] }[],
  doors: DoorName[],
  tellsWhy: boolean,
): void {
  for (const door of doors) {
    const rows = CASES.filter((one) => one.doors?.includes(door) ?? true).map(({ name }) => [
      name,
      ...results.map(({ outcomes }) => listSigns(outcomes, name, door)),
    ])
    const sums = results.map(({ outcomes }) =>
      summarize(outcomes.filter((one) => one.door === door)),
    )
    printTable(
      `${door}: ${VENDORS.join(', ')}`,
      ['case', ...results.map(({ name }) => name)],
      [...rows, ['sum', ...sums]],
    )
  }
  console.log(
    '\n  ✔ right   ○ rejected with a reason, where the vendor has no such feature or rejects it   ✘ wrong   – cannot be expressed',
  )
  console.log(CAVEATS)
  if (!tellsWhy) return
  for (const { name, outcomes } of results) {
    for (const { verdict, door, vendor, name: one, why } of outcomes)
      if (verdict === 'wrong') console.log(`  ${name} · ${door} · ${vendor} · ${one}: ${why}`)
  }
}

const CAVEATS = `
  The project wrote the cases. The vendors are mocks that enforce the published rules and accept everything else.
  An unexpected error counts as ✘, even in the right format.
  Latchkey and LiteLLM retry twice; Portkey runs with its defaults, which do not retry. LiteLLM has drop_params and no cooldowns.
  Portkey requests Gemini's streams as a growing array, whose framing here may differ from Google's.
  LiteLLM fetches images for Gemini itself, so an unreachable address counts as ✘. It returns OpenAI's reasoning summaries
  only for a parameter of LiteLLM; the cases use OpenRouter's parameter.
  The cases look for reasoning in the fields of DeepSeek and OpenRouter.
  OpenAI's models since GPT-5.6 accept tools only at /responses, so gateways that use /chat/completions get ✘.
  Only Latchkey checks its own API keys, enforces budgets and writes a ledger. A loaded machine may cut slow answers.`

async function startLatchkey(vendorUrl: string): Promise<Running> {
  const service = await startService({
    RATE_LIMIT_GENERAL: 'off',
    RATE_LIMIT_AI: 'off',
    ...vendorSettings(vendorUrl),
  })
  const { key } = await payingKey(service)
  return {
    name: 'Latchkey',
    url: service.url,
    headers: () => ({ authorization: `Bearer ${key}` }),
    stop: () => service.stop(),
  }
}

async function startPortkey(vendorUrl: string): Promise<Running> {
  installPeers('@portkey-ai/gateway')
  const { version } = JSON.parse(readFileSync(join(PORTKEY, 'package.json'), 'utf8')) as {
    version: string
  }
  const port = await freePort()
  const child = spawn(
    process.execPath,
    [join(PORTKEY, 'build/start-server.js'), `--port=${port}`, '--headless'],
    { stdio: 'ignore', env: { ...process.env, NODE_ENV: 'production' } },
  )
  const url = `http://127.0.0.1:${port}`
  await untilUp(`${url}/`, child)
  const providers = {
    openai: ['openai', '/v1'],
    anthropic: ['anthropic', '/v1'],
    gemini: ['google', '/v1beta'],
  } as const
  return {
    name: `Portkey ${version}`,
    url,
    headers(vendor) {
      const [provider, path] = providers[vendor]
      return {
        authorization: 'Bearer sk-strict',
        'x-portkey-provider': provider,
        'x-portkey-custom-host': `${vendorUrl}${path}`,
      }
    },
    stop: () => void child.kill(),
  }
}

async function startLiteLlm(vendorUrl: string): Promise<Running> {
  installLiteLlm()
  const python = join(LITELLM, 'bin/python')
  const version = execFileSync(python, [
    '-c',
    'import importlib.metadata as m; print(m.version("litellm"))',
  ])
  const folder = mkdtempSync(join(tmpdir(), 'litellm-bench-'))
  const bases = { openai: `${vendorUrl}/v1`, anthropic: vendorUrl, gemini: `${vendorUrl}/v1beta` }
  const models = VENDORS.flatMap((vendor) =>
    [...new Set(Object.values(MODELS).map((kind) => kind[vendor]))].map((model) => ({
      model_name: model,
      litellm_params: {
        model: `${vendor}/${model}`,
        api_base: bases[vendor],
        api_key: 'sk-strict',
      },
    })),
  )
  // JSON is YAML.
  const settings = {
    model_list: models,
    litellm_settings: { drop_params: true, telemetry: false },
    router_settings: { num_retries: 2, disable_cooldowns: true },
    general_settings: { master_key: 'sk-bench' },
  }
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(settings))
  const port = await freePort()
  const child = spawn(
    join(LITELLM, 'bin/litellm'),
    ['--config', 'config.yaml', '--host', '127.0.0.1', '--port', String(port)],
    {
      cwd: folder,
      stdio: 'ignore',
      env: { PATH: process.env.PATH ?? '', HOME: folder, LITELLM_LOCAL_MODEL_COST_MAP: 'True' },
    },
  )
  const url = `http://127.0.0.1:${port}`
  await untilUp(`${url}/health/liveliness`, child)
  return {
    name: `LiteLLM ${version.toString().trim()}`,
    url,
    headers: () => ({ authorization: 'Bearer sk-bench' }),
    stop() {
      child.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function untilUp(url: string, child: ChildProcess): Promise<void> {
  for (let left = 600; left > 0; left--) {
    if (child.exitCode !== null) throw new Error('the peer did not start')
    const isUp = await fetch(url).then(
      ({ status }) => status < 500,
      () => false,
    )
    if (isUp) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error('the peer did not answer within 120 s')
}
