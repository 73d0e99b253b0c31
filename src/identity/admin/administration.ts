// User administration for superusers; the admin room owns the routes.
import { sql } from 'kysely'
import { recordAudit } from '#audit/audit.ts'
import type { Tier } from '#catalogue/catalogue.ts'
import { DAY_MS, plus } from '#platform/clock.ts'
import { type Db, forUpdate, matchPrefix, transaction } from '#platform/db/db.ts'
import {
  COUNTED_MAX,
  countRows,
  nextCursor,
  type PageOf,
  readCursor,
} from '#platform/http/keyset.ts'
import type { Platform } from '#platform/platform.ts'
import { type NotifyDeps, notifyOwner } from '../notify-owner.ts'
import { identityProblem } from '../problems.ts'
import { type RevocationDeps, revokeSessions } from '../sessions/revocation.ts'
import { announceUserChange } from '../user-changes.ts'
import { countRecentUsers, countUsers, findDayEdges } from '../user-counts.ts'
import { emailKey, isSuperuser, type User, updateUser } from '../users.ts'

export type UserChanges = {
  is_active?: boolean | undefined
  is_verified?: boolean | undefined
  is_superuser?: boolean | undefined
  /** Overrides the processor's events until it is set to null. */
  subscription_tier?: Tier | null | undefined
}

/**
 * Changes a user. Deactivating a user ends their sessions at once. The last active superuser cannot
 * be deactivated or demoted. @throws Problem 404 `User not found`, 400 for the last superuser.
 */
export async function changeUser(
  deps: NotifyDeps & RevocationDeps & Pick<Platform, 'db'>,
  actorId: string,
  userId: string,
  changes: UserChanges,
): Promise<User> {
  const { is_active, is_verified, is_superuser, subscription_tier } = changes

  return transaction(deps.db, async (tx) => {
    // All superusers are locked, so that two of them cannot demote each other at once.
    const superusers = await lockSuperusers(tx)
    const user = await forUpdate(
      tx,
      tx.selectFrom('users').selectAll().where('id', '=', userId),
    ).executeTakeFirst()
    if (!user) throw identityProblem('user_not_found')
    if (
      (is_active === false || is_superuser === false) &&
      superusers.length === 1 &&
      superusers[0]?.id === userId
    ) {
      throw identityProblem('last_superuser')
    }

    const now = deps.clock.now()
    const changed = await updateUser(
      tx,
      userId,
      {
        ...(is_active === undefined ? {} : { is_active }),
        ...(is_verified === undefined ? {} : { is_verified }),
        ...(is_verified === true && !user.is_verified ? { verified_apart_at: now } : {}),
        ...(is_superuser === undefined ? {} : { is_superuser }),
        ...(subscription_tier === undefined
          ? {}
          : {
              tier_override: subscription_tier,
              subscription_tier: subscription_tier ?? user.processor_tier,
            }),
      },
      now,
    )
    if (!changed) throw identityProblem('user_not_found')
    if (is_active === false) await revokeSessions(deps, tx, userId)
    announceUserChange(tx, userId)
    if (is_superuser === true && !user.is_superuser)
      await notifyOwner(deps, tx, userId, 'superuser-made')
    await recordAudit(tx, {
      actorId,
      action: 'user.changed',
      subject: `user:${userId}`,
      data: { ...changes },
      at: now,
    })
    return changed
  })
}

/**
 * Locks all active superusers, one by one because they may be on different servers. Returns those
 * that are still active superusers when locked.
 */
async function lockSuperusers(tx: Db): Promise<{ id: string }[]> {
  const superusers = tx
    .selectFrom('users')
    .select('id')
    .where(isSuperuser)
    .where('is_active', '=', true)
  const locked: { id: string }[] = []
  for (const { id } of await superusers.orderBy('id').execute()) {
    const row = await forUpdate(tx, superusers.where('id', '=', id)).executeTakeFirst()
    if (row) locked.push(row)
  }
  return locked
}

const SUPERUSERS_MAX = 100

/** Lists those who may answer messages and handle orders. */
export function listSuperusers(db: Db) {
  return db
    .selectFrom('users')
    .select(['id', 'email', 'full_name'])
    .where(isSuperuser)
    .where('is_active', '=', true)
    .orderBy('email')
    .limit(SUPERUSERS_MAX)
    .execute()
}

/** Returns the addresses of the users that still exist, by id. */
export async function findEmails(db: Db, userIds: string[]): Promise<Map<string, string>> {
  if (userIds.length === 0) return new Map()
  const users = await db
    .selectFrom('users')
    .select(['id', 'email'])
    .where('id', 'in', userIds)
    .execute()
  return new Map(users.map(({ id, email }) => [id, email]))
}

export type ListedUser = Pick<User, (typeof LISTED)[number]>
export type UserPage = {
  users: ListedUser[]
  total: number
  page: number
  limit: number
  pages: number
  next_cursor: string | null
}

