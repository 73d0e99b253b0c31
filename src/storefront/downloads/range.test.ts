import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isResume, parseRange, resolveRange } from './range.ts'

const SIZE = 1000

const RANGES: [header: string, start: number, end: number, resumes: boolean][] = [
  ['bytes=0-', 0, 1000, false],
  ['bytes=0-499', 0, 500, false],
  ['bytes=500-', 500, 1000, true],
  ['bytes=500-599', 500, 600, true],
  ['bytes=999-', 999, 1000, true],
  ['bytes=500-99999999', 500, 1000, true],
  ['bytes=-100', 900, 1000, true],
  ['bytes=-5000', 0, 1000, true],
  ['Bytes= 7 - 8 ', 7, 9, true],
]

test('a range is resolved to its bytes', () => {
  for (const [header, start, end, resumes] of RANGES) {
    const range = parseRange(header)
    assert.ok(range, header)
    assert.deepEqual(resolveRange(range, SIZE), { start, end }, header)
    assert.equal(isResume(range), resumes, header)
  }
})

test('what cannot be satisfied has no bytes', () => {
  for (const header of [
    'bytes=1000-',
    'bytes=5000-6000',
    'bytes=-0',
    'bytes=0-1,5-6',
    'bytes=0-,0-,0-,0-',
  ]) {
    const range = parseRange(header)
    assert.ok(range, header)
    assert.equal(resolveRange(range, SIZE), null, header)
  }
})

test('an invalid byte range is ignored, as the standard requires', () => {
  for (const header of [
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=5-2',
    'items=0-5',
    'bytes=a-b',
    `bytes=${'9'.repeat(99)}-`,
  ]) {
    assert.equal(parseRange(header), null, header)
  }
})
