import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const SMALL = 'src/storefront/downloads/range.test.ts'
const OTHER = 'src/storefront/sessions/redirect.test.ts'

test('what cannot be run is refused with a sentence, and the options are told', () => {
  const refused: [string[], string | RegExp, NodeJS.ProcessEnv?][] = [
    [['no-such-part'], "no test file to run has 'no-such-part' in its path"],
    [[SMALL, 'no-such-part'], "no test file to run has 'no-such-part' in its path"],
    [['--sqlite', 'e2e/'], "no test file to run has 'e2e/' in its path"],
    [['--name', '('], /^--name: Invalid regular expression/],
    [['--watch'], '--watch needs a PART: the whole suite takes minutes'],
    [['--watch', '--coverage', SMALL], '--watch and --coverage do not go together'],
    [['--quickly'], "Unknown option '--quickly'"],
    [['--sqlite', SMALL], 'TEST_DATABASE_URL is set: unset it to use SQLite', { TEST_DATABASE_URL: 'postgres://x' }],
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
  const root = mkdtempSync(join(tmpdir(), 'latchkey-run-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'src/testing'), { recursive: true })
  cpSync(join(import.meta.dirname, 'run.ts'), join(root, 'src/testing/run.ts'))
  writeFileSync(join(root, 'package.json'), '{"type": "module"}')
  writeFileSync(
    join(root, 'src/a.http.test.ts'),
    "import { test } from 'node:test'\ntest('it leaves', () => process.exit(0))\n",
  )
  const { status, lines } = run(['--sqlite'], {}, join(root, 'src/testing/run.ts'))
  assert.deepEqual([status, lines.at(-1)], [1, '0 passed, 1 failed'])
})

function run(args: string[], env: NodeJS.ProcessEnv = {}, runner = join(import.meta.dirname, 'run.ts')) {
  // Without the mark by which a runner knows that it stands in another one.
  const { NODE_TEST_CONTEXT: _, TEST_DATABASE_URL: _url, ...rest } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, [runner, ...args], {
    encoding: 'utf8',
    env: { ...rest, ...env },
    timeout: 60_000,
  })
  return { status, lines: `${stderr}${stdout}`.trim().split('\n') }
}
