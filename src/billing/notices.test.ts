import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, type Instant, plus } from '#platform/clock.ts'
import type { Account } from './accounts.ts'
import { findDueNotices } from './notices.ts'

const NOW: Instant = '2027-03-10T12:00:00.000Z'
const inDays = (days: number): Instant => plus(NOW, days * DAY_MS)

const NOTHING: Account = {
  user_id: 'u',
  customer_id: 'cus',
  customer_email: null,
  customer_generation: 0,
  version: 1,
  synced_at: NOW,
  event_at: null,
  ended_subscription_id: null,
  checkout_at: null,
  subscription_id: null,
  subscription_created_at: null,
  price_id: null,
  period_end_at: null,
  is_cancel_at_period_end: false,
  processor_status: null,
  granted_tier: null,
  past_due_at: null,
  is_grace_over: false,
  payment_status: null,
  payment_error: null,
  payment_due_cents: null,
  pending_price_id: null,
  pending_payment_status: null,
  is_pending_newer: false,
  trial_end_at: null,
  price_cents: null,
  currency: null,
  interval: null,
  next_price_id: null,
  pauses_at: null,
  ends_at: null,
  ended_at: null,
  card_last4: null,
  card_expires_at: null,
  offers_at: null,
  invoices_read_at: null,
}
const ACTIVE: Account = {
  ...NOTHING,
  subscription_id: 'sub',
  processor_status: 'active',
  interval: 'month',
  period_end_at: inDays(20),
}
const YEARLY: Account = { ...ACTIVE, interval: 'year', period_end_at: inDays(29) }
const TRIAL: Account = {
  ...ACTIVE,
  processor_status: 'trialing',
  trial_end_at: inDays(2),
  period_end_at: inDays(2),
}
const FAILED: Account = { ...ACTIVE, processor_status: 'past_due', past_due_at: inDays(-1) }
const ENDED: Account = { ...ACTIVE, processor_status: 'canceled', ended_at: inDays(-1) }

