/**
 * `npm run mutate -- [PART …]`: removes one condition on an owner or a lifetime at a time, in a
 * copy of the sources, and runs the nearest tests on SQLite. A removed condition that no test
 * notices is a survivor: it needs a test or a reason in REASONS. Prints one line per mutant and
 * exits with 1 when there are unexplained survivors. PART chooses source files by path.
 */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

type Mutant = { file: string; line: number; removed: string; source: string }

const ROOT = join(import.meta.dirname, '..')
const COLUMNS = 'user_id|account_id|expires_at|revoked_at|is_active'
const WHERE_CALL = new RegExp(`\\.where\\(\\s*'(?:\\w+\\.)?(?:${COLUMNS})'`, 'g')
const RAW_SQL = new RegExp(`\\b(?:\\w+\\.)?(?:${COLUMNS}) = \\$\\{[^}]+\\}`, 'g')
/** Tests that try every route and table for rows of other users. */
const ISOLATION_TESTS = ['src/app/ownership', 'src/app/personal-data']
const TIMEOUT_MS = 300_000

/** Survivors that no test can notice, by `file: removed text`, and why. */
const BY_ID = 'the id, read under the same user, identifies the row; the user names its server'
const BY_HASH = 'the hash of a random secret identifies the key; the user names its server'
const REASONS: Record<string, string> = {
  "src/api-keys/caller-now.ts: .where('user_id', '=', userId)": BY_ID,
  "src/api-keys/keys.ts: .where('user_id', '=', userId)": BY_ID,
  "src/api-keys/keys.ts: .where('is_active', '=', true)":
    'a revocation between the read and the update of a rotation, which no test can time',
  "src/api-keys/verifier.ts: .where('user_id', '=', owner)": BY_HASH,
  "src/api-keys/verifier.ts: .where('user_id', '=', userId)": BY_ID,
}

/** Returns every version of `source` that lacks one condition. */
function createMutants(file: string, source: string): Mutant[] {
  const ranges = [...source.matchAll(WHERE_CALL)].map(({ index }) => ({
    start: index,
    end: findClosingParenthesis(source, index + '.where('.length),
    replacement: '',
  }))
  for (const { 0: text, index } of source.matchAll(RAW_SQL))
    ranges.push({ start: index, end: index + text.length, replacement: '1 = 1' })
  return ranges.map(({ start, end, replacement }) => ({
    file,
    line: source.slice(0, start).split('\n').length,
    removed: source.slice(start, end).replace(/\s+/g, ' '),
    source: source.slice(0, start) + replacement + source.slice(end),
  }))
}

/** Returns the position after the parenthesis that closes the one opened before `from`. */
function findClosingParenthesis(source: string, from: number): number {
  let depth = 1
  let at = from
  for (; depth > 0 && at < source.length; at++) {
    if (source[at] === '(') depth++
    if (source[at] === ')') depth--
  }
  return at
}

/**
 * Test paths from the nearest to the farthest: the file's folder, its room, the isolation tests.
 */
function findNearestTests(file: string): string[][] {
  const folder = dirname(file)
  const room = folder.split('/').slice(0, 2).join('/')
  const ownTest = file.replace(/\.ts$/, '.')
  const hasOwnTest = globSync(`${ownTest}*test.ts`, { cwd: ROOT }).length > 0
  const steps = [...(hasOwnTest ? [[ownTest]] : []), ISOLATION_TESTS, [`${folder}/`], [`${room}/`]]
  return steps.filter(
    (step, index) => steps.findIndex((other) => other.join() === step.join()) === index,
  )
}

const passesUnchanged = new Map<string, boolean>()

/** Returns true when a test that passes on the unchanged sources fails on the mutant. */
function isNoticed(copy: string, { file, source }: Mutant): boolean {
  const path = join(copy, file)
  const original = readFileSync(path, 'utf8')
  return findNearestTests(file).some((parts) => {
    const key = parts.join()
    if (!passesUnchanged.has(key)) passesUnchanged.set(key, passes(copy, parts))
    if (!passesUnchanged.get(key)) return false
    writeFileSync(path, source)
    try {
      return !passes(copy, parts)
    } finally {
      writeFileSync(path, original)
    }
  })
}

function passes(copy: string, parts: string[]): boolean {
  const args = [join(copy, 'src/testing/run.ts'), '--sqlite', ...parts]
  return (
    spawnSync(process.execPath, args, { cwd: copy, stdio: 'ignore', timeout: TIMEOUT_MS })
      .status === 0
  )
}

const parts = process.argv.slice(2)
const files = globSync('src/**/*.ts', { cwd: ROOT })
  .filter((file) => !/\.test\.ts$|^src\/(testing|sandbox)\//.test(file))
  .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
  .sort()
const mutants = files.flatMap((file) => createMutants(file, readFileSync(join(ROOT, file), 'utf8')))

const copy = mkdtempSync(join(tmpdir(), 'latchkey-mutate-'))
let survivorCount = 0
try {
  const skipped = new Set(['node_modules', '.git', 'data'])
  cpSync(ROOT, copy, { recursive: true, filter: (path) => !skipped.has(basename(path)) })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  for (const mutant of mutants) {
    const reason = REASONS[`${mutant.file}: ${mutant.removed}`]
    const outcome = isNoticed(copy, mutant)
      ? 'noticed'
      : reason
        ? `explained: ${reason}`
        : 'SURVIVED'
    if (outcome === 'SURVIVED') survivorCount++
    console.log(`${outcome}  ${mutant.file}:${mutant.line}  ${mutant.removed}`)
  }
} finally {
  rmSync(copy, { recursive: true, force: true })
}
console.log(`${mutants.length} mutants, ${survivorCount} survived`)
process.exitCode = survivorCount === 0 ? 0 : 1
