/**
 * `npm run mutate -- [--list] [--tests PART] [PART …]`
 *
 * Switches off one condition on an owner or a lifetime at a time, and runs the nearest tests that
 * use it. They run on SQLite, or on the embedded PostgreSQL with TEST_ENGINE=pglite. A condition that
 * no test misses is a survivor: it needs a test or a reason in REASONS. PART chooses conditions by their
 * name in the list, and tests by their path; `--tests same-ids` is the fastest. Exits with 1 when
 * there are unexplained survivors.
 *
 * A copy of the sources has a switch around every condition. Each test file runs once to learn
 * which conditions it uses, and the copy never changes between two mutants.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { setPriority, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

/** `id`: its switch. `name`: the key in REASONS. */
type Mutant = { id: number; file: string; line: number; name: string }
type Edit = { at: number; text: string }
type TestFile = { file: string; seconds: number; reached: Set<number> }
/** `failure`: the first test that failed, or null. */
type Run = { failure: string | null; seconds: number }

const ROOT = join(import.meta.dirname, '..')
const COLUMNS = 'user_id|account_id|expires_at|revoked_at|is_active'
const WHERE_CALL = new RegExp(`\\.where\\((?=\\s*'(?:\\w+\\.)?(?:${COLUMNS})')`, 'g')
const RAW_SQL = new RegExp(`\\b(?:\\w+\\.)?(?:${COLUMNS}) = \\$\\{[^}]+\\}`, 'g')
/** A function or constant at the start of a line, or a method. */
const DECLARATION =
  /^(?:export )?(?:async )?(?:function\*? |const )(\w+)|^ {2}(?:async )?(?!if|for|while)(#?\w+)\(.*\{$|^ {2}async (#?\w+)\($/gm
/** Tests that try every route and table for rows of other users. They run last. */
const ISOLATION_TESTS = ['src/app/ownership', 'src/app/personal-data']
const AT_ONCE = 2
const NICE = 10
/** On top of three times the duration of the same files without a mutant. */
const TIMEOUT_SECONDS = 60

/** Survivors that no test on SQLite can notice, and why. */
const ON_POSTGRES = 'not used on SQLite; the tests notice it with TEST_ENGINE=pglite'
const REASONS: Record<string, string> = {
  "src/api-keys/keys.ts rotateKey: 'is_active', '=', true":
    'a revocation between the read and the update of a rotation, which no test can time',
  "src/identity/account/invitations.ts openInvitations: 'user_id', 'is', null":
    'no invitation has a user; the condition makes the index usable',
  "src/identity/sessions/open-views.ts endViews: 'user_id', '=', userId":
    'ending a view checks the user of the session again',
  "src/rag/documents/document-store.ts lockDocuments: 'user_id', '=', userId":
    'the statement locks the row and returns nothing, and SQLite has no locks of rows',
  "src/rag/documents/chunk-store.ts buildServerQuery: 'user_id', '=', ''": ON_POSTGRES,
  'src/rag/search/stores/pgvector.ts remove: user_id = ${userId}': ON_POSTGRES,
  'src/rag/search/stores/pgvector.ts listIndexes: user_id = ${userId}': ON_POSTGRES,
  'src/rag/search/stores/pgvector.ts eraseSlice: user_id = ${userId}': ON_POSTGRES,
  'src/rag/search/stores/pgvector.ts searchExactly: user_id = ${userId}': ON_POSTGRES,
  'src/rag/search/stores/hnsw.ts buildPredicate: user_id = ${sql.lit(userId)}':
    'used on a server with pgvector alone, where stores.db.test.ts compares two users',
}

/**
 * Defines `switched` of the copy. The condition stays in the statement, because
 * some statements are built once and get their parameters by position.
 */
const SWITCH = `
import { appendFileSync } from 'node:fs'
import { sql } from 'kysely'

const reached = new Set()

export function switched(id, condition) {
  if (!reached.has(id)) appendFileSync(process.env.MUTANTS_REACHED, id + '\\n')
  reached.add(id)
  if (process.env.MUTANT !== String(id)) return condition
  if (condition.length === 1) return [sql\`(\${condition[0]} or 1 = 1)\`]
  return [(e) => e.or([e(...condition), sql\`1 = 1\`])]
}
`

setPriority(NICE)
const { values: options, positionals: parts } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean', default: false },
    tests: { type: 'string', default: '' },
  },
})
const sources = globSync('src/**/*.ts', { cwd: ROOT })
  .filter((file) => !/\.test\.ts$|^src\/(testing|sandbox)\//.test(file))
  .sort()
const mutants: Mutant[] = []
const switchedSources = new Map<string, string>()
for (const file of sources) insertSwitches(file, readFileSync(join(ROOT, file), 'utf8'))

if (options.list) {
  for (const { name, line } of mutants) console.log(`${name}  (line ${line})`)
  process.exit(0)
}

const copy = createCopy()
const running = new Set<ChildProcess>()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
process.once('exit', () => {
  for (const child of running) killGroup(child)
  rmSync(copy, { recursive: true, force: true })
})

const tests = await learnTests()
let survivorCount = 0
await runSideBySide(mutants, async (mutant) => {
  const failure = await findFailure(mutant)
  const reason = REASONS[mutant.name]
  const survives = failure === null && reason === undefined
  if (survives) survivorCount++
  const outcome = failure !== null ? `noticed by ${failure}` : (reason ?? 'SURVIVED')
  console.log(`${mutant.name}  (line ${mutant.line})  ${outcome}`)
})
console.log(`${mutants.length} mutants, ${survivorCount} survived`)
process.exitCode = survivorCount === 0 ? 0 : 1

/** Adds the mutants of `source` to `mutants`, and the version with switches to `switchedSources`. */
function insertSwitches(file: string, source: string): void {
  const edits: Edit[] = []
  const add = (start: number, end: number, [before, after]: [string, string]) => {
    const id = mutants.length
    const removed = source.slice(start, end).replace(/\s+/g, ' ')
    const line = source.slice(0, start).split('\n').length
    const name = `${file} ${findDeclaration(source, start)}: ${removed}`
    if (parts.length > 0 && !parts.some((part) => name.includes(part))) return
    mutants.push({ id, file, line, name })
    edits.push({ at: start, text: before.replace('ID', String(id)) }, { at: end, text: after })
  }
  for (const { 0: call, index } of source.matchAll(WHERE_CALL)) {
    const start = index + call.length
    add(start, findClosingParenthesis(source, start), ['...switched(ID, [', '])'])
  }
  for (const { 0: text, index } of source.matchAll(RAW_SQL))
    add(index, index + text.length, ['${switched(ID, [sql`', '`])[0]}'])
  if (edits.length === 0) return
  const withSwitches = edits
    .toSorted((a, b) => b.at - a.at)
    .reduce((text, { at, text: added }) => text.slice(0, at) + added + text.slice(at), source)
  switchedSources.set(file, withSwitches)
}

/** Returns the position of the parenthesis that closes the one opened before `from`. */
function findClosingParenthesis(source: string, from: number): number {
  let depth = 1
  for (let at = from; at < source.length; at++) {
    if (source[at] === '(') depth++
    if (source[at] === ')') depth--
    if (depth === 0) return at
  }
  throw new Error('a call of where has no end')
}

/** Returns the name of the function, constant or method around a position. */
function findDeclaration(source: string, position: number): string {
  const last = [...source.slice(0, position).matchAll(DECLARATION)].at(-1)
  return last?.slice(1).find((name) => name !== undefined) ?? ''
}

/** Returns the folder of a copy of the project with a switch around every condition. */
function createCopy(): string {
  const folder = mkdtempSync(
    join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'latchkey-mutate-'),
  )
  const skipped = new Set(['node_modules', '.git', 'data'])
  cpSync(ROOT, folder, { recursive: true, filter: (path) => !skipped.has(basename(path)) })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  mkdirSync(join(folder, 'tmp'))
  const switchFile = join(folder, 'switched.mjs')
  writeFileSync(switchFile, SWITCH)
  for (const [file, source] of switchedSources)
    writeFileSync(join(folder, file), `import { switched } from '${switchFile}'; ${source}`)
  return folder
}

