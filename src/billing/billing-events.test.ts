import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BILLING_EVENT_TYPES, readBillingEvent } from './billing-events.ts'

const event = (type: string, object: object) => ({
  id: 'evt_1',
  type,
  created: 7,
  data: { object },
})

test('ignores one-time payments, setups and invoices without a subscription', () => {
  assert.equal(
    readBillingEvent(event('checkout.session.completed', { mode: 'payment', customer: 'cus_1' })),
    null,
  )
  assert.equal(
    readBillingEvent(event('checkout.session.completed', { mode: 'setup', customer: 'cus_1' })),
    null,
  )
  assert.equal(
    readBillingEvent(
      event('invoice.payment_failed', { customer: 'cus_1', billing_reason: 'manual' }),
    ),
    null,
  )
  assert.equal(readBillingEvent(event('charge.refunded', { customer: 'cus_1' })), null)
})

test('reads an invoice’s subscription from the present and the older field', () => {
  const parent = { subscription_details: { subscription: 'sub_1' } }
  assert.equal(
    readBillingEvent(event('invoice.payment_failed', { customer: 'c', parent }))?.subscriptionId,
    'sub_1',
  )
  assert.equal(
    readBillingEvent(event('invoice.payment_failed', { customer: 'c', subscription: 'sub_2' }))
      ?.subscriptionId,
    'sub_2',
  )
})

test('reads ids from expanded objects', () => {
  const found = readBillingEvent(
    event('customer.subscription.updated', {
      id: 'sub_1',
      customer: { id: 'cus_1' },
      status: 'active',
      items: { data: [{ price: { id: 'p1' } }] },
    }),
  )
  assert.deepEqual(
    [found?.customerId, found?.subscriptionId, found?.priceIds],
    ['cus_1', 'sub_1', ['p1']],
  )
})

test('stores no personal data from an event', () => {
  const found = readBillingEvent(
    event('checkout.session.completed', {
      mode: 'subscription',
      customer: 'cus_1',
      customer_details: { email: 'ada@example.com', name: 'Ada' },
      payment_status: 'paid',
    }),
  )
  assert.doesNotMatch(JSON.stringify(found), /ada|example/i)
})

test('never throws, for any input', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...BILLING_EVENT_TYPES),
      fc.object({ maxDepth: 3 }),
      (type, object) => {
        readBillingEvent(event(type, object))
      },
    ),
  )
  fc.assert(fc.property(fc.anything(), (anything) => readBillingEvent(anything) === null))
})
