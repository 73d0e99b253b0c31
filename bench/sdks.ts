// Runs the usual gateway clients against a fresh service whose sandbox replaces the vendors, each
// with a model of every vendor. They are installed at the first use in separate folders. Each has a
// time limit, and a failing client does not stop the others.
import { payingKey, startService } from './lib/service.ts'
import { printTable } from './lib/table.ts'
import { CLIENTS, MODELS, type Step, type Walked } from './sdks/clients.ts'

export const description =
  'SDKs and agents for the APIs of OpenAI and Anthropic, on models of three vendors; name some to run only those'

/** Length of a failure in its table row, and below the table. */
const CELL_CHARACTERS = 110
const TOLD_CHARACTERS = 1_000

export async function run(args: string[]): Promise<void> {
  const isNamed = (name: string) =>
    args.some((one) => name.toLowerCase().includes(one.toLowerCase()))
  const chosen = CLIENTS.filter(({ name }) => args.length === 0 || isNamed(name))
  const service = await startService({
    RATE_LIMIT_GENERAL: 'off',
    RATE_LIMIT_AI: 'off',
    RATE_LIMIT_RAG: 'off',
  })
  try {
    const { key } = await payingKey(service)
    const rows: { name: string; walked: Walked }[] = []
    for (const { name, walk } of chosen) {
      const walked = await walk({ url: service.url, key }).catch(notWalked)
      rows.push({ name, walked })
      console.log(
        `${name} ${walked.version}: ${walked.steps.filter(({ ok }) => ok).length}/${walked.steps.length}`,
      )
    }
    const table = rows.map(({ name, walked: { version, steps } }) => [
      name,
      version,
      ...MODELS.map((model) => passed(steps.filter((step) => step.model === model))),
      passed(steps.filter((step) => step.model === '')),
      firstFailure(steps),
    ])
    printTable(
      'Clients against the sandbox',
      ['client', 'version', ...MODELS, 'other', 'first failure'],
      table,
    )
    const failed = rows.flatMap(({ name, walked }) =>
      walked.steps.filter(({ ok }) => !ok).map((step) => ({ name, ...step })),
    )
    for (const { name, model, check, told } of failed)
      console.error(`\n${name}, ${model}, ${check}: ${shortened(told ?? '', TOLD_CHARACTERS)}`)
    if (failed.length > 0) process.exitCode = 1
  } finally {
    await service.stop()
  }
}

function notWalked(error: unknown): Walked {
  return { version: '?', steps: [{ model: '', check: 'install', ok: false, told: String(error) }] }
}

function passed(steps: Step[]): string {
  return steps.length === 0 ? '' : `${steps.filter(({ ok }) => ok).length}/${steps.length}`
}

function firstFailure(steps: Step[]): string {
  const failed = steps.find(({ ok }) => !ok)
  if (failed === undefined) return ''
  return shortened(`${failed.check}: ${failed.told ?? ''}`.replace(/\s+/g, ' '), CELL_CHARACTERS)
}

function shortened(text: string, characters: number): string {
  return text.length > characters ? `${text.slice(0, characters)}…` : text
}