/** Lists users, newest first; `page` counts from 1. */
export async function listUsers(db: Db, { page, limit, cursor }: PageOf): Promise<UserPage> {
  const { users: total } = await countUsers(db)
  const users =
    cursor === undefined
      ? await usersOfPage(db, page, limit, total)
      : await usersBelow(db, cursor, limit)
  return {
    users,
    total,
    page,
    limit,
    pages: Math.ceil(total / limit),
    next_cursor: nextCursor(
      users.map(({ id, created_at }) => ({ id, at: created_at })),
      limit,
    ),
  }
}

/** Limits the scan of a search to about 20 ms on SQLite, which serves no other user meanwhile. */
export const SEARCHED_MAX = 100_000

/**
 * Finds the user with that id. Otherwise finds users whose address begins with `find`; then, among
 * the newest `SEARCHED_MAX` users, those with every word in their address or name, ignoring case.
 * Addresses that begin with `find` come first.
 */
export async function findUsers(db: Db, find: string, { page, limit }: PageOf): Promise<UserPage> {
  const begins = matchPrefix(db, 'email_key', emailKey(find))
  const beginning = db.selectFrom('users').select('id').where(begins.where).limit(COUNTED_MAX)
  const newest = db
    .selectFrom('users')
    .select(['id', 'search_text'])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(SEARCHED_MAX)
  const words = find.toLowerCase().split(/\s+/).map(containing)
  const having = db
    .selectFrom(newest.as('newest'))
    .select('id')
    .where((e) => e.and(words))
    .limit(COUNTED_MAX)
  // A union, because PostgreSQL would read the whole table for `or`.
  const matching = db
    .selectFrom(beginning.as('beginning_so'))
    .select('id')
    .union(db.selectFrom(having.as('having_words')).select('id'))
  const found = db
    .selectFrom('users')
    .where((e) => (UUID.test(find) ? e('id', '=', find.toLowerCase()) : e('id', 'in', matching)))
  const total = await countRows(db, found)
  const offset = (page - 1) * limit
  const inOrder = found
    .select(LISTED)
    .orderBy(sql`case when ${begins.where} then 0 else 1 end`)
    .orderBy(begins.orderBy)
  const users = offset >= total ? [] : await inOrder.offset(offset).limit(limit).execute()
  return { users, total, page, limit, pages: Math.ceil(total / limit), next_cursor: null }
}

function containing(word: string) {
  const pattern = `%${word.replace(/[\\%_]/g, '\\$&')}%`
  return sql<boolean>`search_text like ${pattern} escape '\\'`
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Reads a page by number. It skips whole days by their stored counts and starts at the nearer edge
 * of the page's days, so a late page costs as little as an early one.
 */
async function usersOfPage(
  db: Db,
  page: number,
  limit: number,
  total: number,
): Promise<ListedUser[]> {
  const first = (page - 1) * limit
  const last = Math.min(first + limit, total)
  if (first >= total) return []
  const { above, below } = await findDayEdges(db, first, last)
  const isFromBelow = below.newer - last < first - above.newer
  const order = isFromBelow ? 'asc' : 'desc'
  const { at } = isFromBelow ? below : above
  const users = await db
    .selectFrom('users')
    .select(LISTED)
    // The subquery skips rows in the index only; just the rows of the page are read.
    .where('id', 'in', (e) =>
      e
        .selectFrom('users')
        .select('id')
        .$if(at !== null, (query) => query.where('created_at', isFromBelow ? '>=' : '<', at ?? ''))
        .orderBy('created_at', order)
        .orderBy('id', order)
        .limit(last - first)
        .offset(isFromBelow ? Math.max(0, below.newer - last) : first - above.newer),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
  return users
}

function usersBelow(db: Db, cursor: string, limit: number): Promise<ListedUser[]> {
  const { at, id } = readCursor(cursor)
  return db
    .selectFrom('users')
    .select(LISTED)
    .where((e) => e(e.refTuple('created_at', 'id'), '<', e.tuple(at, id)))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

const LISTED = [
  'id',
  'email',
  'full_name',
  'is_active',
  'is_verified',
  'is_superuser',
  'subscription_status',
  'subscription_tier',
  'tier_override',
  'created_at',
  'last_login_at',
] as const

export type UserStats = {
  total_users: number
  active_subscriptions: number
  new_users_7d: number
  verified_users: number
}

/**
 * Reads counters: counting a million rows takes two seconds, during which SQLite serves no other
 * user.
 */
export async function userStats(db: Db, now: string): Promise<UserStats> {
  const { users, verified, active } = await countUsers(db)
  return {
    total_users: users,
    active_subscriptions: active,
    new_users_7d: await countRecentUsers(db, plus(now, -7 * DAY_MS)),
    verified_users: verified,
  }
}
