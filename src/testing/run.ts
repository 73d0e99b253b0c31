// What `npm test` runs. Against TEST_DATABASE_URL the whole suite uses that server; otherwise it runs on SQLite, and everything
// that speaks HTTP or SQL once more on the embedded PostgreSQL. Ends with one line: N passed, N failed.
import { spawn } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')

type Pass = { name: string; files: string[]; args: string[]; env: Record<string, string> }

const only = process.argv.slice(2)
const chosen = (files: string[]) =>
  only.length === 0 ? files : files.filter((file) => only.some((part) => file.includes(part)))
const find = (...patterns: string[]) => chosen(patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).sort())

const onServer = Boolean(process.env.TEST_DATABASE_URL)
const passes: Pass[] = [
  {
    name: onServer ? 'on the PostgreSQL server' : 'on SQLite',
    files: find('src/**/*.test.ts', 'web/**/*.test.ts'),
    args: ['--test-concurrency=2'],
    env: {},
  },
  ...(onServer
    ? []
    : [
        {
          name: 'on the embedded PostgreSQL',
          files: find('src/**/*.http.test.ts', 'src/**/*.db.test.ts'),
          args: ['--test-isolation=none'],
          env: { TEST_ENGINE: 'pglite' },
        },
      ]),
  { name: 'in a browser', files: find('e2e/**/*.test.ts'), args: ['--test-concurrency=1'], env: {} },
]

let passed = 0
let failed = 0
for (const pass of passes) {
  if (pass.files.length === 0) continue
  console.log(`\n# ${pass.name}: ${pass.files.length} files`)
  for (const result of await Promise.all(inParts(pass).map(runPass))) {
    passed += result.passed
    failed += result.failed
  }
}
console.log(`\n${passed} passed, ${failed} failed`)
process.exit(failed === 0 && passed > 0 ? 0 : 1)

/** Without isolation a pass keeps one core busy, so it runs as two processes; the largest files go to different ones. */
function inParts(pass: Pass): Pass[] {
  if (!pass.args.includes('--test-isolation=none') || pass.files.length < 4) return [pass]
  const bySize = pass.files.toSorted((a, b) => statSync(join(ROOT, b)).size - statSync(join(ROOT, a)).size)
  return [0, 1].map((part) => ({ ...pass, files: bySize.filter((_, index) => index % 2 === part) }))
}

/** Runs the files with Node's own runner, prints what failed, and counts. */
async function runPass({ files, args, env }: Pass): Promise<{ passed: number; failed: number }> {
  const child = spawn(process.execPath, ['--test', '--test-force-exit', '--test-reporter=spec', ...args, ...files], {
    cwd: ROOT,
    env: { ...process.env, ...env, NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let summary = ''
  child.stdout.setEncoding('utf8')
  const count = { passed: 0, failed: 0 }
  for await (const chunk of child.stdout) {
    process.stdout.write(chunk)
    summary += chunk
  }
  const code = await new Promise<number>((resolve) =>
    child.exitCode === null ? child.once('exit', (exit) => resolve(exit ?? 1)) : resolve(child.exitCode),
  )
  count.passed = Number(/^ℹ pass (\d+)/m.exec(summary)?.[1] ?? 0)
  count.failed =
    Number(/^ℹ fail (\d+)/m.exec(summary)?.[1] ?? 0) + Number(/^ℹ cancelled (\d+)/m.exec(summary)?.[1] ?? 0)
  // A runner that died counts nothing; that is a failure of its own.
  if (code !== 0 && count.failed === 0) count.failed = 1
  return count
}
