import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { combineSubscriptions, findTier, type SubscriptionFacts } from './subscription-state.ts'

const PRICES = new Map([
  ['pm', { tier: 'pro', interval: 'month' }],
  ['ey', { tier: 'enterprise', interval: 'year' }],
] as const)

const facts = (status: string, more: Partial<SubscriptionFacts> = {}): SubscriptionFacts => ({
  id: `sub_${status}`,
  customerId: 'cus',
  userId: null,
  status,
  created: 1,
  priceIds: ['pm'],
  periodEnd: null,
  cancelAtPeriodEnd: false,
  ...more,
})

test('maps each processor status to one of four', () => {
  const table = {
    active: ['active', 'pro'],
    trialing: ['active', 'pro'],
    past_due: ['past_due', 'pro'],
    unpaid: ['past_due', 'free'],
    paused: ['past_due', 'free'],
    canceled: ['cancelled', 'free'],
    incomplete_expired: ['cancelled', 'free'],
  }
  for (const [word, [status, tier]] of Object.entries(table)) {
    const state = combineSubscriptions([facts(word)], PRICES)
    assert.deepEqual([state?.status, state?.tier], [status, tier], word)
  }
  assert.equal(combineSubscriptions([facts('incomplete')], PRICES), null)
  assert.equal(combineSubscriptions([facts('a word of tomorrow')], PRICES), null)
  assert.equal(combineSubscriptions([], PRICES), null)
})

test('a live subscription outranks an ended one; among equals the newest counts', () => {
  const live = facts('active', { created: 1 })
  const ended = facts('canceled', { created: 9 })
  assert.equal(combineSubscriptions([ended, live], PRICES)?.subscription, live)
  const newer = facts('active', { id: 'newer', created: 5, priceIds: ['ey'] })
  assert.equal(combineSubscriptions([live, newer], PRICES)?.tier, 'enterprise')
  assert.equal(
    combineSubscriptions([facts('incomplete', { created: 99 }), ended], PRICES)?.status,
    'cancelled',
  )
})

test('a paid subscription outranks an unpaid or paused one, and that outranks an ended one', () => {
  const inOrder = ['active', 'past_due', 'paused', 'canceled'].map((word, n) =>
    facts(word, { created: n }),
  )
  for (const [n, better] of inOrder.entries()) {
    for (const worse of inOrder.slice(n + 1)) {
      assert.equal(
        combineSubscriptions([worse, better], PRICES)?.subscription,
        better,
        `${better.status} before ${worse.status}`,
      )
    }
  }
})

test('an unknown price has no tier', () => {
  assert.equal(combineSubscriptions([facts('active', { priceIds: ['old'] })], PRICES)?.tier, null)
  assert.equal(findTier(['old', 'pm', 'ey'], PRICES), 'enterprise')
})

test('the order of the list does not matter', () => {
  const one = fc.record({
    id: fc.uuid(),
    status: fc.constantFrom(
      'active',
      'trialing',
      'past_due',
      'canceled',
      'incomplete',
      'incomplete_expired',
      'unpaid',
    ),
    priceIds: fc.constantFrom(['pm'], ['ey'], ['old']),
  })
  fc.assert(
    fc.property(fc.array(one, { maxLength: 6 }), fc.infiniteStream(fc.nat()), (list, keys) => {
      const subscriptions = list.map((it, index) => ({
        ...facts(it.status),
        ...it,
        created: index,
      }))
      const shuffled = subscriptions
        .map((it) => ({ it, key: keys.next().value }))
        .sort((a, b) => a.key - b.key)
        .map(({ it }) => it)
      assert.deepEqual(
        combineSubscriptions(shuffled, PRICES),
        combineSubscriptions(subscriptions, PRICES),
      )
    }),
  )
})
