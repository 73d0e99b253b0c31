import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrderDetail } from '../api/types.ts'
import { listOrderEvents } from './timeline.ts'

const ORDER: OrderDetail = {
  id: 'new',
  user_id: 'ada',
  email: 'ada@example.com',
  tier: 'pro',
  status: 'completed',
  amount_cents: 10_000,
  tax_cents: 0,
  refunded_cents: 0,
  fee_cents: null,
  fee_currency: null,
  currency: 'usd',
  payment_ref: 'pi_1',
  from_id: null,
  download_count: 0,
  max_downloads: 5,
  activations_limit: null,
  entitled_until: null,
  created_at: '2026-01-01T00:00:00.000Z',
  license_key_masked: 'LK-…',
  bundle_id: null,
  members: [],
  waiver: null,
  withdrawn_at: null,
  revoked_at: null,
  chain: [],
  refunds: [],
  disputes: [],
  downloads: [],
  machines: [],
  changes: [],
}
const describe = (order: Partial<OrderDetail>) =>
  listOrderEvents({ ...ORDER, ...order }, (tier) => `${tier}!`).map(({ title, details }) =>
    [title, ...details].join('; '),
  )

test('an order begins with its payment, and an upgrade names what it replaces', () => {
  assert.deepEqual(describe({}), ['Paid $100.00'])
  assert.deepEqual(describe({ amount_cents: 0 }), ['Bought for free'])
  const chain = [{ ...ORDER, id: 'old', tier: 'basic' }, ORDER]
  assert.deepEqual(describe({ from_id: 'old', chain }), ['Paid $100.00 to upgrade from basic!'])
  assert.deepEqual(describe({ from_id: 'old', chain: [{ ...ORDER, id: 'old' }, ORDER] }), [
    'Paid $100.00 for another period of updates',
  ])
})

test('events are listed newest first, each refund once, with its own reason', () => {
  const refund = (id: string, amount_cents: number, created_at: string) => ({
    id,
    amount_cents,
    currency: 'usd',
    status: id === 'three' ? 'pending' : 'succeeded',
    reason: null,
    created_at,
  })
  const change = (amount_cents: number, reason: string) => ({
    at: '2026-02-01T00:00:00.000Z',
    action: 'purchase.refunded',
    actor_email: 'root@example.com',
    data: { amount_cents, currency: 'usd', reason },
  })
  assert.deepEqual(
    describe({
      refunds: [
        refund('one', 2_000, '2026-02-03T00:00:00.000Z'),
        refund('two', 2_000, '2026-02-02T00:00:00.000Z'),
        refund('three', 500, '2026-02-01T00:00:00.000Z'),
      ],
      changes: [change(2_000, 'Late'), change(2_000, 'Broken')],
    }),
    [
      'Refunded $20.00; Late; root@example.com',
      'Refunded $20.00; Broken; root@example.com',
      'Refunded $5.00; Pending',
      'Paid $100.00',
    ],
  )
})

test('downloads of a bundle name their product', () => {
  const download = (tier: string, downloaded_at: string) => ({
    id: tier,
    tier,
    version: '1.0.0',
    ip_address: '192.0.2.1',
    country: null,
    user_agent: '',
    downloaded_at,
  })
  const downloads = [
    download('kit', '2026-01-03T00:00:00.000Z'),
    download('pro', '2026-01-02T00:00:00.000Z'),
  ]
  const titles = describe({ downloads }).map((line) => line.split(';')[0])
  assert.deepEqual(titles, ['Downloaded kit! 1.0.0', 'Downloaded 1.0.0', 'Paid $100.00'])
})

test('the title of a change depends on whether a superuser, a refund or a dispute made it', () => {
  const change = (action: string, data: Record<string, unknown> | null) => ({
    at: '2026-03-01T00:00:00.000Z',
    action,
    actor_email: null,
    data,
  })
  assert.deepEqual(
    describe({
      changes: [
        change('purchase.activations_set', { from: null, to: 9 }),
        change('purchase.activations_set', { from: 9, to: null }),
        change('purchase.revoked', { by: 'superuser', reason: 'Published' }),
        change('purchase.revoked', { by: 'dispute' }),
        change('purchase.unknown', null),
      ],
    }),
    [
      'Machine limit set to 9',
      'Machine limit returned to the product’s',
      'Revoked; Published',
      'License ended by the dispute',
      'Paid $100.00',
    ],
  )
})
