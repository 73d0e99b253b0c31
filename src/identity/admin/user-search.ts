/** The superusers' search for users by id, address and name. */
import { sql } from 'kysely'
import type { Tier } from '#catalogue/catalogue.ts'
import { type Db, matchPrefix } from '#platform/db/db.ts'
import { COUNTED_MAX, countRows, type PageOf } from '#platform/http/keyset.ts'
import type { SubscriptionStatus } from '../tables.ts'
import { emailKey } from '../users.ts'
import { LISTED, type UserPage } from './administration.ts'

/** Limits the scan of a search to about 20 ms on SQLite, which serves no other user meanwhile. */
export const SEARCHED_MAX = 100_000

export type UserFilter = {
  /** Users that also match, by another value than address or name. */
  ids?: readonly string[]
  plan?: Tier | undefined
  status?: SubscriptionStatus | undefined
}

/**
 * Finds the user with that id. Otherwise finds users whose address begins with `find`; then, among
 * the newest `SEARCHED_MAX` users, those with every word in their address or name, ignoring case.
 * Addresses that begin with `find` come first. An empty `find` matches everyone, newest first.
 */
export async function findUsers(
  db: Db,
  find: string,
  { page, limit }: PageOf,
  { ids = [], plan, status }: UserFilter = {},
): Promise<UserPage> {
  const users = db
    .selectFrom('users')
    .$if(plan !== undefined, (query) => query.where('subscription_tier', '=', plan ?? ''))
    .$if(status !== undefined, (query) => query.where('subscription_status', '=', status ?? 'free'))
  const begins = matchPrefix(db, 'email_key', emailKey(find))
  const beginning = users.select('id').where(begins.where).limit(COUNTED_MAX)
  const newest = db
    .selectFrom('users')
    .select([
      'id',
      'search_text',
      ...(plan === undefined ? [] : (['subscription_tier'] as const)),
      ...(status === undefined ? [] : (['subscription_status'] as const)),
    ])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(SEARCHED_MAX)
  const having = db
    .selectFrom(newest.as('newest'))
    .select('id')
    .where((e) => e.and(find.toLowerCase().split(/\s+/).map(containing)))
    .$if(plan !== undefined, (query) => query.where('subscription_tier', '=', plan ?? ''))
    .$if(status !== undefined, (query) => query.where('subscription_status', '=', status ?? 'free'))
    .limit(COUNTED_MAX)
  // A union, because PostgreSQL would read the whole table for `or`.
  const matching = db
    .selectFrom(beginning.as('beginning_so'))
    .select('id')
    .union(db.selectFrom(having.as('having_words')).select('id'))
    .$if(ids.length > 0, (query) => query.union(users.select('id').where('id', 'in', ids)))
  const found = UUID.test(find)
    ? users.where('id', 'in', [find.toLowerCase(), ...ids])
    : db
        .selectFrom('users')
        .where(
          'id',
          'in',
          find === '' ? db.selectFrom(having.as('having_all')).select('id') : matching,
        )
  const total = await countRows(db, found)
  const offset = (page - 1) * limit
  const inOrder =
    find === ''
      ? found.select(LISTED).orderBy('created_at', 'desc').orderBy('id', 'desc')
      : found
          .select(LISTED)
          .orderBy(sql`case when ${begins.where} then 0 else 1 end`)
          .orderBy(begins.orderBy)
  const rows = offset >= total ? [] : await inOrder.offset(offset).limit(limit).execute()
  return { users: rows, total, page, limit, pages: Math.ceil(total / limit), next_cursor: null }
}

function containing(word: string) {
  const pattern = `%${word.replace(/[\\%_]/g, '\\$&')}%`
  return sql<boolean>`search_text like ${pattern} escape '\\'`
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
