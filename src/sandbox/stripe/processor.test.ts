import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { movableClock } from '#platform/clock.ts'
import { openDatabase } from '../database.ts'
import { createProcessor } from './processor.ts'

test('an unreadable database is logged and does not end the process', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const db = openDatabase(folder)
  const clock = movableClock()
  const logged = Promise.withResolvers<unknown>()
  const processor = createProcessor({
    db,
    clock,
    hands: { clock, settle: async () => undefined } as never,
    log: { error: (details: object) => logged.resolve(Reflect.get(details, 'err')) } as never,
    catalogue: { plans: [], products: [] },
    endpoints: () => [],
    originOf: () => 'http://127.0.0.1',
    origin: () => 'http://127.0.0.1',
  })
  db.close()
  // Checks for undelivered events, and once a second for due work.
  processor.start()
  assert.match(String(await logged.promise), /database is not open/)
  await new Promise((resolve) => setTimeout(resolve, 1_200))
  await processor.close()
})
