/**
 * `npm test`. Against TEST_DATABASE_URL the suite uses that server; otherwise it runs on SQLite, and
 * the tests of queries once more on the embedded PostgreSQL. A run of named parts uses both for tests
 * over HTTP too; for all of them the embedded one takes minutes. Everything runs side by side, in a
 * few processes that share what they loaded. A run ends with one line: N passed, N failed. Its trap:
 * Node counts a file in which nothing ran as a test that passed, so those are taken off again.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  accessSync,
  constants,
  globSync,
  mkdtempSync,
  rmSync,
  statfsSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { availableParallelism, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

const ROOT = join(import.meta.dirname, '..', '..')

const USAGE = `Usage: npm test -- [OPTIONS] [PART …]

  PART             runs the test files whose path contains it; src/rag, ledger, e2e
  --sqlite         on SQLite only: not on the embedded PostgreSQL, not in a browser
  --name PATTERN   only the tests whose name matches; a word or a regular expression
  --watch          on SQLite, and again whenever a file changes; needs a PART
  --coverage       on SQLite, and which lines of src/ ran
  --copied         what speaks HTTP, each test on what \`db copy\` made of a SQLite that was used; needs TEST_DATABASE_URL`

const WITHOUT_BROWSER = ['{src,scripts,web}/**/*.test.ts']
/** Tests that use HTTP or SQL; `wire`: on the service's own database alone. */
const ON_SERVICE = ['src/**/*.{http,db}.test.ts', 'src/**/*.wire.test.ts']
/** Also on the embedded PostgreSQL: where parts are named; a whole run takes only the queries. */
const ON_BOTH_ENGINES = ['src/**/*.{http,db}.test.ts']
const QUERIES = ['src/**/*.db.test.ts']
const OVER_HTTP = ['src/**/*.{http,wire}.test.ts']
const IN_BROWSER = ['e2e/**/*.test.ts']
const COVERAGE = [
  '--experimental-test-coverage',
  '--test-coverage-include=src/**',
  '--test-coverage-exclude=src/testing/**',
  '--test-coverage-exclude=**/*.test.ts',
]

/**
 * One thread's worth of service, database, clients and vendors makes much that is gone at once:
 * room for it, before it is sorted.
 */
const LANE = ['--max-semi-space-size=32', '--min-semi-space-size=32']
const LANE_FILE = join(import.meta.dirname, 'lane.ts')
/** Compiled TypeScript, for the next process and the next run. */
const COMPILE_CACHE = join(ROOT, 'node_modules', '.cache', 'latchkey-test')

/**
 * The prefix of this run's schemas on a server: its processes reuse them from test to test and
 * leave them to it.
 */
const SCHEMAS = `test_${randomBytes(4).toString('hex')}`

/** A lane takes seconds to load its modules. */
const LANES_MAX = 6

/**
 * Indivisible passes go first on a busy machine; the lanes beside them use the remaining time and
 * end with them.
 */
const AFTER_THE_INDIVISIBLE = 3

/** One save is several events, and an editor writes several files. */
const SETTLE_MS = 100

/** Of one pass; enough for a few failures and their stacks. */
const MOST_LINES_OF_FAILURES = 100

/**
 * `isLane`: its files run together in one process; else each has its own. `nice`: by how much
 * others go first.
 */
type Pass = {
  name: string
  files: string[]
  args: string[]
  isLane?: boolean
  nice?: number
  env: Record<string, string>
}
/** `failures`: what failed, as the runner prints it, each line after its pass's name. */
type Count = { passed: number; failed: number; failures: string[] }

/** A run with more failed files is not repeated: they have a common cause. */
const REPEATED_FILES_MAX = 5

