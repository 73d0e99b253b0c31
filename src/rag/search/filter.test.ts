import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Problem } from '#platform/problem.ts'
import { matches, parseFilter } from '#rag/search/filter.ts'

const metadata = {
  topic: 'tax',
  year: 2024,
  draft: false,
  note: null,
  tags: ['a', 'c'],
  years: [1990, 2024],
  $odd: 1,
}

const cases: [string, Record<string, unknown>, boolean][] = [
  ['equal', { topic: 'tax' }, true],
  ['unequal', { topic: 'law' }, false],
  ['every key must hold', { topic: 'tax', year: 2023 }, false],
  ['types are not mixed', { year: '2024' }, false],
  ['false equals false', { draft: false }, true],
  ['null equals null', { note: null }, true],
  ['null does not equal a missing key', { missing: null }, false],
  ['a missing key equals nothing', { missing: 'x' }, false],
  ['$in', { year: { $in: [2023, 2024] } }, true],
  ['$in of none', { year: { $in: [] } }, false],
  ['$gt', { year: { $gt: 2024 } }, false],
  ['$gte', { year: { $gte: 2024 } }, true],
  ['a range', { year: { $gt: 2020, $lt: 2025 } }, true],
  ['$lte of a text', { topic: { $lte: 5 } }, false],
  ['$ne', { topic: { $ne: 'tax' } }, false],
  ['$ne matches a missing key', { missing: { $ne: 'x' } }, true],
  ['inherited names are missing', { constructor: { $ne: 1 }, toString: { $ne: 1 } }, true],
  ['a member of a list', { tags: 'a' }, true],
  ['no member of a list', { tags: 'b' }, false],
  ['$in of a list', { tags: { $in: ['b', 'a'] } }, true],
  ['$ne of a list', { tags: { $ne: 'a' } }, false],
  ['$ne of all members of a list', { tags: { $ne: 'b' } }, true],
  ['a range of a list', { years: { $gte: 2020 } }, true],
  ['nothing asked', {}, true],
]
for (const [name, filter, expected] of cases) {
  test(`${name}: ${JSON.stringify(filter)}`, () =>
    assert.equal(matches(metadata, parseFilter(filter)), expected))
}

const refused: Record<string, unknown>[] = [
  { year: { $regex: '.' } },
  { year: { nested: 1 } },
  { year: { $gt: '2020' } },
  { year: { $in: 5 } },
  { year: { $in: [{ $gt: 1 }] } },
  { year: { $ne: [1] } },
  { tags: ['a'] },
  { $or: [{ year: 1 }] },
  Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`k${i}`, i])),
]
for (const filter of refused) {
  test(`refused: ${JSON.stringify(filter).slice(0, 60)}`, () => {
    assert.throws(
      () => parseFilter(filter),
      (problem: Problem) => problem.status === 422 && Array.isArray(problem.detail),
    )
  })
}
