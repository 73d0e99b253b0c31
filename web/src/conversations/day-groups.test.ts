import assert from 'node:assert/strict'
import test from 'node:test'
import { describeDay, groupByDay } from './day-groups.ts'

const now = new Date(2026, 10, 26, 9)
const ago = (days: number, hour = 12) => new Date(2026, 10, 26 - days, hour).toISOString()

test('a day is described by its distance from today', () => {
  assert.deepEqual(
    [ago(0, 1), ago(1, 23), ago(6), ago(7), ago(29)].map((day) => describeDay(day, now)),
    ['Today', 'Yesterday', 'Last 7 days', 'Last 30 days', 'Last 30 days'],
  )
  assert.doesNotMatch(describeDay(ago(40), now), /2026/)
  assert.match(describeDay(ago(400), now), /2025/)
})

test('groups keep the order, and pinned conversations form the first', () => {
  const one = (id: string, updated_at: string, pinned_at: string | null = null) => ({
    id,
    updated_at,
    pinned_at,
  })
  const groups = groupByDay(
    [one('p', ago(90), ago(1)), one('a', ago(0, 1)), one('b', ago(0, 0)), one('c', ago(1))],
    now,
  )
  assert.deepEqual(
    groups.map(({ title, items }) => [title, items.map(({ id }) => id)]),
    [
      ['Pinned', ['p']],
      ['Today', ['a', 'b']],
      ['Yesterday', ['c']],
    ],
  )
})
