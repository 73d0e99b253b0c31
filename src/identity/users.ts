// The users table: queries, inserts, updates, the row lock, and the public view of a user.
import { type Selectable, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { type Catalogue, FREE, findGrants } from '#catalogue/catalogue.ts'
import { type Db, forUpdate } from '#platform/db/db.ts'
import { prepared } from '#platform/db/prepared.ts'
import { Instant, Named, Nullable, OneOf } from '#platform/http/schema.ts'
import { LOCALES } from '#platform/locale.ts'
import { findNameOwner, insertName, releaseNames } from '#platform/lookups.ts'
import type { UsersTable } from './tables.ts'
import { countedUser, recount } from './user-counts.ts'

export type User = Selectable<UsersTable>

/**
 * Returns the allowance that the user's payments bought; null when their plan is free or a
 * superuser set it.
 */
export const readSlices = ({
  tier_override,
  slices_json,
}: Pick<User, 'tier_override' | 'slices_json'>) => (tier_override === null ? slices_json : null)

export const OAuthProviderName = Named('OAuthProvider', OneOf('google', 'github'))
export const SubscriptionStatus = Named(
  'SubscriptionStatus',
  OneOf('free', 'active', 'cancelled', 'past_due'),
)

/** The language of a person's emails and pages. */
export const LocaleName = Named('Locale', OneOf(...LOCALES))

/** SPEC's User, with the additional fields of the account page. */
export const UserView = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    full_name: Nullable(Type.String()),
    avatar_url: Nullable(Type.String()),
    locale: Nullable(LocaleName),
    is_active: Type.Boolean(),
    is_verified: Type.Boolean(),
    oauth_provider: Nullable(OAuthProviderName),
    subscription_status: SubscriptionStatus,
    subscription_tier: Type.String(),
    created_at: Instant,
    is_superuser: Type.Boolean(),
    has_password: Type.Boolean(),
    totp_enabled: Type.Boolean(),
    entitlements: Type.Array(Type.String(), { description: 'What the plan grants' }),
  },
  { title: 'User' },
)
export type UserView = Static<typeof UserView>

export function userView(catalogue: Catalogue, user: User): UserView {
  return toUserView(catalogue, user, user.password_hash !== null)
}

/** Returns the view of one user; reads only the displayed columns. */
export async function findUserView(
  catalogue: Catalogue,
  db: Db,
  id: string,
): Promise<UserView | null> {
  const found = shownById(db, id)
  const user = found instanceof Promise ? await found : found
  return user ? toUserView(catalogue, user, user.is_password_set as boolean) : null
}

function toUserView(
  catalogue: Catalogue,
  user: Omit<UserView, 'has_password' | 'totp_enabled' | 'entitlements'> & { is_totp_on: boolean },
  hasPassword: boolean,
): UserView {
  return {
    id: user.id,
    email: user.email,
    full_name: user.full_name,
    avatar_url: user.avatar_url,
    locale: user.locale,
    is_active: user.is_active,
    is_verified: user.is_verified,
    oauth_provider: user.oauth_provider,
    subscription_status: user.subscription_status,
    subscription_tier: user.subscription_tier,
    created_at: user.created_at,
    is_superuser: user.is_superuser,
    has_password: hasPassword,
    totp_enabled: user.is_totp_on,
    entitlements: [...findGrants(catalogue, user.subscription_tier)],
  }
}

/**
 * Returns the form in which addresses are compared. The schema only allows ASCII, so lower case is
 * enough.
 */
export const emailKey = (email: string) => email.toLowerCase()

/**
 * Matches the partial index. SQLite uses that index only for exactly this text, not for a
 * parameter.
 */
export const isSuperuser = sql<boolean>`is_superuser`

