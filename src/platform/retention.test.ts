import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from './clock.ts'
import type { Db } from './db/db.ts'
import { type Aged, removeAged } from './retention.ts'

const DEPS = { db: {} as Db, clock: systemClock }

function rule(what: string, removeSlice: Aged['removeSlice']): Aged {
  return { what, days: 1, setting: null, table: 'jobs', removeSlice }
}

test('a rule that fails does not stop later ones and is reported at the end', async () => {
  const ran: string[] = []
  const rules = [
    rule('letters', async () => {
      throw new Error('the lock was not given')
    }),
    rule('sessions', async () => ran.push('sessions')),
    rule('tokens', async () => Promise.reject(new Error('the disk is full'))),
    rule('calls', async () => ran.push('calls')),
  ]
  await assert.rejects(removeAged(DEPS, rules), (error: AggregateError) => {
    assert.match(error.message, /^letters: the lock was not given; tokens: the disk is full$/)
    return error.errors.length === 2
  })
  assert.deepEqual(ran, ['sessions', 'calls'])
})

test('stopping it stops all rules', async () => {
  const stopping = new AbortController()
  const rules = [
    rule('letters', async () => {
      stopping.abort()
      throw new Error('the database is closed')
    }),
    rule('sessions', async () => assert.fail('it goes on')),
  ]
  await assert.rejects(removeAged(DEPS, rules, stopping.signal), /the database is closed/)
})
