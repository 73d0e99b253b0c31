import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  describeAccount,
  describePendingCheckout,
  readBillingState,
  readPlan,
  type Shown,
} from './state.ts'

const end = '2027-03-14T12:00:00.000Z'
const trial = '2027-02-01T12:00:00.000Z'

const running: Shown = {
  status: 'active',
  processor_status: 'active',
  payment_status: null,
  current_period_end: end,
  cancel_at_period_end: false,
  trial_ends_at: null,
  open_until: null,
  next_tier: null,
  pauses_at: null,
  amount: 29,
  currency: 'usd',
  interval: 'month',
}
const none: Shown = {
  ...running,
  status: 'free',
  processor_status: null,
  current_period_end: null,
  amount: null,
}
const failing: Shown = { ...running, status: 'past_due', processor_status: 'past_due' }

/** Every state: badge, text, urgency and primary action. */
const TABLE: [
  what: string,
  state: Shown,
  word: string,
  says: RegExp,
  urgent: boolean | null,
  first: string,
][] = [
  ['never subscribed', none, 'No subscription', /^$/, null, 'subscribe'],
  ['ended', { ...none, status: 'cancelled' }, 'Cancelled', /has ended/, null, 'subscribe'],
  ['active', running, 'Active', /Renews on .*2027, for \$29 per month/, null, 'change'],
  [
    'active, price unknown',
    { ...running, amount: null },
    'Active',
    /^Renews on [^$]*2027\.$/,
    null,
    'change',
  ],
  [
    'a scheduled downgrade',
    { ...running, next_tier: 'pro' },
    'Active',
    /Becomes Pro on .*2027, for/,
    null,
    'change',
  ],
  [
    'on trial',
    { ...running, processor_status: 'trialing', trial_ends_at: trial },
    'Trial',
    /trial ends on .*Feb.*charge your card \$29 per month/,
    null,
    'change',
  ],
  [
    'on trial, cancelled',
    { ...running, processor_status: 'trialing', trial_ends_at: trial, cancel_at_period_end: true },
    'Ends soon',
    /Ends on .*Feb.*charge nothing/,
    null,
    'keep',
  ],
  [
    'cancelled, until the period ends',
    { ...running, cancel_at_period_end: true },
    'Ends soon',
    /Ends on .*Mar/,
    null,
    'keep',
  ],
  [
    'payment failed',
    { ...failing, open_until: trial },
    'Payment due',
    /stays active until .*Feb/,
    true,
    'pay',
  ],
  ['grace period over', failing, 'Payment due', /is suspended until the payment/, true, 'pay'],
  [
    'unpaid',
    { ...failing, processor_status: 'unpaid', open_until: trial },
    'Payment due',
    /is suspended/,
    true,
    'pay',
  ],
  [
    'a renewal needs confirmation',
    { ...failing, payment_status: 'requires_action', open_until: trial },
    'Payment due',
    /stays active until .*Feb.* Confirm the payment/,
    true,
    'confirm',
  ],
  [
    'a renewal needs confirmation, and the grace period is over',
    { ...failing, payment_status: 'requires_action' },
    'Payment due',
    /is suspended until the payment/,
    true,
    'confirm',
  ],
  [
    'a bank debit for the due payment is processing',
    { ...failing, payment_status: 'processing', open_until: trial },
    'Payment due',
    /can take some days/,
    false,
    'cancel',
  ],
  [
    'a first payment needs confirmation',
    { ...none, processor_status: 'incomplete', payment_status: 'requires_action' },
    'Confirmation needed',
    /starts when you confirm/,
    true,
    'confirm',
  ],
  [
    'a first bank debit is processing',
    { ...none, processor_status: 'incomplete', payment_status: 'processing' },
    'Payment processing',
    /starts when the payment arrives/,
    false,
    '',
  ],
  [
    'a first payment was declined',
    { ...none, processor_status: 'incomplete', payment_status: 'requires_payment_method' },
    'No subscription',
    /^$/,
    null,
    'subscribe',
  ],
  [
    'a resumption needs confirmation',
    { ...failing, processor_status: 'paused', payment_status: 'requires_action' },
    'Paused',
    /resumes when you confirm/,
    true,
    'confirm',
  ],
  [
    'a resumption payment is processing',
    { ...failing, processor_status: 'paused', payment_status: 'processing' },
    'Paused',
    /resumes when the payment arrives/,
    false,
    'cancel',
  ],
  [
    'a scheduled pause',
    { ...running, pauses_at: end },
    'Pauses soon',
    /Pauses on .*Mar.*full access/,
    null,
    'keep',
  ],
  ['paused', { ...failing, processor_status: 'paused' }, 'Paused', /bill nothing/, false, 'resume'],
  [
    'paused during the grace period',
    { ...failing, processor_status: 'paused', open_until: trial },
    'Paused',
    /Resuming starts/,
    false,
    'resume',
  ],
]

