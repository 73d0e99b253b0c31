import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sandboxClock } from './clock.ts'

const HOUR_MS = 3_600_000

function folder(t: TestContext): { dataDir: string; path: string } {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-test-'))
  t.after(() => rmSync(dataDir, { recursive: true, force: true }))
  return { dataDir, path: join(dataDir, 'sandbox-clock') }
}

test('follows a clock moved by another process within a second', (t) => {
  const { dataDir } = folder(t)
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2030-01-01') })
  const [one, other] = [sandboxClock(dataDir), sandboxClock(dataDir)]
  one.advance(HOUR_MS)
  t.mock.timers.tick(1_000)
  assert.equal(other.now(), '2030-01-01T01:00:01.000Z')
})

test('continues from the last read offset while the file is unreadable', (t) => {
  const { dataDir, path } = folder(t)
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2030-01-01') })
  writeFileSync(path, String(HOUR_MS))
  const clock = sandboxClock(dataDir)
  assert.equal(clock.movedMs(), HOUR_MS)

  rmSync(path)
  mkdirSync(path)
  t.mock.timers.tick(1_000)
  assert.equal(clock.now(), '2030-01-01T01:00:01.000Z')

  rmSync(path, { recursive: true })
  writeFileSync(path, String(2 * HOUR_MS))
  t.mock.timers.tick(1_000)
  assert.equal(clock.movedMs(), 2 * HOUR_MS)
})

test('a start fails when the offset cannot be read', (t) => {
  const { dataDir, path } = folder(t)
  mkdirSync(path)
  assert.throws(() => sandboxClock(dataDir), { code: 'EISDIR' })
})
