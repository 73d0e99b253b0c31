// API keys, stored only as keyed hashes. A revoked key stays as long as its usage records, which
// refer to it. Only issueKey and rotateKey return the secret. Every change is announced to all
// nodes.
import './tables.ts'
import type { Selectable } from 'kysely'
import type { AuditAction } from '#audit/actions.ts'
import { recordAudit } from '#audit/audit.ts'
import { notifyOwner } from '#identity/notify-owner.ts'
import { lockSessionUser, type SessionRef } from '#identity/sessions/sessions.ts'
import type { Instant } from '#platform/clock.ts'
import { plus } from '#platform/clock.ts'
import { afterCommit, type Db, transaction } from '#platform/db/db.ts'
import type { KeyBudget } from '#platform/http/access-control.ts'
import type { Platform } from '#platform/platform.ts'
import { invalid } from '#platform/problems.ts'
import { apiKeyProblem } from './problems.ts'
import { newSecret, PREFIX_LENGTH } from './secret.ts'
import type { ApiKeysTable, KeyPeriod } from './tables.ts'

export type ApiKey = Selectable<ApiKeysTable>
export type KeyDeps = Pick<
  Platform,
  'db' | 'clock' | 'secrets' | 'bus' | 'config' | 'jobs' | 'limiter'
>

/** Null: no limit of this kind. */
export type KeyLimits = {
  expiresAt: Instant | null
  scopes: string[] | null
  models: string[] | null
  addresses: string[] | null
  rate: { requests: number; seconds: number } | null
  monthlyTokens: number | null
  budget: { limitNanos: number; period: KeyPeriod } | null
}
export const NO_LIMITS: KeyLimits = {
  expiresAt: null,
  scopes: null,
  models: null,
  addresses: null,
  rate: null,
  monthlyTokens: null,
  budget: null,
}

export type KeySettings = KeyLimits & { name: string }

/** Far more than any legitimate use. Limits the list and the table. */
const LIVE_KEYS_MAX = 1_000

export const KEYS_CHANGED = 'api-keys.changed'

/**
 * Creates a key. @throws Problem 401 when the session has ended, 422 when its end is in the past,
 * 409 when the user has too many keys
 */
