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

/** Every state that there is: its badge, what the page says, whether it is urgent, and the button to press. */
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
  ['active', running, 'Active', /Renews on .*2027, for \$29 a month/, null, 'change'],
  [
    'active, price unknown',
    { ...running, amount: null },
    'Active',
    /^Renews on [^$]*2027\.$/,
    null,
    'change',
  ],
  [
    'a smaller plan to come',
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
    /trial ends on .*Feb.*\$29 a month is charged/,
    null,
    'change',
  ],
  [
    'on trial, cancelled',
    { ...running, processor_status: 'trialing', trial_ends_at: trial, cancel_at_period_end: true },
    'Ends soon',
    /Ends on .*Feb.*nothing is charged/,
    null,
    'keep',
  ],
  [
    'cancelled, runs out',
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
    /stays open until .*Feb/,
    true,
    'pay',
  ],
  ['grace over', failing, 'Payment due', /is closed until the payment/, true, 'pay'],
  [
    'unpaid',
    { ...failing, processor_status: 'unpaid', open_until: trial },
    'Payment due',
    /is closed/,
    true,
    'pay',
  ],
  [
    'the bank asks about a renewal',
    { ...failing, payment_status: 'requires_action', open_until: trial },
    'Payment due',
    /stays open until .*Feb.* Confirm it/,
    true,
    'confirm',
  ],
  [
    'the bank asks, and the grace is over',
    { ...failing, payment_status: 'requires_action' },
    'Payment due',
    /is closed until the payment/,
    true,
    'confirm',
  ],
  [
    'a debit makes it good',
    { ...failing, payment_status: 'processing', open_until: trial },
    'Payment due',
    /can take some days/,
    false,
    'cancel',
  ],
  [
    'the bank asks about a first payment',
    { ...none, processor_status: 'incomplete', payment_status: 'requires_action' },
    'To be confirmed',
    /opens as soon as you have/,
    true,
    'confirm',
  ],
  [
    'a debit is on its way for the first time',
    { ...none, processor_status: 'incomplete', payment_status: 'processing' },
    'Payment under way',
    /opens by itself/,
    false,
    '',
  ],
  [
    'a first payment that was refused',
    { ...none, processor_status: 'incomplete', payment_status: 'requires_payment_method' },
    'No subscription',
    /^$/,
    null,
    'subscribe',
  ],
  [
    'a pause is to end, and the bank asks',
    { ...failing, processor_status: 'paused', payment_status: 'requires_action' },
    'Paused',
    /opens again as soon as you have/,
    true,
    'confirm',
  ],
  [
    'a pause is to end, and the bank has it',
    { ...failing, processor_status: 'paused', payment_status: 'processing' },
    'Paused',
    /opens again by itself/,
    false,
    'cancel',
  ],
  [
    'a pause ahead',
    { ...running, pauses_at: end },
    'Pauses soon',
    /Pauses on .*Mar.*stays open/,
    null,
    'keep',
  ],
  [
    'paused',
    { ...failing, processor_status: 'paused' },
    'Paused',
    /Nothing is billed/,
    false,
    'resume',
  ],
  [
    'paused and past due by our grace',
    { ...failing, processor_status: 'paused', open_until: trial },
    'Paused',
    /closed until you resume/,
    false,
    'resume',
  ],
]

for (const [what, state, word, says, urgent, first] of TABLE) {
  test(`what the pages say: ${what}`, () => {
    const shown = readBillingState(state, (tier) => tier.charAt(0).toUpperCase() + tier.slice(1))
    assert.equal(shown.word, word)
    assert.match([shown.term, shown.alert?.text].filter(Boolean).join(' '), says)
    assert.equal(shown.alert?.isUrgent ?? null, urgent)
    assert.equal(shown.actions[0] ?? '', first)
  })
}

test('nobody is offered to pay what is not due, or to end what has ended', () => {
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

test('another checkout beside the plan is told by what its payment waits for, and by which of the two stays', () => {
  const told = (payment_status: string, replaces: boolean, tier: string | null = 'enterprise') => {
    const pending_checkout = { price_id: 'price', tier, payment_status, replaces }
    const said = describePendingCheckout({ pending_checkout }, (one) => one.toUpperCase())
    return said && `${said.title}. ${said.text} ${said.isToConfirm}`
  }
  assert.equal(
    describePendingCheckout({ pending_checkout: null }, (one) => one),
    null,
  )
  assert.match(
    told('requires_action', true) ?? '',
    /confirm the payment for ENTERPRISE.*takes the place.*true$/,
  )
  assert.match(told('requires_action', false) ?? '', /need not confirm.*credited.*false$/)
  assert.match(
    told('processing', true, null) ?? '',
    /for another plan is under way.*takes the place.*false$/,
  )
  assert.match(told('processing', false) ?? '', /under way.*credited.*false$/)
  assert.equal(told('requires_payment_method', true), null, 'it was not paid, and nothing waits')
})

test('who has paid is told of no first payment, also when the customer at the processor is gone', () => {
  const gone = { processor_customer_id: null, card: null }
  assert.match(describeAccount({ status: 'free', ...gone }), /first payment/)
  assert.match(describeAccount({ status: 'cancelled', ...gone }), /was closed.*next payment/)
  const kept = {
    status: 'active' as const,
    processor_customer_id: 'cus',
    card: { last4: '4242', expires_at: null },
  }
  assert.match(describeAccount(kept), /ending in 4242/)
  assert.match(describeAccount({ ...kept, card: null }), /^Cards and addresses/)
})

test('a plan that is closed is still named, and what is open goes before it', () => {
  assert.equal(readPlan({ tier: 'free', subscribed_tier: 'pro', entitlements: [] }), 'pro')
  assert.equal(readPlan({ tier: 'free', subscribed_tier: null, entitlements: [] }), 'free')
  assert.equal(
    readPlan({ tier: 'enterprise', subscribed_tier: 'pro', entitlements: ['ai'] }),
    'enterprise',
  )
})

test('what is due or paused says what it costs', () => {
  assert.equal(readBillingState(failing).term, 'It costs $29 a month.')
  assert.equal(
    readBillingState({ ...failing, processor_status: 'paused' }).term,
    'It costs $29 a month.',
  )
  assert.equal(readBillingState({ ...failing, amount: null }).term, null)
})
