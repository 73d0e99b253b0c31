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

test('who is behind waits for another’s search to its end, and not for one that takes long', async () => {
  const patient = createTurns({ othersMs: 600_000 })
  const hasty = createTurns({ othersMs: 1 })
  for (const [turns, waits] of [
    [patient, true],
    [hasty, false],
  ] as const) {
    const { promise: vendor, resolve: answer } = Promise.withResolvers<void>()
    const events: string[] = []
    const eve = turns.during('eve', () => vendor).then(() => events.push('eve'))
    const ada = Promise.all(
      ['first', 'second', 'third'].map((name) =>
        turns.during('ada', () => turns.take('ada', async () => void events.push(name))),
      ),
    )
    if (waits) for (let turn = 0; turn < 50; turn++) await nextTurn()
    else await ada
    assert.deepEqual(events, waits ? ['first'] : ['first', 'second', 'third'])
    answer()
    await Promise.all([eve, ada])
    assert.deepEqual(
      events,
      waits ? ['first', 'eve', 'second', 'third'] : ['first', 'second', 'third', 'eve'],
    )
  }
})

test('two who both ask much do not wait for each other’s searches to end', async () => {
  const turns = createTurns({ othersMs: 600_000 })
  const ranked: string[] = []
  const { promise: vendor, resolve: answer } = Promise.withResolvers<void>()
  const all = ['ada', 'eve', 'ada', 'eve', 'ada', 'eve'].map((name) =>
    turns.during(name, async () => {
      await turns.take(name, async () => void ranked.push(name))
      await vendor
    }),
  )
  for (let turn = 0; turn < 20; turn++) await nextTurn()
  assert.deepEqual(ranked, ['ada', 'eve', 'ada', 'eve', 'ada', 'eve'])
  answer()
  await Promise.all(all)
})

test('what fails leaves its turn, and what takes long keeps it', async () => {
  const turns = createTurns()
  const failing = turns.during('ada', () =>
    turns.take('ada', () => Promise.reject(new Error('no disk'))),
  )
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
