import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

const FINE = 'exit 0'
const PASSING = { biome: FINE, tsc: FINE, node: FINE, knip: FINE }

test('reports type errors when the formatter fails, too', (t) => {
  const { status, lines } = check(t, {
    biome: 'echo badly formatted; exit 1',
    tsc: 'echo "wrong in $2"; exit 2',
    node: FINE,
    knip: FINE,
  })
  assert.equal(status, 1)
  for (const output of ['badly formatted', 'wrong in .', 'wrong in web'])
    assert.ok(lines.includes(output), output)
  assert.deepEqual(findOutcomes(lines), [
    '✔ architecture and generated files',
    '✔ unused code',
    '✖ format and lint',
    '✖ types of the service',
    '✖ types of the user app',
  ])
})

test('fails when one step fails, and passes when all pass', (t) => {
  assert.equal(check(t, { ...PASSING, node: 'exit 1' }).status, 1)
  assert.equal(check(t, PASSING).status, 0)
})

test('reports a tool that is not installed and runs the others', (t) => {
  const { status, lines } = check(t, { tsc: FINE, node: FINE, knip: FINE })
  assert.equal(status, 1)
  assert.ok(lines.some((line) => line.startsWith('biome does not start: ')))
  assert.deepEqual(
    findOutcomes(lines).filter((line) => line.startsWith('✖')),
    ['✖ format and lint'],
  )
})

/** Returns the lines of the steps without their durations, in the order of their names. */
function findOutcomes(lines: string[]): string[] {
  return lines
    .filter((line) => /^[✔✖] /.test(line))
    .map((line) => line.replace(/ \(\d+\.\d s\)$/, ''))
    .sort()
}

/** Runs the check with only these tools on the path. */
function check(t: TestContext, tools: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-check-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, script] of Object.entries(tools)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, 'check.ts')],
    { encoding: 'utf8', env: { ...process.env, PATH: folder }, timeout: 60_000 },
  )
  return { status, lines: `${stderr}${stdout}`.trim().split('\n') }
}
