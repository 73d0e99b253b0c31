import { type Aged, byAge } from '#platform/retention.ts'
import './tables.ts'

export function agedBilling(): Aged[] {
  return [
    // Who deleted the account may try once more after it. Who has kept it is known by the account.
    byAge({
      what: 'trials, by card and address',
      table: 'trial_marks',
      key: ['mark'],
      at: 'begun_at',
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