/** The columns of the view, without the password's hash. */
const shownById = prepared(
  (db) =>
    db
      .selectFrom('users')
      .select((e) => [
        'id',
        'email',
        'full_name',
        'avatar_url',
        'locale',
        'is_active',
        'is_verified',
        'oauth_provider',
        'subscription_status',
        'subscription_tier',
        'created_at',
        'is_superuser',
        'is_totp_on',
        e('password_hash', 'is not', null).as('is_password_set'),
      ])
      .where('id', '=', ''),
  1,
)
const byId = prepared((db) => db.selectFrom('users').selectAll().where('id', '=', ''), 1)

export async function findUser(db: Db, id: string): Promise<User | null> {
  return (await byId(db, id)) ?? null
}

/** Finds a user by address, ignoring case. */
export async function findUserByEmail(db: Db, email: string): Promise<User | null> {
  const owner = await findNameOwner(db, 'email', emailKey(email))
  return owner === null ? null : findUser(db, owner)
}

/**
 * Locks the user's row. Call it before a decision that depends on counting or removing the user's
 * rows. Returns false when the user does not exist.
 */
export async function lockUser(tx: Db, userId: string): Promise<boolean> {
  const user = await forUpdate(
    tx,
    tx.selectFrom('users').select('id').where('id', '=', userId),
  ).executeTakeFirst()
  return user !== undefined
}

export type NewUser = Pick<User, 'email' | 'full_name' | 'password_hash'> &
  Partial<
    Pick<
      User,
      'avatar_url' | 'locale' | 'oauth_provider' | 'is_verified' | 'is_superuser' | 'last_login_at'
    >
  >

/** @throws a unique violation when the address is taken. */
export async function insertUser(tx: Db, user: NewUser, now: string): Promise<User> {
  const row = await tx
    .insertInto('users')
    .values({
      id: crypto.randomUUID(),
      email: user.email,
      email_key: emailKey(user.email),
      full_name: user.full_name,
      search_text: buildSearchText(user),
      avatar_url: user.avatar_url ?? null,
      locale: user.locale ?? null,
      password_hash: user.password_hash,
      oauth_provider: user.oauth_provider ?? null,
      is_active: true,
      is_verified: user.is_verified ?? false,
      verified_apart_at: null,
      is_superuser: user.is_superuser ?? false,
      is_totp_on: false,
      subscription_status: 'free',
      subscription_tier: FREE,
      processor_tier: FREE,
      tier_override: null,
      tier_override_until: null,
      slices_json: null,
      processor_customer_id: null,
      created_at: now,
      updated_at: now,
      last_login_at: user.last_login_at ?? null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await insertName(tx, 'email', row.email_key, row.id)
  await recount(tx, null, row)
  return row
}

/**
 * Returns null when the user does not exist. @throws a unique violation when the address is taken
 */
export async function updateUser(
  tx: Db,
  id: string,
  changes: Partial<Omit<User, 'id' | 'created_at' | 'search_text'>>,
  now: string,
): Promise<User | null> {
  const isCounted = changes.is_verified !== undefined || changes.subscription_status !== undefined
  const before = isCounted ? await countedUser(tx, id) : null
  if (changes.email_key !== undefined) await moveEmail(tx, id, changes.email_key)
  const row = await tx
    .updateTable('users')
    .set({ ...changes, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  if (before && row) await recount(tx, before, row)
  if (row && (changes.email !== undefined || changes.full_name !== undefined)) {
    await tx
      .updateTable('users')
      .set({ search_text: buildSearchText(row) })
      .where('id', '=', id)
      .execute()
  }
  return row ?? null
}

function buildSearchText({ email, full_name }: Pick<User, 'email' | 'full_name'>): string {
  return `${email} ${full_name ?? ''}`.toLowerCase()
}

async function moveEmail(tx: Db, id: string, to: string): Promise<void> {
  const user = await forUpdate(
    tx,
    tx.selectFrom('users').select('email_key').where('id', '=', id),
  ).executeTakeFirst()
  if (user === undefined || user.email_key === to) return
  await insertName(tx, 'email', to, id)
  await releaseNames(tx, 'email', [user.email_key])
}
