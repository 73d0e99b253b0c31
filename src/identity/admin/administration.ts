// User administration for superusers; the admin room owns the routes.

import { sql } from 'kysely'
import { recordAudit } from '#audit/audit.ts'
import { FREE, type Tier } from '#catalogue/catalogue.ts'
import { DAY_MS, type Instant, plus } from '#platform/clock.ts'
import { type Db, forUpdate, transaction } from '#platform/db/db.ts'
import { describePage, isAfterCursor, type PageOf } from '#platform/http/keyset.ts'
import type { Platform } from '#platform/platform.ts'
import { type NotifyDeps, notifyOwner } from '../notify-owner.ts'
import { identityProblem } from '../problems.ts'
import { type RevocationDeps, revokeSessions } from '../sessions/revocation.ts'
import { announceUserChange } from '../user-changes.ts'
import { countRecentUsers, countUsers, findDayEdges } from '../user-counts.ts'
import { isSuperuser, lockUser, type User, updateUser } from '../users.ts'
import { setOverride } from './tier-override.ts'

export type UserChanges = {
  is_active?: boolean | undefined
  is_verified?: boolean | undefined
  is_superuser?: boolean | undefined
  /** Overrides the processor's events until it is set to null. */
  subscription_tier?: Tier | null | undefined
  /** When the override ends by itself; null or missing: never. */
  subscription_tier_until?: Instant | null | undefined
}

/**
 * Changes a user. Deactivating a user ends their sessions at once. The last active superuser cannot
 * be deactivated or demoted. @throws Problem 404 `User not found`, 400 for the last superuser, 422 as
 * `setOverride`.
 */
export async function changeUser(
  deps: NotifyDeps & RevocationDeps & Pick<Platform, 'db' | 'jobs'>,
  actorId: string,
  userId: string,
  changes: UserChanges,
): Promise<User> {
  const { is_active, is_verified, is_superuser } = changes

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
    const override = await setOverride(deps, tx, user, {
      tier: changes.subscription_tier,
      until: changes.subscription_tier_until ?? null,
    })
    const changed = await updateUser(
      tx,
      userId,
      {
        ...(is_active === undefined ? {} : { is_active }),
        ...(is_verified === undefined ? {} : { is_verified }),
        ...(is_verified === true && !user.is_verified ? { verified_apart_at: now } : {}),
        ...(is_superuser === undefined ? {} : { is_superuser }),
        ...override,
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

/** Ends a user's sessions, also the storefront's. @throws Problem 404 */
export async function signOutUser(
  deps: RevocationDeps & Pick<Platform, 'db'>,
  actorId: string,
  userId: string,
): Promise<void> {
  await transaction(deps.db, async (tx) => {
    if (!(await lockUser(tx, userId))) throw identityProblem('user_not_found')
    await revokeSessions(deps, tx, userId)
    await recordAudit(tx, {
      actorId,
      action: 'user.signed-out',
      subject: `user:${userId}`,
      at: deps.clock.now(),
    })
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
    .select(['id', 'email', 'full_name', 'locale'])
    .where(isSuperuser)
    .where('is_active', '=', true)
    .orderBy('email')
    .limit(SUPERUSERS_MAX)
    .execute()
}

export type Person = { email: string; full_name: string | null }

/** Returns the addresses and names of the users that still exist, by id. */
export async function findPeople(db: Db, userIds: string[]): Promise<Map<string, Person>> {
  if (userIds.length === 0) return new Map()
  const users = await db
    .selectFrom('users')
    .select(['id', 'email', 'full_name'])
    .where('id', 'in', userIds)
    .execute()
  return new Map(users.map(({ id, ...person }) => [id, person]))
}

/** Returns the addresses of the users that still exist, by id. */
export async function findEmails(db: Db, userIds: string[]): Promise<Map<string, string>> {
  const people = await findPeople(db, userIds)
  return new Map([...people].map(([id, { email }]) => [id, email]))
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
  return { users, ...describePage(users, total, { page, limit }) }
}

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
  return (
    db
      .selectFrom('users')
      .select(LISTED)
      // The subquery skips rows in the index only; just the rows of the page are read.
      .where('id', 'in', (e) =>
        e
          .selectFrom('users')
          .select('id')
          .$if(at !== null, (query) =>
            query.where('created_at', isFromBelow ? '>=' : '<', at ?? ''),
          )
          .orderBy('created_at', order)
          .orderBy('id', order)
          .limit(last - first)
          .offset(isFromBelow ? Math.max(0, below.newer - last) : first - above.newer),
      )
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .execute()
  )
}

function usersBelow(db: Db, cursor: string, limit: number): Promise<ListedUser[]> {
  return db
    .selectFrom('users')
    .select(LISTED)
    .where(isAfterCursor(cursor))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** The columns of listed users. */
export const LISTED = [
  'id',
  'email',
  'full_name',
  'is_active',
  'is_verified',
  'is_superuser',
  'subscription_status',
  'subscription_tier',
  'tier_override',
  'tier_override_until',
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

/**
 * Counts the users on each plan. Reads only users on other plans than the free one, by an index: the
 * rest follows from the stored count of all users.
 */
export async function countUsersOnPlans(db: Db): Promise<ReadonlyMap<Tier, number>> {
  const { users: total } = await countUsers(db)
  const rows = await db
    .selectFrom('users')
    .select((e) => ['subscription_tier', e.fn.countAll<number>().as('users')])
    .where(sql<boolean>`subscription_tier <> 'free'`)
    .groupBy('subscription_tier')
    .execute()
  const counts = new Map(rows.map(({ subscription_tier: tier, users }) => [tier, users]))
  const onPlans = [...counts.values()].reduce((sum, users) => sum + users, 0)
  return counts.set(FREE, Math.max(0, total - onPlans))
}
