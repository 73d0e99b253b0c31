/**
 * Removes account data that is no longer needed. Emailed tokens stay for a month after their end,
 * so that an old link still gets the correct error.
 */
import { sql } from 'kysely'
import { type Aged, byAge } from '#platform/retention.ts'
import './tables.ts'
import { REMEMBERED_DAYS } from './known-devices.ts'
import { NEVER_MAILED } from './one-time-tokens.ts'

export function agedIdentity(): Aged[] {
  const session = {
    what: 'ended sessions',
    days: 7,
    setting: null,
    table: 'sessions',
    key: ['user_id', 'id'],
  } as const
  const token = {
    setting: null,
    table: 'one_time_tokens',
    key: ['owner', 'hash'],
    at: 'expires_at',
  } as const
  return [
    // Two rules, because each column has an index, but no index covers both.
    byAge({ ...session, at: 'expires_at' }),
    byAge({ ...session, at: 'revoked_at' }),
    byAge({ ...token, what: 'mailed links', days: 30 }),
    byAge({
      ...token,
      what: 'tokens of sign-ins',
      days: 0,
      only: () => sql`purpose in (${sql.join([...NEVER_MAILED])})`,
    }),
    byAge({
      what: 'known devices',
      days: REMEMBERED_DAYS,
      setting: null,
      table: 'user_devices',
      key: ['user_id', 'mark'],
      at: 'last_seen_at',
    }),
  ]
}
