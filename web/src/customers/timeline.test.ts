import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CustomerEvent } from '../api/types.ts'
import { listTimeline } from './timeline.ts'

const EMPTY: CustomerEvent = {
  at: '2026-11-26T09:00:00.000Z',
  kind: 'audit',
  id: '1',
  amount_cents: null,
  currency: null,
  tier: null,
  status: null,
  detail: null,
  model: null,
  order_id: null,
  action: null,
  actor_email: null,
  subject_email: null,
  data: null,
  email: null,
}
const name = (tier: string) => tier.toUpperCase()
const words = (...events: Partial<CustomerEvent>[]) =>
  listTimeline(
    events.map((event) => ({ ...EMPTY, ...event })),
    { plan: name, product: name },
  ).map(({ title, details }) => [title, ...details].join(' · '))

test('equal failed calls in a row are one item', () => {
  const call = {
    kind: 'call',
    detail: 'vendor_timeout',
    model: 'gpt-6-luna',
    status: '504',
  } as const
  assert.deepEqual(words(call, call, call, { ...call, model: 'gpt-6-terra' }, call), [
    '3 calls failed · Vendor timeout · gpt-6-luna · Status 504',
    'Call failed · Vendor timeout · gpt-6-terra · Status 504',
    'Call failed · Vendor timeout · gpt-6-luna · Status 504',
  ])
})

test('money and purchases have amounts', () => {
  const money = { amount_cents: 2_900, currency: 'usd' }
  assert.deepEqual(
    words(
      { ...money, kind: 'payment', tier: 'pro', detail: 'A-0001' },
      { ...money, kind: 'refund', status: 'succeeded', detail: 'requested_by_customer' },
      { ...money, kind: 'refund', status: 'pending' },
      { ...money, kind: 'dispute', status: 'needs_response', detail: 'product_not_received' },
      { ...money, kind: 'invoice', status: 'open', detail: 'A-0002' },
      { ...money, kind: 'purchase', tier: 'pro', status: 'completed' },
      { ...money, kind: 'purchase', tier: 'pro', status: 'refunded', detail: 'upgrade' },
    ),
    [
      'Paid $29.00 · Plan PRO · Invoice A-0001',
      'Refunded $29.00 · Requested by customer',
      'Refunded $29.00 · Pending',
      'Disputed $29.00 · Needs response · Reason: product not received',
      'Invoice of $29.00 not paid · Open · Invoice A-0002',
      'Bought PRO for $29.00',
      'Upgraded or renewed PRO for $29.00 · Refunded',
    ],
  )
})

test('audit entries name the change, the superuser and the other account', () => {
  assert.deepEqual(
    words(
      { action: 'user.changed', data: { is_active: false }, actor_email: 'root@example.com' },
      { action: 'user.changed', data: { subscription_tier: null, is_verified: true } },
      {
        action: 'user.changed',
        data: { subscription_tier: 'pro' },
        subject_email: 'eve@example.com',
      },
      { action: 'api-key.made', data: { name: 'laptop', prefix: 'lk_1' } },
      {
        action: 'subscription.changed',
        data: { status: 'past_due', tier: 'pro', from: { tier: 'free' } },
      },
      { action: 'sign-in', data: { address: '127.0.0.1' } },
      { action: 'of.a.later.version' },
    ),
    [
      'Suspended · By root@example.com',
      'Marked as verified, Plan follows the subscription again',
      'Plan set to PRO · To eve@example.com',
      'API key created · laptop',
      'Subscription changed · FREE → PRO, past due',
      'Signed in · 127.0.0.1',
      'of.a.later.version',
    ],
  )
})
