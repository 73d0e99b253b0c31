import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createTurns } from './turns.ts'

/** Ranks at once and is done `turns` turns of the event loop later, as one whose record is being written. */
function searches() {
  const turns = createTurns()
  const ranked: string[] = []
  return {
    ranked,
    ask: (userId: string, { lasts = 1 } = {}) =>
      turns.during(userId, async () => {
        await turns.take(userId, async () => void ranked.push(userId))
        for (let turn = 0; turn < lasts; turn++) await nextTurn()
      }),
  }
}

test('of one who asks much at once, one search is ranked a turn, also where each ends before the next is read', async () => {
  const { ranked, ask } = searches()
  const inSequence = (async () => {
    for (let i = 0; i < 20; i++) await ask('ada', { lasts: 0 })
  })()
  const atOnce = Array.from({ length: 20 }, () => ask('ada'))
  for (let turn = 0; turn < 10; turn++) {
    const before = ranked.length
    await nextTurn()
    assert.ok(ranked.length - before <= 1, `${ranked.length - before} in one turn`)
  }
  await Promise.all([inSequence, ...atOnce])
  assert.equal(ranked.length, 40)
})

test('another user’s search is ranked at once, and waited for to its end by who has more to ask', async () => {
  const { ranked, ask } = searches()
  const many = Array.from({ length: 20 }, () => ask('ada'))
  for (let turn = 0; turn < 3; turn++) await nextTurn()
  const before = ranked.length
  const eve = ask('eve', { lasts: 3 })
  await Promise.resolve()
  assert.deepEqual(ranked.slice(before), ['eve'])
  await eve
  assert.deepEqual(ranked.slice(before), ['eve'])
  await Promise.all(many)
  assert.equal(ranked.length, 21)
})

test('who is behind waits for one that takes long no more than some turns, and for nobody at all once it ended', async () => {
  const { ranked, ask } = searches()
  let isOver = false
  const eve = ask('eve', { lasts: 2_000 }).then(() => {
    isOver = true
  })
  await Promise.all(Array.from({ length: 20 }, () => ask('ada')))
  assert.equal(isOver, false)
  assert.equal(ranked.length, 21)
  await eve
  const after = ranked.length
  const many = Array.from({ length: 10 }, () => ask('ada', { lasts: 0 }))
  for (let turn = 0; turn < 12; turn++) await nextTurn()
  assert.equal(ranked.length, after + 10)
  await Promise.all(many)
})

test('what fails leaves its turn, and what takes long keeps it', async () => {
  const turns = createTurns()
  const failing = turns.during('ada', () => turns.take('ada', () => Promise.reject(new Error('no disk'))))
  await assert.rejects(failing, /no disk/)
  const { promise: reading, resolve: read } = Promise.withResolvers<void>()
  const ranked: string[] = []
  const first = turns.take('ada', async () => {
    await reading
    ranked.push('first')
  })
  const second = turns.take('ada', async () => void ranked.push('second'))
  for (let turn = 0; turn < 10; turn++) await nextTurn()
  assert.deepEqual(ranked, [])
  read()
  await first
  assert.deepEqual(ranked, ['first'])
  await second
})
