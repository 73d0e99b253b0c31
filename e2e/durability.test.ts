import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type BudgetResult, spendAtOnce } from '../bench/durability/budget.ts'
import { type KillsResult, killRounds } from '../bench/durability/kills.ts'
import { startVendor } from '../bench/ledger/calls.ts'

let killed: KillsResult
let spent: BudgetResult

before(async () => {
  const vendor = await startVendor()
  after(vendor.stop)
  // Calls that reach the vendor in the first two seconds are old enough for the check.
  const result = await killRounds(vendor, 1, 5_000, (service) => spendAtOnce(service, vendor, 300))
  killed = result.killed
  spent = result.last
})

test('records calls of all APIs that run during a kill -9 once, and releases their reservations', () => {
  const { calls, wrong } = killed
  assert.deepEqual(wrong, [])
  assert.ok(calls.some(({ end, isCrashed }) => end === 'killed' && isCrashed))
  assert.ok(calls.some(({ end }) => end === 'whole'))
})

test('300 concurrent calls of all APIs spend a dollar budget completely and never exceed it', () => {
  const { answered, refused, wrong } = spent
  assert.deepEqual(wrong, [])
  assert.ok(answered > 100 && refused > 100, `${answered} answered, ${refused} refused`)
})
