import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readChatGpt } from './chatgpt.ts'
import { readOwnFormat } from './own-format.ts'
import { splitConversations } from './split.ts'

const NOW = '2026-11-26T20:00:00.000Z'

test('the splitter finds what JSON.parse finds', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue(), { maxLength: 20 }),
      fc.dictionary(fc.string(), fc.jsonValue()),
      (list, more) => {
        for (const text of [
          JSON.stringify(list),
          JSON.stringify(list, null, 1),
          JSON.stringify({ a: more, conversations: list }),
        ]) {
          const bytes = Buffer.from(text)
          const slices = splitConversations(bytes, 1_000) ?? []
          const values = slices.map(({ from, to }) => JSON.parse(bytes.toString('utf8', from, to)))
          assert.deepEqual(values, JSON.parse(JSON.stringify(list)))
        }
      },
    ),
  )
})

test('no file makes the readers throw', () => {
  const anything = fc.jsonValue({ maxDepth: 6 })
  const members = fc.record(
    {
      title: anything,
      messages: fc.oneof(
        anything,
        fc.array(
          fc.record({
            id: fc.string(),
            parent_id: anything,
            role: fc.constant('user'),
            parts: fc.array(anything),
          }),
        ),
      ),
      mapping: fc.dictionary(
        fc.string(),
        fc.record({ parent: fc.oneof(fc.string(), anything), message: anything }),
      ),
      current_node: anything,
      created_at: anything,
      create_time: anything,
    },
    { requiredKeys: ['mapping'] },
  )
  fc.assert(
    fc.property(members, (file) => {
      readChatGpt(file, NOW)
      readOwnFormat(file, NOW)
    }),
  )
})
