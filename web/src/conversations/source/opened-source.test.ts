import assert from 'node:assert/strict'
import test from 'node:test'
import type { Message, Source } from '../api.ts'
import { findOpenedSource } from './opened-source.ts'

const source = (name: string): Source => ({
  document_id: name,
  name,
  page: 1,
  score: 0.8,
  content: 'text',
  chunk_ids: [`${name}_0`],
})
const answer = {
  id: 'a1',
  parts: [{ type: 'text', text: 'One [1]. Nothing [7]. Two [2].' }],
  sources: [source('a'), source('b')],
  citations: [],
} as unknown as Message

test('an address opens a mark among the marks of its answer', () => {
  const opened = findOpenedSource([answer], 'a1.2')
  assert.deepEqual(
    opened?.all.map(({ place, number }) => [place, number]),
    [
      ['0', 1],
      ['2', 2],
    ],
  )
  assert.equal(opened?.at, 1)
})

test('an address can open a source without a mark', () => {
  const opened = findOpenedSource([answer], 'a1.s2')
  assert.deepEqual([opened?.all.length, opened?.all[0]?.source.name], [1, 'b'])
})

test('an address of nothing opens nothing', () => {
  for (const address of [undefined, '', 'a1', 'a1.1', 'a1.9', 'a1.s9', 'a2.0', 'a1.s'])
    assert.equal(findOpenedSource([answer], address), null, String(address))
})