export async function issueKey(
  deps: KeyDeps,
  session: SessionRef,
  settings: KeySettings,
): Promise<{ key: ApiKey; secret: string }> {
  const { db, clock } = deps
  const { userId } = session
  requireFuture(deps, settings.expiresAt)
  const secret = newSecret(userId)

  const key = await transaction(db, async (tx) => {
    // Without the lock, two tabs could together exceed the maximum.
    await lockSessionUser(deps, tx, session)
    const { live } = await tx
      .selectFrom('api_keys')
      .select(({ fn }) => fn.countAll<number>().as('live'))
      .where('user_id', '=', userId)
      .where('is_active', '=', true)
      .where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', clock.now())]))
      .executeTakeFirstOrThrow()
    if (live >= LIVE_KEYS_MAX) throw apiKeyProblem('key_limit_reached', { max: LIVE_KEYS_MAX })

    const row = await tx
      .insertInto('api_keys')
      .values({
        user_id: userId,
        id: crypto.randomUUID(),
        name: settings.name,
        hash: keyHash(deps, secret),
        key_prefix: secret.slice(0, PREFIX_LENGTH),
        is_active: true,
        ...buildColumns(settings),
        created_at: clock.now(),
        last_used_at: null,
        revoked_at: null,
        rotated_at: null,
        previous_hash: null,
        previous_until_at: null,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await notifyOwner(deps, tx, userId, 'key-made', { name: row.name, prefix: row.key_prefix })
    await recordKeyAudit(tx, deps, row, 'api-key.made')
    return row
  })
  return { key, secret }
}

/** Lists the user's keys, newest first, including revoked ones. */
export async function listKeys({ db }: Pick<KeyDeps, 'db'>, userId: string): Promise<ApiKey[]> {
  return db
    .selectFrom('api_keys')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

/** Returns null for an unknown key. */
export async function ownerOfKey(db: Db, id: string): Promise<string | null> {
  const key = await db
    .selectFrom('api_keys')
    .select('user_id')
    .where('id', '=', id)
    .executeTakeFirst()
  return key?.user_id ?? null
}

/** Omitted fields stay unchanged. */
export type KeyChange = { [Setting in keyof KeySettings]?: KeySettings[Setting] | undefined }

/**
 * Changes a key. An inactive key stays inactive and only its name can change, because active keys
 * count towards the user's maximum. @throws Problem 401 when the session has ended (the name can
 * still change). Problem 404 for an unknown key. Problem 409 for an inactive one. Problem 422 for
 * an end in the past.
 */
export async function changeKey(
  deps: KeyDeps,
  session: SessionRef,
  id: string,
  change: KeyChange,
): Promise<ApiKey> {
  const { db, bus, clock } = deps
  const { userId } = session
  const columns = buildColumns(change)
  const { name, ...limits } = columns
  const isOfLimits = Object.keys(limits).length > 0
  requireFuture(deps, change.expiresAt ?? null)
  return transaction(db, async (tx) => {
    if (isOfLimits) {
      await lockSessionUser(deps, tx, session)
      if (!isLive(await findKey(tx, userId, id), clock)) throw apiKeyProblem('key_not_active')
    }
    const row = await tx
      .updateTable('api_keys')
      .set(columns)
      .where('user_id', '=', userId)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst()
    if (row === undefined) return missing()
    if (isOfLimits) {
      await recordKeyAudit(tx, deps, row, 'api-key.changed', limits)
      afterCommit(tx, () => bus.publish(KEYS_CHANGED, { keyId: id }))
    }
    return row
  })
}

function buildColumns<S extends KeyChange>(settings: S) {
  const { name, expiresAt, scopes, models, addresses, rate, monthlyTokens, budget } = settings
  return {
    ...(name === undefined ? {} : { name }),
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    ...(scopes === undefined ? {} : { scopes_json: scopes }),
    ...(models === undefined ? {} : { models_json: models }),
    ...(addresses === undefined ? {} : { addresses_json: addresses }),
    ...(rate === undefined
      ? {}
      : { rate_requests: rate?.requests ?? null, rate_seconds: rate?.seconds ?? null }),
    ...(monthlyTokens === undefined ? {} : { monthly_tokens: monthlyTokens }),
    ...(budget === undefined
      ? {}
      : { budget_nanos: budget?.limitNanos ?? null, budget_period: budget?.period ?? null }),
  }
}

function requireFuture({ clock }: Pick<KeyDeps, 'clock'>, expiresAt: Instant | null): void {
  if (expiresAt === null || Date.parse(expiresAt) > clock.ms()) return
  throw invalid(['body', 'expires_at'], 'Should be in the future')
}

function isLive({ is_active, expires_at }: ApiKey, { ms }: Pick<KeyDeps['clock'], 'ms'>): boolean {
  return is_active && (expires_at === null || Date.parse(expires_at) > ms())
}

/** Returns the request limit of the key; null without one. */
export function getRate({ rate_requests: requests, rate_seconds: seconds }: ApiKey) {
  return requests === null || seconds === null ? null : { requests, seconds }
}

/** Returns the budgets of the key; null without any. */
export function getBudget({
  monthly_tokens: monthlyTokens,
  budget_nanos,
  budget_period,
}: ApiKey): KeyBudget | null {
  if (monthlyTokens === null && budget_nanos === null) return null
  const dollars =
    budget_nanos === null ? null : { limitNanos: budget_nanos, period: budget_period ?? 'month' }
  return { monthlyTokens, dollars }
}

/** Lists the user's live keys that have a budget in dollars. */
export async function keyBudgets({ db, clock }: Pick<KeyDeps, 'db' | 'clock'>, userId: string) {
  const rows = await db
    .selectFrom('api_keys')
    .select(['id', 'budget_period', 'budget_nanos'])
    .where('user_id', '=', userId)
    .where('is_active', '=', true)
    .where('budget_nanos', 'is not', null)
    .where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', clock.now())]))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
  return rows.map(({ id, budget_period, budget_nanos }) => ({
    id,
    period: budget_period ?? 'month',
    limitNanos: budget_nanos ?? 0,
  }))
}

/**
 * Revokes a key; does nothing when it is already revoked. @throws Problem 404 when the user has no
 * such key.
 */
export async function revokeKey(deps: KeyDeps, userId: string, id: string): Promise<void> {
  const { db, clock, bus } = deps
  await transaction(db, async (tx) => {
    const key = await findKey(tx, userId, id)
    if (!key.is_active) return
    await tx
      .updateTable('api_keys')
      .set({ is_active: false, revoked_at: clock.now() })
      .where('user_id', '=', userId)
      .where('id', '=', id)
      .execute()
    await recordKeyAudit(tx, deps, key, 'api-key.revoked')
    afterCommit(tx, () => bus.publish(KEYS_CHANGED, { keyId: id }))
  })
}

export type RevokedKey = { id: string; name: string }

/**
 * Revokes a user's live keys: all, those created or rotated after `after`, or those created before
 * `before`. The caller records the reason in the audit log.
 */
export async function revokeKeys(
  { clock, bus }: Pick<KeyDeps, 'clock' | 'bus'>,
  tx: Db,
  userId: string,
  { after, before }: { after?: Instant; before?: Instant } = {},
): Promise<RevokedKey[]> {
  const rows = await tx
    .updateTable('api_keys')
    .set({ is_active: false, revoked_at: clock.now() })
    .where('user_id', '=', userId)
    .where('is_active', '=', true)
    .$if(after !== undefined, (query) =>
      query.where((e) =>
        e.or([e('created_at', '>', after ?? ''), e('rotated_at', '>', after ?? '')]),
      ),
    )
    .$if(before !== undefined, (query) => query.where('created_at', '<', before ?? ''))
    .returning(['id', 'name'])
    .execute()
  afterCommit(tx, () => {
    for (const { id } of rows) bus.publish(KEYS_CHANGED, { keyId: id })
  })
  return rows
}

/**
 * Creates a new secret for a key. Name, settings and usage stay. The old secret works until the
 * grace period ends; an even older one ends now. @throws Problem 401 when the session has ended.
 * Problem 404 for an unknown key. Problem 409 for a revoked or expired one.
 */
export async function rotateKey(
  deps: KeyDeps,
  session: SessionRef,
  id: string,
  graceMs: number,
): Promise<{ key: ApiKey; secret: string }> {
  const { db, clock, bus } = deps
  const { userId } = session
  const secret = newSecret(userId)
  const key = await transaction(db, async (tx) => {
    await lockSessionUser(deps, tx, session)
    const old = await findKey(tx, userId, id)
    if (!isLive(old, clock)) throw apiKeyProblem('key_not_active')
    const row = await tx
      .updateTable('api_keys')
      .set({
        hash: keyHash(deps, secret),
        key_prefix: secret.slice(0, PREFIX_LENGTH),
        rotated_at: clock.now(),
        previous_hash: graceMs > 0 ? old.hash : null,
        previous_until_at: graceMs > 0 ? plus(clock.now(), graceMs) : null,
      })
      .where('user_id', '=', userId)
      .where('id', '=', id)
      // Of two simultaneous rotations, the second finds another hash and fails. Otherwise its
      // caller would get a secret that does not work.
      .where('hash', '=', old.hash)
      .where('is_active', '=', true)
      .returningAll()
      .executeTakeFirst()
    if (!row) throw apiKeyProblem('key_changed')
    await notifyOwner(deps, tx, userId, 'key-rotated', { name: row.name, prefix: row.key_prefix })
    await recordKeyAudit(tx, deps, row, 'api-key.rotated')
    afterCommit(tx, () => bus.publish(KEYS_CHANGED, { keyId: id }))
    return row
  })
  return { key, secret }
}

/** Deletes the user's keys when the account is deleted. */
export async function eraseKeys(
  { bus }: Pick<KeyDeps, 'bus'>,
  tx: Db,
  userId: string,
): Promise<void> {
  const rows = await tx
    .deleteFrom('api_keys')
    .where('user_id', '=', userId)
    .returning('id')
    .execute()
  afterCommit(tx, () => {
    for (const { id } of rows) bus.publish(KEYS_CHANGED, { keyId: id })
  })
}

export function keyHash({ secrets }: Pick<KeyDeps, 'secrets'>, secret: string): string {
  return secrets.hash('api-keys', secret)
}

/** @throws Problem 404 when the user has no such key. */
export async function findKey(tx: Db, userId: string, id: string): Promise<ApiKey> {
  const row = await tx
    .selectFrom('api_keys')
    .selectAll()
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row ?? missing()
}

function missing(): never {
  throw apiKeyProblem('key_not_found')
}

/** `change`: the changed columns and their values. */
function recordKeyAudit(
  tx: Db,
  { clock }: KeyDeps,
  key: ApiKey,
  action: AuditAction,
  change?: object,
): Promise<void> {
  return recordAudit(tx, {
    actorId: key.user_id,
    action,
    subject: `api-key:${key.id}`,
    data: { name: key.name, prefix: key.key_prefix, ...(change && { set: change }) },
    at: clock.now(),
  })
}
