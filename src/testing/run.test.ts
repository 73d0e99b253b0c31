import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

const SMALL = 'src/storefront/downloads/range.test.ts'
const OTHER = 'src/storefront/sessions/redirect.test.ts'

test('a wrong option or part is rejected with a sentence and the list of options', () => {
  const refused: [string[], string | RegExp, NodeJS.ProcessEnv?][] = [
    [['no-such-part'], "no test file to run has 'no-such-part' in its path"],
    [[SMALL, 'no-such-part'], "no test file to run has 'no-such-part' in its path"],
    [['--sqlite', 'e2e/'], "no test file to run has 'e2e/' in its path"],
    [['--name', '('], /^--name: Invalid regular expression/],
    [['--watch'], '--watch needs a PART: the whole suite takes minutes'],
    [['--watch', '--coverage', SMALL], '--watch and --coverage do not go together'],
    [['--copied'], /^--copied needs TEST_DATABASE_URL/],
    [['--copied', '--sqlite'], '--copied is of PostgreSQL'],
    [['--quickly'], "Unknown option '--quickly'"],
    [
      ['--sqlite', SMALL],
      'TEST_DATABASE_URL is set: unset it to use SQLite',
      { TEST_DATABASE_URL: 'postgres://x' },
    ],
  ]
  for (const [args, sentence, env] of refused) {
    const { status, lines } = run(args, env)
    assert.equal(status, 2, args.join(' '))
    if (typeof sentence === 'string') assert.equal(lines[0], sentence)
    else assert.match(lines[0] ?? '', sentence)
    assert.equal(lines[2], 'Usage: npm test -- [OPTIONS] [PART …]')
  }
  assert.equal(run(['--help']).status, 0)
})

test('the last line counts what has run, and no file in which nothing did', () => {
  const whole = run(['--sqlite', SMALL])
  const { 1: passed = '' } = /^(\d+) passed, 0 failed$/.exec(whole.lines.at(-1) ?? '') ?? []
  assert.equal(whole.status, 0)
  assert.ok(Number(passed) > 1, whole.lines.join('\n'))

  const [, name = ''] = /✔ (.+) \([\d.]+ms\)$/m.exec(whole.lines.join('\n')) ?? []
  const named = run(['--sqlite', '--name', `^${RegExp.escape(name)}$`, SMALL, OTHER])
  assert.deepEqual([named.status, named.lines.at(-1)], [0, '1 passed, 0 failed'])

  const none = run(['--sqlite', '--name', 'no test is called so', SMALL, OTHER])
  assert.equal(none.status, 1)
  assert.deepEqual(none.lines.slice(-3), [
    "No test has a name that matches 'no test is called so'",
    '',
    '0 passed, 0 failed',
  ])
})

test('a test that ends its runner is a failure, though it leaves with 0', (t) => {
  const { status, lines } = runAlone(t, {
    'src/a.http.test.ts': "test('it leaves', () => process.exit(0))",
  })
  assert.deepEqual([status, lines.at(-1)], [1, '0 passed, 1 failed'])
})

test('an uncaught error is printed and fails the run even when all tests pass', (t) => {
  for (const stray of [
    "void Promise.reject(new Error('lost'))",
    "setTimeout(() => { throw new Error('lost') })",
  ]) {
    const { status, lines } = runAlone(t, {
      'src/a.http.test.ts': `test('it passes', async () => { ${stray}; await new Promise((done) => setTimeout(done, 50)) })`,
    })
    assert.deepEqual([status, lines.at(-1)?.endsWith(' 1 failed')], [1, true], lines.join('\n'))
    assert.ok(lines.includes('An error that no test has caught: Error: lost'), lines.join('\n'))
    assert.match(lines.slice(lines.indexOf('Failed:')).join('\n'), /Error: lost/)
  }
})

test('a file that cannot be loaded, or awaits at its top, is one separate failure', (t) => {
  const { status, lines } = runAlone(t, {
    'src/a.http.test.ts': "throw new Error('no')",
    'src/b.http.test.ts': "await null; test('it comes too late', () => {})",
    'src/c.http.test.ts': "describe('a suite', () => { test('it runs', async () => {}) })",
  })
  assert.deepEqual([status, lines.at(-1)], [1, '1 passed, 2 failed'])
})

test('failures are repeated at the end, including errors that belong to no test', (t) => {
  const told: [string, RegExp][] = [
    [
      "test('it fails', () => { throw new Error('as told') })",
      /✖ it fails \([\d.]+ms\)\n.*as told/,
    ],
    ["test('it leaves', () => process.exit(0))", /left with 0, and no test failed/],
  ]
  for (const [text, sentence] of told) {
    const { lines } = runAlone(t, { 'src/a.http.test.ts': text })
    assert.match(lines.slice(lines.indexOf('Failed:')).join('\n'), sentence)
    assert.equal(lines.at(-1), '0 passed, 1 failed')
  }
})

test('a test that fails beside others and passes alone is counted as passed and named as flaky', (t) => {
  const marker = "join(process.env.TMPDIR, 'ran')"
  const { status, lines } = runAlone(t, {
    'src/a.http.test.ts': `test('it fails once', () => {
      if (existsSync(${marker})) return
      writeFileSync(${marker}, '')
      throw new Error('the first time')
    })`,
    'src/b.http.test.ts': "test('it passes', () => {})",
  })
  assert.deepEqual([status, lines.at(-1)], [0, '2 passed, 0 failed'], lines.join('\n'))
  assert.ok(lines.includes('Flaky, passed when run again: src/a.http.test.ts'), lines.join('\n'))
  assert.match(lines.join('\n'), /the first time/)
})

/** Runs these files with a runner that knows no others. */
function runAlone(t: TestContext, files: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), 'latchkey-run-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'src/testing'), { recursive: true })
  for (const file of ['run.ts', 'lane.ts'])
    cpSync(join(import.meta.dirname, file), join(root, 'src/testing', file))
  writeFileSync(join(root, 'package.json'), '{"type": "module"}')
  for (const [name, text] of Object.entries(files))
    writeFileSync(
      join(root, name),
      `import { describe, test } from 'node:test'\nimport { existsSync, writeFileSync } from 'node:fs'\nimport { join } from 'node:path'\n${text}\n`,
    )
  return run(['--sqlite'], {}, join(root, 'src/testing/run.ts'))
}

function run(
  args: string[],
  env: NodeJS.ProcessEnv = {},
  runner = join(import.meta.dirname, 'run.ts'),
) {
  // Without the mark by which a runner knows that it stands in another one.
  const { NODE_TEST_CONTEXT: _, TEST_DATABASE_URL: _url, ...rest } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, [runner, ...args], {
    encoding: 'utf8',
    env: { ...rest, ...env },
    timeout: 60_000,
  })
  return { status, lines: `${stderr}${stdout}`.trim().split('\n') }
}
