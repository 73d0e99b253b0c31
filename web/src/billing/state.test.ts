import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Shown, stateOf } from './state.ts'

const end = '2027-03-14T12:00:00.000Z'
const trial = '2027-02-01T12:00:00.000Z'

const running: Shown = {
  status: 'active',
  processor_status: 'active',
  current_period_end: end,
  cancel_at_period_end: false,
  trial_ends_at: null,
  open_until: null,
  next_tier: null,
  amount: 29,
  currency: 'usd',
  interval: 'month',
}
const none: Shown = { ...running, status: 'free', processor_status: null, current_period_end: null, amount: null }
const failing: Shown = { ...running, status: 'past_due', processor_status: 'past_due' }

/** Every state that there is: its badge, what the page says, whether it is urgent, and the button to press. */
const TABLE: [what: string, state: Shown, word: string, says: RegExp, urgent: boolean | null, first: string][] = [
  ['never subscribed', none, 'No subscription', /^$/, null, 'subscribe'],
  ['ended', { ...none, status: 'cancelled' }, 'Cancelled', /has ended/, null, 'subscribe'],
  ['active', running, 'Active', /Renews on .*2027, for \$29 a month/, null, 'change'],
  ['active, price unknown', { ...running, amount: null }, 'Active', /^Renews on [^$]*2027\.$/, null, 'change'],
  ['a smaller plan to come', { ...running, next_tier: 'pro' }, 'Active', /Becomes Pro on .*2027, for/, null, 'change'],
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
  ['cancelled, runs out', { ...running, cancel_at_period_end: true }, 'Ends soon', /Ends on .*Mar/, null, 'keep'],
  ['payment failed', { ...failing, open_until: trial }, 'Payment due', /stays open until .*Feb/, true, 'pay'],
  ['grace over', failing, 'Payment due', /is closed until the payment/, true, 'pay'],
  ['unpaid', { ...failing, processor_status: 'unpaid', open_until: trial }, 'Payment due', /is closed/, true, 'pay'],
  ['paused', { ...failing, processor_status: 'paused' }, 'Paused', /Nothing is billed/, false, 'resume'],
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
    const shown = stateOf(state, (tier) => tier.charAt(0).toUpperCase() + tier.slice(1))
    assert.equal(shown.word, word)
    assert.match([shown.term, shown.alert?.text].filter(Boolean).join(' '), says)
    assert.equal(shown.alert?.isUrgent ?? null, urgent)
    assert.equal(shown.actions[0], first)
  })
}

test('nobody is offered to pay what is not due, or to end what has ended', () => {
  for (const [what, state] of TABLE) {
    const { actions } = stateOf(state)
    assert.equal(actions.includes('pay'), state.status === 'past_due' && state.processor_status !== 'paused', what)
    const runs = state.status === 'active' || state.status === 'past_due'
    assert.equal(actions.includes('cancel'), runs && !state.cancel_at_period_end, what)
    assert.equal(actions.includes('pause'), state.processor_status === 'active' && !state.cancel_at_period_end, what)
  }
})
