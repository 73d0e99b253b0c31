import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatLastDay } from './last-day.ts'

test('the last day is that of UTC in every time zone', (t) => {
  const { TZ } = process.env
  t.after(() => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  })
  for (const zone of ['Pacific/Auckland', 'America/Los_Angeles']) {
    process.env.TZ = zone
    assert.equal(formatLastDay('2026-11-30T23:59:59Z'), 'Nov 30, 2026')
  }
})
