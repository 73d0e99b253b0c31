/**
 * `npm run check`: formatting, lint, types, unused code, architecture and generated files. All
 * steps run, two at a time, so a formatting error hides no type error. `npm run` puts the tools of
 * node_modules on the path.
 */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'

type Step = { name: string; command: string; args: string[] }
type Outcome = Step & { output: string; passed: boolean; seconds: number }

/** Longest steps first, so that the last step to end is short. */
const STEPS: Step[] = [
  { name: 'types of the service', command: 'tsc', args: ['-p', '.', ...keepState('service')] },
  { name: 'format and lint', command: 'biome', args: ['check', '.'] },
  { name: 'unused code', command: 'knip', args: ['--no-progress'] },
  {
    name: 'architecture and generated files',
    command: 'node',
    args: [
      '--test',
      'src/app/arrows.test.ts',
      'src/app/problems.test.ts',
      'src/app/api-description.test.ts',
    ],
  },
  { name: 'types of the user app', command: 'tsc', args: ['-p', 'web', ...keepState('web')] },
]

const waiting = [...STEPS]
const outcomes: Outcome[] = []
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, runSteps))
for (const { passed, name, seconds } of outcomes)
  console.log(`${passed ? '✔' : '✖'} ${name} (${seconds.toFixed(1)} s)`)
process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1

/** The next run checks only the files that a change reaches. */
function keepState(project: string): string[] {
  return ['--incremental', '--tsBuildInfoFile', `node_modules/.cache/tsc/${project}.tsbuildinfo`]
}

async function runSteps(): Promise<void> {
  for (let step = waiting.shift(); step; step = waiting.shift()) {
    const outcome = await runStep(step)
    if (!outcome.passed) console.log(`\n# ${outcome.name}\n${outcome.output}`)
    outcomes.push(outcome)
  }
}

function runStep(step: Step): Promise<Outcome> {
  const begun = performance.now()
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const child = spawn(step.command, step.args, {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const end = (passed: boolean) =>
    resolve({ ...step, output, passed, seconds: (performance.now() - begun) / 1_000 })
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  child.once('error', (error) => {
    output += `${step.command} does not start: ${error.message}`
    end(false)
  })
  child.once('close', (code) => end(code === 0))
  return promise
}
