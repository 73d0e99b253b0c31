/** Retention of downloads and contact messages. Purchases stay for accounting. */

import type { Config } from '#config/config.ts'
import { type Aged, byAge } from '#platform/retention.ts'
import './tables.ts'

/** Longer than the month in which a release counts. */
const RELEASED_DAYS = 90
/** Longer than the two weeks in which a release is announced. */
const NOTICES_DAYS = 30

export function agedStorefront({ retention }: Pick<Config, 'retention'>): Aged[] {
  const period = { days: retention.contactDays, setting: 'RETENTION_DAYS' }
  return [
    byAge({
      what: 'ended sessions of the storefront',
      days: 0,
      setting: null,
      table: 'store_sessions',
      key: ['user_id', 'token_hash'],
      at: 'expires_at',
    }),
    byAge({
      what: 'downloads',
      days: retention.downloadsDays,
      setting: 'RETENTION_DAYS',
      table: 'downloads',
      key: ['user_id', 'id'],
      at: 'downloaded_at',
    }),
    byAge({
      what: 'ended download tokens',
      days: 0,
      setting: null,
      table: 'download_tokens',
      key: ['owner', 'token_hash'],
      at: 'expires_at',
    }),
    byAge({
      what: 'daily counts of downloads',
      days: 2,
      setting: null,
      table: 'download_days',
      key: ['owner', 'credential_id', 'day'],
      at: 'day',
      isText: true,
    }),
    byAge({
      what: 'sent emails about releases',
      days: NOTICES_DAYS,
      setting: null,
      table: 'release_notices',
      key: ['user_id', 'tier', 'version'],
      at: 'sent_at',
    }),
    byAge({
      what: 'released activations',
      days: RELEASED_DAYS,
      setting: null,
      table: 'activations',
      key: ['owner', 'id'],
      at: 'released_at',
    }),
    byAge({
      ...period,
      what: 'messages to support',
      table: 'contact_messages',
      key: ['id'],
      at: 'created_at',
    }),
    byAge({
      ...period,
      what: 'replies to messages',
      table: 'contact_replies',
      key: ['id'],
      at: 'created_at',
    }),
    byAge({
      ...period,
      what: 'statements of withdrawal',
      table: 'withdrawals',
      key: ['id'],
      at: 'created_at',
    }),
  ]
}
