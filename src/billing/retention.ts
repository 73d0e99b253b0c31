import { type Aged, byAge } from '#platform/retention.ts'
import './tables.ts'

export function agedBilling(): Aged[] {
  return [
    // After this time a deleted user may have another trial. Present users are recognised by their
    // account.
    byAge({
      what: 'trials, by card and address',
      table: 'trial_marks',
      key: ['mark'],
      at: 'begun_at',
      days: 400,
      setting: null,
    }),
    // Claims in use are renewed, so this removes those of deleted and of idle accounts.
    byAge({
      what: 'claims of free allowances, by mailbox',
      table: 'free_marks',
      key: ['mark'],
      at: 'used_at',
      days: 400,
      setting: null,
    }),
    byAge({
      what: 'reasons of cancellations',
      table: 'cancellations',
      key: ['subscription_id'],
      at: 'canceled_at',
      days: 730,
      setting: null,
    }),
  ]
}
