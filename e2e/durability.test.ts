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
  // Those that reach the vendor in the first two seconds are old enough to be missed.
  const result = await killRounds(vendor, 1, 5_000, (service) => spendAtOnce(service, vendor, 300))
  killed = result.killed
  spent = result.last
})

test('calls of all APIs that run at a kill -9 are in the ledger once, and nothing stays reserved for them', () => {
  const { calls, wrong } = killed
  assert.deepEqual(wrong, [])
  assert.ok(calls.some(({ end, isCrashed }) => end === 'killed' && isCrashed))
  assert.ok(calls.some(({ end }) => end === 'whole'))
})

test('three hundred calls at once of all APIs spend a budget in dollars to its end, and not a nanodollar more', () => {
  const { answered, refused, wrong } = spent
  assert.deepEqual(wrong, [])
  assert.ok(answered > 100 && refused > 100, `${answered} answered, ${refused} refused`)
})
