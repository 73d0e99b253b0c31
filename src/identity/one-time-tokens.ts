// Tokens that work once, as in mailed links. A token contains its owner and 256 random bits; the
// database stores a keyed hash. One conditional UPDATE spends it. A newer token of the same purpose
// voids the user's older ones.
import { randomUUID } from 'node:crypto'
import { DAY_MS, HOUR_MS, MINUTE_MS, plus } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { ownedToken, readOwner } from '#platform/owned-token.ts'
import type { Platform } from '#platform/platform.ts'
import { lockUser } from './users.ts'

export type Purpose =
  | 'verify'
  | 'reset'
  | 'undo-email'
  | 'challenge'
  | 'oauth'
  | 'passkey-register'
  | 'passkey-login'
  | 'superuser'
  | 'invitation'
  | 'storefront'
  | 'claim'
  | 'code'

const LIFE_MS: Record<Purpose, number> = {
  verify: 24 * HOUR_MS,
  reset: HOUR_MS,
  'undo-email': 7 * DAY_MS,
  challenge: 10 * MINUTE_MS,
  oauth: 10 * MINUTE_MS,
  'passkey-register': 10 * MINUTE_MS,
  'passkey-login': 10 * MINUTE_MS,
  superuser: 7 * DAY_MS,
  invitation: 7 * DAY_MS,
  storefront: 2 * MINUTE_MS,
  claim: 7 * DAY_MS,
  code: 10 * MINUTE_MS,
}

/** Several of these may be open at once: each undoes one change or belongs to one tab. */
const COEXISTING: ReadonlySet<Purpose> = new Set<Purpose>([
  'undo-email',
  'challenge',
  'oauth',
  'passkey-login',
  'invitation',
  'storefront',
  'claim',
  'code',
])

export type OneTimeTokenDeps = Pick<Platform, 'clock' | 'secrets'>

export type OneTimeToken<D> = {
  userId: string | null
  data: D
  createdAt: string
  state: 'open' | 'spent' | 'voided' | 'expired'
}

/**
 * Creates a token and returns it. Only its hash is stored, so it cannot be recovered later. Pass
 * `token` when third parties see it, because the default contains the user's id.
 */
export async function issueToken(
  { clock, secrets }: OneTimeTokenDeps,
  tx: Db,
  purpose: Purpose,
  userId: string | null,
  data: Record<string, unknown> = {},
  token = ownedToken(userId ?? randomUUID()),
): Promise<string> {
  const now = clock.now()
  if (!COEXISTING.has(purpose)) {
    // Without the lock, two simultaneous requests would not see, and not void, each other's token.
    if (userId !== null) await lockUser(tx, userId)
    await voidTokens({ clock }, tx, userId, [purpose])
  }
  const owner = readOwner(token)
  if (owner === null) throw new Error('a one-time token says whose it is')
  await tx
    .insertInto('one_time_tokens')
    .values({
      owner,
      hash: tokenHash(secrets, purpose, token),
      user_id: userId,
      purpose,
      data_json: data,
      created_at: now,
      expires_at: plus(now, LIFE_MS[purpose]),
      spent_at: null,
      voided_at: null,
    })
    .execute()
  return token
}

/**
 * Marks the token as spent. Returns null unless it was open. Only one of several simultaneous calls
 * succeeds.
 */
export async function spendToken<D extends Record<string, unknown>>(
  { clock, secrets }: OneTimeTokenDeps,
  tx: Db,
  purpose: Purpose,
  token: string,
): Promise<{ userId: string | null; data: D; createdAt: string } | null> {
  const owner = readOwner(token)
  if (owner === null) return null
  const now = clock.now()
  const row = await tx
    .updateTable('one_time_tokens')
    .set({ spent_at: now })
    .where('owner', '=', owner)
    .where('hash', '=', tokenHash(secrets, purpose, token))
    .where('spent_at', 'is', null)
    .where('voided_at', 'is', null)
    .where('expires_at', '>', now)
    .returning(['user_id', 'data_json', 'created_at'])
    .executeTakeFirst()
  return row ? { userId: row.user_id, data: row.data_json as D, createdAt: row.created_at } : null
}

/** Reads a token without spending it. */
export async function peekToken<D extends Record<string, unknown>>(
  { clock, secrets }: OneTimeTokenDeps,
  db: Db,
  purpose: Purpose,
  token: string,
): Promise<OneTimeToken<D> | null> {
  const owner = readOwner(token)
  if (owner === null) return null
  const row = await db
    .selectFrom('one_time_tokens')
    .selectAll()
    .where('owner', '=', owner)
    .where('hash', '=', tokenHash(secrets, purpose, token))
    .executeTakeFirst()
  if (!row) return null
  const state =
    row.spent_at !== null
      ? 'spent'
      : row.voided_at !== null
        ? 'voided'
        : row.expires_at <= clock.now()
          ? 'expired'
          : 'open'
  return { userId: row.user_id, data: row.data_json as D, createdAt: row.created_at, state }
}

export async function voidTokens(
  { clock }: Pick<Platform, 'clock'>,
  tx: Db,
  userId: string | null,
  purposes: Purpose[],
  { issuedAfter }: { issuedAfter?: string } = {},
): Promise<void> {
  await tx
    .updateTable('one_time_tokens')
    .set({ voided_at: clock.now() })
    .where(userId === null ? 'user_id' : 'owner', userId === null ? 'is' : '=', userId)
    .where('purpose', 'in', purposes)
    .where('spent_at', 'is', null)
    .where('voided_at', 'is', null)
    .$if(issuedAfter !== undefined, (query) => query.where('created_at', '>', issuedAfter ?? ''))
    .execute()
}

/**
 * Purposes without an email. Rows of mailed tokens stay longer, because people still click old
 * links in emails.
 */
export const NEVER_MAILED: readonly Purpose[] = [
  'challenge',
  'oauth',
  'passkey-register',
  'passkey-login',
  'storefront',
]

const tokenHash = (secrets: Platform['secrets'], purpose: Purpose, token: string) =>
  secrets.hash(`one-time-tokens/${purpose}`, token)