const { options, parts } = readOptions()
const passes = planPasses()
const temporaryFolder = makeTemporaryFolder()
process.once('exit', () => rmSync(temporaryFolder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => process.exit(1))
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
        copied: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) {
      console.log(USAGE)
      process.exit(0)
    }
    if (values.name !== undefined) refuseWrongPattern(values.name)
    if (values.watch && positionals.length === 0)
      throw new Error('--watch needs a PART: the whole suite takes minutes')
    if (values.watch && values.coverage)
      throw new Error('--watch and --coverage do not go together')
    const onlySqlite = values.sqlite || values.watch || values.coverage
    if (onlySqlite && process.env.TEST_DATABASE_URL)
      throw new Error('TEST_DATABASE_URL is set: unset it to use SQLite')
    if (values.copied && onlySqlite) throw new Error('--copied is of PostgreSQL')
    if (values.copied && !process.env.TEST_DATABASE_URL)
      throw new Error(
        '--copied needs TEST_DATABASE_URL: the address of a PostgreSQL server, as one who may make databases',
      )
    const known = values.copied
      ? find(...OVER_HTTP)
      : find(...WITHOUT_BROWSER, ...(onlySqlite ? [] : IN_BROWSER))
    const unknown = positionals.find((part) => !known.some((file) => file.includes(part)))
    if (unknown !== undefined) throw new Error(`no test file to run has '${unknown}' in its path`)
    return { options: { ...values, onlySqlite }, parts: positionals }
  } catch (error) {
    // Node's message continues with advice for another case.
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

/** Never installed packages: web/ may have its own. */
function find(...patterns: string[]): string[] {
  return globSync(patterns, { cwd: ROOT, exclude: ['**/node_modules'] }).sort()
}

function nameArgs(): string[] {
  return options.name === undefined ? [] : [`--test-name-pattern=${options.name}`]
}

/**
 * All start together. Their files are distributed so that the processes end at about the same time.
 */
function planPasses(): Pass[] {
  const chosen = (file: string) => parts.length === 0 || parts.some((part) => file.includes(part))
  const onServer = Boolean(process.env.TEST_DATABASE_URL)
  const engine = onServer ? 'PostgreSQL' : 'SQLite'

  const whole = find(...WITHOUT_BROWSER).filter(chosen)
  // Coverage needs one table of all files, so one runner; Node reports no exact lines for files
  // from the compile cache.
  if (options.coverage) {
    const args = ['--test-concurrency=2', ...COVERAGE, ...nameArgs()]
    return [{ name: 'coverage', files: whole, args, env: { NODE_DISABLE_COMPILE_CACHE: '1' } }]
  }
  const onService = find(...(options.copied ? OVER_HTTP : ON_SERVICE)).filter(chosen)
  const rules = options.copied ? [] : whole.filter((file) => !onService.includes(file))
  const embedded: Pass = {
    name: 'embedded PostgreSQL',
    files:
      onServer || options.onlySqlite
        ? []
        : find(...(parts.length > 0 ? ON_BOTH_ENGINES : QUERIES)).filter(chosen),
    args: nameArgs(),
    // One process, because its engine takes seconds and 600 MB to start.
    isLane: true,
    env: { TEST_ENGINE: 'pglite' },
  }
  // One: its files share an unpacked browser and the app's build, which the first of them may have
  // to make.
  const browser: Pass = {
    name: 'browser',
    files: options.onlySqlite || options.copied ? [] : find(...IN_BROWSER).filter(chosen),
    args: ['--test-concurrency=1', ...nameArgs()],
    env: {},
  }
  const indivisible = [browser, embedded].filter(({ files }) => files.length > 0)
  // In all twice as many as there are cores, and one: each waits for a third of its time. More, and
  // tests that race a limit of seconds lose.
  const most = Math.min(2 * Math.max(2, availableParallelism()) + 1 - indivisible.length, LANES_MAX)
  const lanes = onService.length + rules.length < 2 * most ? 1 : most
  const inLanes = distribute(onService, lanes).map((files, lane) => [
    ...files,
    ...(distribute(rules, lanes)[lane] ?? []),
  ])
  const services = inLanes.filter((files) => files.length > 0)
  const numbered = (lane: number) => (services.length > 1 ? `${engine} ${lane + 1}` : engine)
  const nice = indivisible.length > 0 ? AFTER_THE_INDIVISIBLE : 0
  return [
    ...indivisible,
    ...services.map(
      (files, lane): Pass => ({
        name: numbered(lane),
        files,
        args: nameArgs(),
        isLane: true,
        nice,
        env: {},
      }),
    ),
  ]
}

async function runAll(): Promise<boolean> {
  const total: Count = { passed: 0, failed: 0, failures: [] }
  try {
    const begun = options.copied ? await onCopies(passes) : passes
    const counts = await Promise.all(begun.map(runPass))
    for (const [i, pass] of begun.entries()) {
      const { passed, failed, failures } = await repeatFailures(pass, counts[i] as Count)
      total.passed += passed
      total.failed += failed
      total.failures.push(...failures)
    }
  } finally {
    if (process.env.TEST_DATABASE_URL) await dropSchemas(process.env.TEST_DATABASE_URL)
  }
  if (options.name !== undefined && total.passed + total.failed === 0)
    console.log(`\nNo test has a name that matches '${options.name}'`)
  // Once more at the end, where it is found: it happened thousands of lines ago.
  if (total.failures.length > 0) console.log(`\nFailed:\n${total.failures.join('\n')}`)
  console.log(`\n${total.passed} passed, ${total.failed} failed`)
  return total.failed === 0 && total.passed > 0
}

/**
 * Runs the files with failed tests again, with nothing beside them. If all of
 * them pass, the failures count as passed, and their files are printed. A test that fails only beside
 * others is flaky, and a whole run must not depend on it. A test that fails twice fails.
 */
async function repeatFailures(pass: Pass, count: Count): Promise<Count> {
  const locations = count.failures.map((line) => / test at (\S+?):\d+:\d+$/.exec(` ${line}`)?.[1])
  const files = [...new Set(locations.filter((file) => file !== undefined))]
  if (count.failed === 0 || files.length === 0 || files.length > REPEATED_FILES_MAX) return count
  console.log(`\n${pass.name}: running again what failed: ${files.join(', ')}`)
  const again = await runPass({ ...pass, files, nice: 0 })
  if (again.failed > 0) return count
  console.log(`\nFlaky, passed when run again: ${files.join(', ')}\n${count.failures.join('\n')}`)
  return { passed: count.passed + count.failed, failed: 0, failures: [] }
}

/** Most begin with a used service, the others with an unused one, in a separate pass. */
async function onCopies(passes: Pass[]): Promise<Pass[]> {
  const { makeCopied, OF_AN_UNUSED_SERVICE } = await import('./copied.ts')
  const { used, unused } = await makeCopied(
    process.env.TEST_DATABASE_URL ?? '',
    SCHEMAS,
    temporaryFolder,
  )
  const all = Object.values(OF_AN_UNUSED_SERVICE).flat()
  const named = all.filter(
    (name) => options.name === undefined || new RegExp(options.name).test(name),
  )
  const patterns = (option: string, names: string[]) =>
    names.map((name) => `--test-${option}-pattern=^${RegExp.escape(name)}`)
  const files = passes.flatMap((pass) => pass.files)
  const unusedPass = {
    name: 'PostgreSQL, unused',
    files,
    isLane: true,
    env: { TEST_COPIED: unused },
  }
  return [
    ...passes.map((pass) => ({
      ...pass,
      args: [...nameArgs(), ...patterns('skip', all)],
      env: { TEST_COPIED: used },
    })),
    ...(named.length > 0 ? [{ ...unusedPass, args: patterns('name', named) }] : []),
  ]
}

async function dropSchemas(serverUrl: string): Promise<void> {
  const { default: pg } = await import('pg')
  const client = new pg.Client(serverUrl)
  try {
    await client.connect()
    const { rows } = await client.query(
      'select nspname as name from pg_namespace where starts_with(nspname, $1)',
      [`${SCHEMAS}_`],
    )
    // One by one, because all at once would exceed the server's locks.
    for (const { name } of rows)
      await client.query(`set lock_timeout = '5s'; drop schema ${name} cascade`)
    const made = await client.query(
      'select datname as name from pg_database where starts_with(datname, $1)',
      [SCHEMAS],
    )
    for (const { name } of made.rows) await client.query(`drop database ${name} with (force)`)
  } catch (error) {
    console.error(`Schemas called ${SCHEMAS}_… are left on the server:`, error)
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * In memory, where a system has room there: every commit waits for the disk, and no test outlives
 * the power.
 */
function makeTemporaryFolder(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    if (bavail * bsize > 2 * 2 ** 30) return runnable(mkdtempSync('/dev/shm/latchkey-'))
  } catch {
    // Not on Linux, not for this user, or nothing may be run there.
  }
  return mkdtempSync(join(tmpdir(), 'latchkey-'))
}

/** @throws Error where no program may be run from the folder; some tests do. */
function runnable(folder: string): string {
  const probe = join(folder, 'probe')
  try {
    writeFileSync(probe, '', { mode: 0o755 })
    accessSync(probe, constants.X_OK)
    return folder
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

/**
 * Runs, waits for a change, and runs again until Ctrl-C. Does not use Node's --watch, which reports
 * imports from every worker thread to the thread's owner, which takes them for answers.
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

/** Into so many heaps of much the same size; an empty one where there are fewer files. */
function distribute(files: string[], heaps: number): string[][] {
  const all = Array.from({ length: heaps }, () => ({ files: [] as string[], bytes: 0 }))
  const sized = files.map((file) => ({ file, bytes: statSync(join(ROOT, file)).size }))
  for (const { file, bytes } of sized.toSorted((a, b) => b.bytes - a.bytes)) {
    const smallest = all.reduce((a, b) => (b.bytes < a.bytes ? b : a))
    smallest.files.push(file)
    smallest.bytes += bytes
  }
  return all.map((heap) => heap.files)
}

/** Runs the files with Node's runner, prints its output, and counts. */
async function runPass({ name, files, args, isLane = false, nice = 0, env }: Pass): Promise<Count> {
  const runner = ['--test-force-exit', '--test-reporter=spec']
  const together = isLane
    ? [...LANE, ...runner, ...args, LANE_FILE]
    : ['--test', ...runner, ...args]
  const label = passes.length > 1 || options.copied ? `${name} | ` : ''
  console.log(`${label}files: ${files.length}`)
  const child = spawn(process.execPath, [...together, ...files], {
    cwd: ROOT,
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      NODE_NO_WARNINGS: '1',
      TMPDIR: temporaryFolder,
      TEST_SCHEMAS: SCHEMAS,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (nice > 0 && child.pid !== undefined) setPriority(child.pid, nice)
  const lastErrors: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => {
    console.error(line)
    if (lastErrors.push(`${label}${line}`) > MOST_LINES_OF_FAILURES) lastErrors.shift()
  })
  const exit = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 1)))
  const emptyFiles = new Set(files.map((file) => `✔ ${file}`))
  const count: Count = { passed: 0, failed: 0, failures: [] }
  let isWhole = false
  let isTellingFailures = false
  for await (const line of createInterface({ input: child.stdout })) {
    if (emptyFiles.has(line.replace(/ \([\d.]+ms\)$/, ''))) {
      count.passed -= 1
      continue
    }
    console.log(`${label}${line}`)
    isTellingFailures ||= line === '✖ failing tests:'
    if (isTellingFailures && count.failures.length < MOST_LINES_OF_FAILURES)
      count.failures.push(`${label}${line}`)
    const [, what, number] = /^ℹ (pass|fail|cancelled) (\d+)$/.exec(line) ?? []
    if (what === 'pass') count.passed += Number(number)
    if (what === 'pass') isWhole = true
    else if (what !== undefined) count.failed += Number(number)
  }
  // A runner that died, or was ended by a test, reports no sums; that is a separate failure.
  const code = await exit
  if ((code !== 0 || !isWhole) && count.failed === 0) {
    count.failed = 1
    count.failures.push(...lastErrors, `${label}left with ${code}, and no test failed`)
  }
  return count
}
