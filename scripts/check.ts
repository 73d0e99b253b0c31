/**
 * `npm run check`: every step runs whatever became of the one before, so a formatting error hides no type error. The exit code is
 * 1 when any failed. Called by `npm run` or `npx`, which put the tools of node_modules on the path.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const STEPS: Record<string, string[]> = {
  'format and lint': ['biome', 'check', '.'],
  'types of the service': ['tsc', '-p', '.'],
  'types of the user app': ['tsc', '-p', 'web'],
  'arrows between rooms, what stands in docs/': [
    'node',
    '--test',
    'src/app/arrows.test.ts',
    'src/app/problems.test.ts',
    'src/app/api-description.test.ts',
  ],
}

const cwd = join(import.meta.dirname, '..')
const outcomes = Object.entries(STEPS).map(([name, [command = '', ...args]]) => {
  console.log(`\n# ${name}`)
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit' })
  if (error) console.error(`${command} does not run: ${error.message}`)
  return { name, passed: status === 0 }
})

console.log('')
for (const { name, passed } of outcomes) console.log(`${passed ? '✔' : '✖'} ${name}`)
process.exitCode = outcomes.every(({ passed }) => passed) ? 0 : 1
