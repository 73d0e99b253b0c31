import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seldom } from './log.ts'

test('a repeated failure logs one line a minute with the number of omitted lines', (t) => {
  let nowMs = 1_000
  t.mock.method(performance, 'now', () => nowMs)
  const lines: object[] = []
  const say = seldom((details, message) => lines.push({ ...details, message }))

  for (let tries = 0; tries < 100; tries++) say({ tries }, 'away')
  assert.deepEqual(lines, [{ tries: 0, message: 'away' }])
  nowMs += 60_000
  say({ tries: 100 }, 'away')
  say({ tries: 101 }, 'away')
  assert.deepEqual(lines.slice(1), [{ tries: 100, unsaid: 99, message: 'away' }])
})
