import assert from 'node:assert/strict'
import test from 'node:test'
import type { Plan } from '../api/types.ts'
import { computePrice } from './price.ts'

const limits = {
  documents_max: null,
  characters_max: null,
  chunks_max: null,
  file_bytes_max: null,
  output_tokens_max: null,
  choices_max: null,
}

const pro: Plan = {
  name: 'Pro',
  tier: 'pro',
  price: 29,
  price_monthly: 'price_m',
  price_yearly: 'price_y',
  amount_yearly: 290,
  currency: 'eur',
  features: [],
  limits,
  grants: [],
  trial_days: 0,
}

test('a month and a year have their own price and price id', () => {
  assert.deepEqual(computePrice(pro, 'monthly'), {
    amount: 29,
    currency: 'EUR',
    per: 'per month',
    priceId: 'price_m',
    saving: null,
  })
  const year = computePrice(pro, 'yearly')
  assert.equal(year.amount, 290)
  assert.equal(year.priceId, 'price_y')
  assert.equal(Math.round((year.saving ?? 0) * 100), 17)
})

test('a plan without a yearly price stays monthly', () => {
  const { price_yearly: _, ...monthly } = pro
  assert.equal(computePrice(monthly, 'yearly').priceId, 'price_m')
})

test('a plan without a monthly price stays yearly', () => {
  const { price_monthly: _, ...yearly } = pro
  assert.equal(computePrice(yearly, 'monthly').priceId, 'price_y')
})

test('a year without a discount shows no saving', () => {
  assert.equal(computePrice({ ...pro, amount_yearly: 348 }, 'yearly').saving, null)
})

test('unknown prices stay null', () => {
  const { price: _, amount_yearly: __, ...unknown } = pro
  assert.equal(computePrice(unknown, 'monthly').amount, null)
  assert.equal(computePrice(unknown, 'yearly').amount, null)
  assert.equal(
    computePrice(
      { name: 'Free', tier: 'free', price: 0, features: [], limits, grants: [], trial_days: 0 },
      'monthly',
    ).amount,
    0,
  )
})
