import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

const FINE = 'exit 0'

test('a failing formatter hides no failing type', (t) => {
  const { status, lines } = check(t, {
    biome: 'echo badly formatted; exit 1',
    tsc: 'echo "wrong in $2"; exit 2',
    node: FINE,
  })
  assert.equal(status, 1)
  for (const said of ['badly formatted', 'wrong in .', 'wrong in web'])
    assert.ok(lines.includes(said), said)
  assert.deepEqual(lines.slice(-4), [
    '✖ format and lint',
    '✖ types of the service',
    '✖ types of the user app',
    '✔ arrows between rooms, what stands in docs/',
  ])
})

test('one failure of many is a failure, and none is none', (t) => {
  assert.equal(check(t, { biome: FINE, tsc: FINE, node: 'exit 1' }).status, 1)
  assert.equal(check(t, { biome: FINE, tsc: FINE, node: FINE }).status, 0)
})

test('a tool that is not installed is told, and the others run', (t) => {
  const { status, lines } = check(t, { tsc: FINE, node: FINE })
  assert.equal(status, 1)
  assert.ok(lines.some((line) => line.startsWith('biome does not run: ')))
  assert.deepEqual(lines.slice(-4, -2), ['✖ format and lint', '✔ types of the service'])
})

/** Runs the check with nothing on the path but these tools. */
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
