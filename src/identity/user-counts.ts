// Counts of users, maintained as they register, change and leave. Each day of registration has a
// few rows, so that registrations do not wait for each other. Code that changes a counted column of
// `users` updates the counts in the same transaction.
import { type Selectable, sql } from 'kysely'
import './tables.ts'
import { DAY_MS, type Instant, plus } from '#platform/clock.ts'
import { type Db, forUpdate } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'

const SLOTS = 8

export type Counted = Pick<
  Selectable<Tables['users']>,
  'id' | 'created_at' | 'is_verified' | 'subscription_status'
>

/**
 * Updates the counts after a change of a user. `before` is null for a new user, `after` for a
 * deleted one.
 */
export async function recount(
  tx: Db,
  before: Counted | null,
  after: Counted | null,
): Promise<void> {
  const someone = after ?? before
  if (someone === null) return
  const change = {
    users: Number(after !== null) - Number(before !== null),
    verified: Number(after?.is_verified ?? false) - Number(before?.is_verified ?? false),
    active: Number(isActive(after)) - Number(isActive(before)),
  }
  if (change.users === 0 && change.verified === 0 && change.active === 0) return
  await tx
    .insertInto('user_counts')
    .values({ day: someone.created_at.slice(0, 10), slot: chooseSlot(someone.id), ...change })
    .onConflict((conflict) =>
      conflict.columns(['day', 'slot']).doUpdateSet({
        users: sql`user_counts.users + excluded.users`,
        verified: sql`user_counts.verified + excluded.verified`,
        active: sql`user_counts.active + excluded.active`,
      }),
    )
    .execute()
}

const isActive = (user: Counted | null) => user?.subscription_status === 'active'

/** Ids are random, so their first digit distributes users over the slots. */
const chooseSlot = (id: string) => Number.parseInt(id.slice(0, 1), 16) % SLOTS || 0

/** Locks the user until the transaction ends and returns the counted columns. */
export async function countedUser(tx: Db, id: string): Promise<Counted | null> {
  const row = await forUpdate(
    tx,
    tx
      .selectFrom('users')
      .select(['id', 'created_at', 'is_verified', 'subscription_status'])
      .where('id', '=', id),
  ).executeTakeFirst()
  return row ?? null
}

export type UserCounts = { users: number; verified: number; active: number }

export async function countUsers(db: Db): Promise<UserCounts> {
  const sum = (column: keyof UserCounts) =>
    sql<number>`coalesce(sum(${sql.ref(column)}), 0)`.as(column)
  return db
    .selectFrom('user_counts')
    .select([sum('users'), sum('verified'), sum('active')])
    .executeTakeFirstOrThrow()
}

/** Counts users since a moment: whole days by their counter, the day of the moment by its index. */
export async function countRecentUsers(db: Db, since: Instant): Promise<number> {
  const day = since.slice(0, 10)
  const { users } = await db
    .selectFrom('user_counts')
    .select(({ fn }) => fn.sum<number | null>('users').as('users'))
    .where('day', '>', day)
    .executeTakeFirstOrThrow()
  const { rest } = await db
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<number>().as('rest'))
    .where('created_at', '>=', since)
    .where('created_at', '<', plus(`${day}T00:00:00.000Z`, DAY_MS))
    .executeTakeFirstOrThrow()
  return (users ?? 0) + rest
}

/** Counts the registrations of each UTC day, without users deleted since. */
export async function countSignUpsByDay(
  db: Db,
  { from, to }: { from: string; to: string },
): Promise<{ day: string; users: number }[]> {
  return db
    .selectFrom('user_counts')
    .select(['day', ({ fn }) => fn.sum<number>('users').as('users')])
    .where('day', '>=', from)
    .where('day', '<=', to)
    .groupBy('day')
    .execute()
}

/**
 * The start of a day and the number of users who registered since. `at` is null before the first
 * day and after the last.
 */
export type DayEdge = { at: Instant | null; newer: number }

/** Finds the day edges around the users from `first` to `last`, counted from the newest user. */
export async function findDayEdges(
  db: Db,
  first: number,
  last: number,
): Promise<{ above: DayEdge; below: DayEdge }> {
  const days = await db
    .selectFrom('user_counts')
    .select(['day', ({ fn }) => fn.sum<number>('users').as('users')])
    .groupBy('day')
    .orderBy('day', 'desc')
    .execute()
  let above: DayEdge = { at: null, newer: 0 }
  let newer = 0
  for (const { day, users } of days) {
    newer += users
    const edge = { at: `${day}T00:00:00.000Z`, newer }
    if (newer >= last) return { above, below: edge }
    if (newer <= first) above = edge
  }
  return { above, below: { at: null, newer } }
}