for (const [what, state, word, says, urgent, first] of TABLE) {
  test(`shows the state: ${what}`, () => {
    const shown = readBillingState(state, (tier) => tier.charAt(0).toUpperCase() + tier.slice(1))
    assert.equal(shown.word, word)
    assert.match([shown.term, shown.alert?.text].filter(Boolean).join(' '), says)
    assert.equal(shown.alert?.isUrgent ?? null, urgent)
    assert.equal(shown.actions[0] ?? '', first)
  })
}

test('pay, cancel and pause are offered only when they apply', () => {
  for (const [what, state] of TABLE) {
    const { actions } = readBillingState(state)
    const isDue = state.status === 'past_due' && state.processor_status !== 'paused'
    assert.equal(actions.includes('pay'), isDue && state.payment_status === null, what)
    assert.equal(actions.includes('confirm'), state.payment_status === 'requires_action', what)
    const runs = state.status === 'active' || state.status === 'past_due'
    assert.equal(actions.includes('cancel'), runs && !state.cancel_at_period_end, what)
    const goesOn = !state.cancel_at_period_end && state.pauses_at === null
    assert.equal(actions.includes('pause'), state.processor_status === 'active' && goesOn, what)
  }
})

test('a pending checkout is described by its payment and by whether it replaces the plan', () => {
  const describe = (
    payment_status: string,
    replaces: boolean,
    tier: string | null = 'enterprise',
  ) => {
    const pending_checkout = { price_id: 'price', tier, payment_status, replaces }
    const pending = describePendingCheckout({ pending_checkout }, (one) => one.toUpperCase())
    return pending && `${pending.title}. ${pending.text} ${pending.isToConfirm}`
  }
  assert.equal(
    describePendingCheckout({ pending_checkout: null }, (one) => one),
    null,
  )
  assert.match(
    describe('requires_action', true) ?? '',
    /Confirm your payment for ENTERPRISE.*replaces your plan.*true$/,
  )
  assert.match(describe('requires_action', false) ?? '', /don’t need to confirm.*credit.*false$/)
  assert.match(
    describe('processing', true, null) ?? '',
    /for another plan is processing.*replaces your plan.*false$/,
  )
  assert.match(describe('processing', false) ?? '', /processing.*credit.*false$/)
  assert.equal(describe('requires_payment_method', true), null, 'nothing is pending')
})

test('mentions no first payment to users who have paid, even without a customer at the processor', () => {
  const gone = { processor_customer_id: null, card: null }
  assert.match(describeAccount({ status: 'free', ...gone }), /first payment/)
  assert.match(describeAccount({ status: 'cancelled', ...gone }), /was closed.*next payment/)
  const paying = {
    status: 'active' as const,
    processor_customer_id: 'cus',
    card: { last4: '4242', expires_at: null },
  }
  assert.match(describeAccount(paying), /ending in 4242/)
  assert.match(describeAccount({ ...paying, card: null }), /stores your card and address/)
})

test('a suspended plan keeps its name, and an active one comes first', () => {
  assert.equal(readPlan({ tier: 'free', subscribed_tier: 'pro' }), 'pro')
  assert.equal(readPlan({ tier: 'free', subscribed_tier: null }), 'free')
  assert.equal(readPlan({ tier: 'enterprise', subscribed_tier: 'pro' }), 'enterprise')
})

test('due and paused plans show their price', () => {
  assert.equal(readBillingState(failing).term, 'It costs $29 per month.')
  assert.equal(
    readBillingState({ ...failing, processor_status: 'paused' }).term,
    'It costs $29 per month.',
  )
  assert.equal(readBillingState({ ...failing, amount: null }).term, null)
})