/** Runs every test that is near a mutant once, to learn which conditions it uses. */
async function learnTests(): Promise<TestFile[]> {
  const files = globSync('src/*/**/*.test.ts', { cwd: copy })
    .filter((test) => test.includes(options.tests))
    .filter((test) => mutants.some(({ file }) => isNear(test, file)))
    .sort()
  const learned: TestFile[] = []
  // Each in its own process, because some queries are built once per process.
  await runSideBySide(files, async (file) => {
    const list = join(copy, 'tmp', `reached-${file.replaceAll('/', '-')}`)
    writeFileSync(list, '')
    const { failure, seconds } = await run([file], { MUTANTS_REACHED: list })
    const reached = new Set(readFileSync(list, 'utf8').trim().split('\n').map(Number))
    if (failure === null) learned.push({ file, seconds, reached })
    else console.error(`${file} is left out, it fails without a mutant: ${failure}`)
  })
  return learned
}

/** Returns the first test that fails without the condition of `mutant`, or null. */
async function findFailure({ id, file }: Mutant): Promise<string | null> {
  const rank = (test: TestFile) => test.seconds + (isIsolationTest(test.file) ? 1e6 : 0)
  const chosen = tests
    .filter((test) => test.reached.has(id) && isNear(test.file, file))
    .toSorted((a, b) => rank(a) - rank(b))
  if (chosen.length === 0) return null
  const seconds = chosen.reduce((sum, test) => sum + test.seconds, 0)
  const files = chosen.map((test) => test.file)
  const env = { MUTANT: String(id), MUTANTS_REACHED: '/dev/null' }
  return (await run(files, env, 3 * seconds)).failure
}

