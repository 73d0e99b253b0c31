import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Plan } from '../api/types.ts'
import { featuredPlan, findPlan, hasPaidPlan, isFree, planName } from './plans.ts'

const limits = {
  documents_max: null,
  characters_max: null,
  chunks_max: null,
  file_bytes_max: null,
  output_tokens_max: null,
  choices_max: null,
}

const plans: Plan[] = [
  { name: 'Free', tier: 'free', price: 0, features: [], limits, grants: [], trial_days: 0 },
  {
    name: 'Documents',
    tier: 'docs',
    price_monthly: 'price_d',
    features: [],
    limits,
    grants: ['rag'],
    trial_days: 0,
  },
  {
    name: 'Gift',
    tier: 'gift',
    price: 0,
    price_monthly: 'price_g',
    features: [],
    limits,
    grants: ['ai', 'rag'],
    trial_days: 0,
  },
]

test('plans are found by their entitlements, lowest first', () => {
  assert.equal(findPlan(plans, 'rag')?.name, 'Documents')
  assert.equal(findPlan(plans, 'rag', 'ai')?.name, 'Gift')
  assert.equal(findPlan(plans, 'api_keys'), undefined)
})

test('a tier without a plan is shown with a capital letter', () => {
  assert.equal(planName(plans, 'docs'), 'Documents')
  assert.equal(planName(plans, 'gold'), 'Gold')
  assert.equal(planName([], ''), '')
})

test('a dropped tier and the entitlements of the free plan are no paid plan', () => {
  assert.equal(hasPaidPlan(plans, 'docs', ['rag']), true)
  assert.equal(hasPaidPlan([], 'docs', ['rag']), true)
  assert.equal(hasPaidPlan(plans, 'gold', []), false)
  assert.equal(hasPaidPlan(plans, 'free', ['rag']), false)
})

test('a plan with a processor price is not free, even at $0', () => {
  assert.deepEqual(plans.map(isFree), [true, false, false])
})

test('the featured plan is the lowest paid one', () => {
  assert.equal(featuredPlan(plans)?.tier, 'docs')
  assert.equal(featuredPlan([]), undefined)
})
