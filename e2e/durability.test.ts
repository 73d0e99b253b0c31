import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spendAtOnce } from '../bench/durability/budget.ts'
import { killRounds } from '../bench/durability/kills.ts'
import { startVendor } from '../bench/ledger/calls.ts'

test('calls of all APIs that run at a kill -9 are in the ledger once, and nothing stays reserved for them', async (t) => {
  const vendor = await startVendor()
  t.after(vendor.stop)
  const { calls, wrong } = await killRounds(vendor, 1, 3_500)
  assert.deepEqual(wrong, [])
  const killed = calls.filter(({ end }) => end === 'killed')
  assert.ok(killed.some(({ kept }) => kept === 'recorded') && calls.some(({ end }) => end === 'whole'))
})

test('three hundred calls at once of all APIs spend a budget in dollars to its end, and not a nanodollar more', async (t) => {
  const vendor = await startVendor()
  t.after(vendor.stop)
  const { answered, refused, wrong } = await spendAtOnce(vendor, 300)
  assert.deepEqual(wrong, [])
  assert.ok(answered > 100 && refused > 100, `${answered} answered, ${refused} refused`)
})
