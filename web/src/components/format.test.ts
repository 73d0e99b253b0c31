import assert from 'node:assert/strict'
import test from 'node:test'
import { describeDevice } from './device.ts'
import { formatAge, formatBytes, formatDollars, plural } from './format.ts'

test('small sums keep four digits', () => {
  assert.equal(formatDollars(0), '$0')
  assert.equal(formatDollars(29), '$29')
  assert.equal(formatDollars(12.5), '$12.50')
  assert.equal(formatDollars(0.0012), '$0.0012')
})

test('sizes have a unit', () => {
  assert.equal(formatBytes(0), '0 B')
  assert.equal(formatBytes(1023), '1023 B')
  assert.equal(formatBytes(1024), '1 KB')
  assert.equal(formatBytes(25 * 1024 * 1024), '25.0 MB')
  assert.equal(formatBytes(5 * 1024 ** 4), '5120.0 GB')
})

test('times are relative to now, in both directions', () => {
  const now = Date.parse('2026-11-20T12:00:00.000Z')
  assert.equal(formatAge('2026-11-20T11:59:50.000Z', now), 'now')
  assert.equal(formatAge('2026-11-20T09:00:00.000Z', now), '3 hours ago')
  assert.equal(formatAge('2026-11-22T12:00:00.000Z', now), 'in 2 days')
})

test('counts have a singular and a plural', () => {
  assert.equal(plural(1, 'chunk'), '1 chunk')
  assert.equal(plural(0, 'chunk'), '0 chunks')
  assert.equal(plural(2, 'reply', 'replies'), '2 replies')
})

test('describes a browser by name and system, and other programs by their User-Agent', () => {
  assert.equal(
    describeDevice(
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0 Safari/537.36',
    ),
    'Chrome on Linux',
  )
  assert.equal(describeDevice('curl/8.5.0'), 'curl/8.5.0')
  assert.equal(describeDevice(null), 'Unknown device')
})
