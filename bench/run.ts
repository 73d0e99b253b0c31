// `npm run bench -- NAME`: runs the measurement of that file. Each compares with a peer or a limit
// in the same run; lib/ holds what they share.
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'

export type Bench = { description: string; run(args: string[]): Promise<void> }

const names = globSync('*.ts', { cwd: import.meta.dirname })
  .map((file) => basename(file, '.ts'))
  .filter((name) => name !== 'run')
  .sort()

const [name = '', ...args] = process.argv.slice(2)
if (names.includes(name)) {
  const { run } = (await import(join(import.meta.dirname, `${name}.ts`))) as Bench
  await run(args)
  process.exit()
}

console.log('Usage: npm run bench -- NAME\n')
for (const known of names) {
  const { description } = (await import(join(import.meta.dirname, `${known}.ts`))) as Bench
  console.log(`  ${known.padEnd(12)} ${description}`)
}
process.exitCode = name === '' ? 0 : 2