/** Near a source file are the tests of its folder, of the folders above it, and of isolation. */
function isNear(test: string, file: string): boolean {
  return isIsolationTest(test) || file.startsWith(`${dirname(test)}/`)
}

function isIsolationTest(test: string): boolean {
  return ISOLATION_TESTS.some((part) => test.startsWith(part))
}

/** Runs test files in one process, until the first failure. */
function run(files: string[], env: Record<string, string>, seconds = 600): Promise<Run> {
  const started = performance.now()
  const lane = ['--test-force-exit', '--test-reporter=tap', 'src/testing/lane.ts']
  const child = spawn(process.execPath, [...lane, ...files], {
    cwd: copy,
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: join(ROOT, 'node_modules', '.cache', 'latchkey-test'),
      TMPDIR: join(copy, 'tmp'),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
    // A separate process group, so that its children end with it.
    detached: true,
  })
  running.add(child)
  let failure: string | null = null
  const end = (why: string) => {
    failure ??= why
    killGroup(child)
  }
  const timeout = setTimeout(end, (seconds + TIMEOUT_SECONDS) * 1000, 'a time limit')
  createInterface({ input: child.stdout }).on('line', (line) => {
    const title = /^\s*not ok \d+ - (.*)$/.exec(line)?.[1]
    if (title !== undefined) end(`'${title}'`)
  })
  return new Promise((resolve) =>
    child.once('close', (code) => {
      clearTimeout(timeout)
      running.delete(child)
      if (code !== 0) failure ??= `exit code ${code}`
      resolve({ failure, seconds: (performance.now() - started) / 1000 })
    }),
  )
}

/** Ends the process with its children. */
function killGroup({ pid, exitCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL')
}

async function runSideBySide<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values()
  const worker = async () => {
    for (const item of rest) await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
