/**
 * `npm test`. Against TEST_DATABASE_URL the whole suite uses that server; otherwise it runs on SQLite, and everything that speaks
 * HTTP or SQL once more on the embedded PostgreSQL. A run ends with one line: N passed, N failed. Its trap: Node counts a file
 * in which nothing ran as a test that passed, so those are taken off again.
 */
import { spawn } from 'node:child_process'
import { globSync, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

const ROOT = join(import.meta.dirname, '..', '..')

const USAGE = `Usage: npm test -- [OPTIONS] [PART …]

  PART             runs the test files whose path contains it; src/rag, ledger, e2e
  --sqlite         on SQLite only: not on the embedded PostgreSQL, not in a browser
  --name PATTERN   only the tests whose name matches; a word or a regular expression
  --watch          on SQLite, and again whenever a file changes; needs a PART
  --coverage       on SQLite, and which lines of src/ ran`

const IN_PROCESS = ['src/**/*.test.ts', 'web/**/*.test.ts']
const IN_BROWSER = ['e2e/**/*.test.ts']
const COVERAGE = [
  '--experimental-test-coverage',
  '--test-coverage-include=src/**',
  '--test-coverage-exclude=src/testing/**',
  '--test-coverage-exclude=**/*.test.ts',
]

/** One save is several events, and an editor writes several files. */
const SETTLE_MS = 100

type Pass = { name: string; files: string[]; args: string[]; env: Record<string, string> }
type Count = { passed: number; failed: number }

const { options, parts } = readOptions()
const passes = passesOf()
if (options.watch) await runOnChanges()
else process.exit((await runAll()) ? 0 : 1)

/** Ends the process with a sentence when an option is wrong, or a part matches no file. */
function readOptions() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        sqlite: { type: 'boolean', default: false },
        name: { type: 'string' },
        watch: { type: 'boolean', default: false },
        coverage: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) {
      console.log(USAGE)
      process.exit(0)
    }
    if (values.name !== undefined) refuseWrongPattern(values.name)
    if (values.watch && positionals.length === 0) throw new Error('--watch needs a PART: the whole suite takes minutes')
    if (values.watch && values.coverage) throw new Error('--watch and --coverage do not go together')
    const onlySqlite = values.sqlite || values.watch || values.coverage
    if (onlySqlite && process.env.TEST_DATABASE_URL) throw new Error('TEST_DATABASE_URL is set: unset it to use SQLite')
    const known = globSync(onlySqlite ? IN_PROCESS : [...IN_PROCESS, ...IN_BROWSER], { cwd: ROOT })
    const unknown = positionals.find((part) => !known.some((file) => file.includes(part)))
    if (unknown !== undefined) throw new Error(`no test file to run has '${unknown}' in its path`)
    return { options: { ...values, onlySqlite }, parts: positionals }
  } catch (error) {
    // Node's own sentence goes on with advice for another case.
    console.error(`${(error as Error).message.split('. To specify')[0]}\n\n${USAGE}`)
    process.exit(2)
  }
}

function refuseWrongPattern(name: string): void {
  try {
    new RegExp(name)
  } catch (error) {
    throw new Error(`--name: ${(error as Error).message}`)
  }
}

function passesOf(): Pass[] {
  const chosen = (file: string) => parts.length === 0 || parts.some((part) => file.includes(part))
  const find = (...patterns: string[]) => globSync(patterns, { cwd: ROOT }).filter(chosen).sort()
  const onServer = Boolean(process.env.TEST_DATABASE_URL)

  const main: Pass = {
    name: onServer ? 'on the PostgreSQL server' : 'on SQLite',
    files: find(...IN_PROCESS),
    args: ['--test-concurrency=2', ...(options.coverage ? COVERAGE : [])],
    env: {},
  }
  const embedded: Pass = {
    name: 'on the embedded PostgreSQL',
    files: find('src/**/*.http.test.ts', 'src/**/*.db.test.ts'),
    args: ['--test-isolation=none'],
    env: { TEST_ENGINE: 'pglite' },
  }
  const browser: Pass = {
    name: 'in a browser',
    files: find(...IN_BROWSER),
    args: ['--test-concurrency=1'],
    env: {},
  }
  const wanted = options.onlySqlite ? [main] : onServer ? [main, browser] : [main, embedded, browser]
  return wanted.filter(({ files }) => files.length > 0)
}

async function runAll(): Promise<boolean> {
  const total: Count = { passed: 0, failed: 0 }
  for (const pass of passes) {
    console.log(`\n# ${pass.name}: ${pass.files.length} files`)
    for (const result of await Promise.all(inParts(pass).map(runPass))) {
      total.passed += result.passed
      total.failed += result.failed
    }
  }
  if (options.name !== undefined && total.passed + total.failed === 0)
    console.log(`\nNo test has a name that matches '${options.name}'`)
  console.log(`\n${total.passed} passed, ${total.failed} failed`)
  return total.failed === 0 && total.passed > 0
}

/**
 * Runs, waits for a change, and runs again until Ctrl-C. Not by Node's --watch: it reports imports from every worker thread to the
 * thread's owner, which takes them for answers.
 */
async function runOnChanges(): Promise<never> {
  let changed = Promise.withResolvers<void>()
  for (const folder of ['src', 'web/src', 'e2e']) {
    watch(join(ROOT, folder), { recursive: true }, () => changed.resolve())
  }
  while (true) {
    await runAll()
    console.log('Waiting for a change …')
    await changed.promise
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
    changed = Promise.withResolvers()
  }
}

/** Without isolation a pass keeps one core busy, so it runs as two processes; the largest files go to different ones. */
function inParts(pass: Pass): Pass[] {
  if (!pass.args.includes('--test-isolation=none') || pass.files.length < 4) return [pass]
  const bySize = pass.files.toSorted((a, b) => statSync(join(ROOT, b)).size - statSync(join(ROOT, a)).size)
  return [0, 1].map((part) => ({ ...pass, files: bySize.filter((_, index) => index % 2 === part) }))
}

/** Runs the files with Node's own runner, prints what it says, and counts. */
async function runPass({ files, args, env }: Pass): Promise<Count> {
  const named = options.name === undefined ? [] : [`--test-name-pattern=${options.name}`]
  const runner = ['--test', '--test-force-exit', '--test-reporter=spec', ...named]
  const child = spawn(process.execPath, [...runner, ...args, ...files], {
    cwd: ROOT,
    env: { ...process.env, ...env, NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
  const emptyFiles = new Set(files.map((file) => `✔ ${file}`))
  const count: Count = { passed: 0, failed: 0 }
  for await (const line of createInterface({ input: child.stdout })) {
    if (emptyFiles.has(line.replace(/ \([\d.]+ms\)$/, ''))) {
      count.passed -= 1
      continue
    }
    console.log(line)
    const [, what, number] = /^ℹ (pass|fail|cancelled) (\d+)$/.exec(line) ?? []
    if (what === 'pass') count.passed += Number(number)
    else if (what !== undefined) count.failed += Number(number)
  }
  // A runner that died counts nothing; that is a failure of its own.
  if ((await exit) !== 0 && count.failed === 0) count.failed = 1
  return count
}