/** Kinds of notices due for an account. The row before it is the same unless given. */
const TABLE: [
  what: string,
  account: Partial<Account>,
  expected: string[],
  before?: Partial<Account>,
][] = [
  ['nobody', NOTHING, []],
  ['active', ACTIVE, []],
  ['a trial that ends in four days', { ...TRIAL, trial_end_at: inDays(4) }, []],
  ['a trial that ends in two days', TRIAL, ['trial_ends']],
  ['a trial that is cancelled', { ...TRIAL, is_cancel_at_period_end: true }, ['cancelling']],
  ['a trial that ended', { ...TRIAL, trial_end_at: inDays(-1) }, []],
  ['a yearly renewal in 31 days', { ...YEARLY, period_end_at: inDays(31) }, []],
  ['a yearly renewal in 29 days', YEARLY, ['renewal']],
  ['a monthly renewal', { ...ACTIVE, period_end_at: inDays(5) }, []],
  [
    'a yearly plan that was cancelled',
    { ...YEARLY, is_cancel_at_period_end: true },
    ['cancelling'],
  ],
  ['a card that lasts', { ...ACTIVE, card_expires_at: inDays(21) }, []],
  [
    'a card that expires before the payment',
    { ...ACTIVE, card_expires_at: inDays(19) },
    ['card_expires'],
  ],
  ['a card that has expired', { ...ACTIVE, card_expires_at: inDays(-9) }, ['card_expires']],
  [
    'a card that expires in half a year',
    { ...YEARLY, period_end_at: inDays(300), card_expires_at: inDays(180) },
    [],
  ],
  [
    'an expired card, and nothing to pay any more',
    { ...ACTIVE, is_cancel_at_period_end: true, card_expires_at: inDays(1) },
    ['cancelling'],
  ],
  ['a yearly plan on trial', { ...TRIAL, interval: 'year' }, ['trial_ends']],
  ['a failed payment', FAILED, ['payment_failed']],
  [
    'a failed payment, half of grace is over',
    { ...FAILED, past_due_at: inDays(-7) },
    ['payment_failed', 'payment_reminder'],
  ],
  [
    'a failed payment, the last day',
    { ...FAILED, past_due_at: inDays(-13) },
    ['payment_failed', 'payment_last'],
  ],
  [
    'a late payment that the bank has yet to settle',
    { ...FAILED, past_due_at: inDays(-13), payment_status: 'processing' },
    [],
  ],
  [
    'a larger plan',
    { ...ACTIVE, granted_tier: 'enterprise' },
    ['plan_changed'],
    { granted_tier: 'pro' },
  ],
  ['the first plan', { ...ACTIVE, granted_tier: 'pro' }, [], { granted_tier: null }],
  ['a pause ahead', { ...ACTIVE, pauses_at: inDays(20) }, ['pausing']],
  ['a pause that is taken back', ACTIVE, ['reopened'], { pauses_at: inDays(20) }],
  ['a pause that is over', ACTIVE, ['reopened'], { processor_status: 'paused' }],
  [
    'a payment that the bank asks about',
    { ...FAILED, payment_status: 'requires_action' },
    ['payment_confirm'],
  ],
  ['a payment that the bank has yet to settle', { ...FAILED, payment_status: 'processing' }, []],
  [
    'a first payment that the bank asks about',
    { ...NOTHING, payment_status: 'requires_action' },
    [],
  ],
  ['a grace that is over', { ...FAILED, is_grace_over: true }, ['plan_closed']],
  ['unpaid', { ...FAILED, processor_status: 'unpaid' }, ['plan_closed']],
  ['a payment made good', ACTIVE, ['payment_cured'], FAILED],
  ['a payment that never failed', ACTIVE, [], ACTIVE],
  ['another subscription in its place', { ...ACTIVE, subscription_id: 'sub_2' }, [], FAILED],
  ['a failed payment, then a pause', { ...ACTIVE, processor_status: 'paused' }, [], FAILED],
  ['paused', { ...ACTIVE, processor_status: 'paused' }, []],
  ['ended', ENDED, ['ended']],
  ['ended long ago, found out today', { ...ENDED, ended_at: inDays(-8) }, []],
  ['ended two weeks ago', { ...ENDED, ended_at: inDays(-15) }, []],
  [
    'ended two weeks ago, offers wanted',
    { ...ENDED, ended_at: inDays(-15), offers_at: NOW },
    ['win_back'],
  ],
  ['ended two months ago, offers wanted', { ...ENDED, ended_at: inDays(-60), offers_at: NOW }, []],
  ['active, offers wanted', { ...ACTIVE, offers_at: NOW }, []],
  ['never begun', { ...ACTIVE, processor_status: 'incomplete' }, []],
]

for (const [what, account, expected, before] of TABLE) {
  test(`notices due: ${what}`, () => {
    const now = { ...NOTHING, ...account }
    const due = findDueNotices(now, { ...now, ...before }, NOW, 14)
    assert.deepEqual(
      due.map(({ kind }) => kind),
      expected,
    )
  })
}

test('an end on another day than the period’s is announced once, not in each period', () => {
  const ending = { ...ACTIVE, is_cancel_at_period_end: true, ends_at: inDays(50) }
  const abouts = [ending, { ...ending, period_end_at: inDays(51) }].flatMap((account) =>
    findDueNotices(account, account, NOW, 14).map(({ about }) => about),
  )
  assert.deepEqual(abouts, [`cancelling:sub:${inDays(50)}`, `cancelling:sub:${inDays(50)}`])
})

test('each failure, each period and each subscription has its own key', () => {
  const abouts = [
    TRIAL,
    { ...TRIAL, trial_end_at: inDays(1) },
    YEARLY,
    { ...YEARLY, subscription_id: 'sub_2' },
    FAILED,
    { ...FAILED, past_due_at: inDays(-2) },
    ENDED,
  ].flatMap((account) => findDueNotices(account, account, NOW, 14).map(({ about }) => about))
  assert.equal(new Set(abouts).size, 7)
})

test('a failed payment has one key, with or without a confirmation', () => {
  const abouts = ['requires_action', 'requires_payment_method', null].flatMap((payment_status) =>
    findDueNotices({ ...FAILED, payment_status }, FAILED, NOW, 14).map(({ about }) => about),
  )
  assert.equal(abouts.length, 3)
  assert.equal(new Set(abouts).size, 1)
})
