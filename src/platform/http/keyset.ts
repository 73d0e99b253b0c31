/**
 * Pagination of growing lists, by page number or by cursor (the position of the last row). A page
 * by number reads all rows before it. So lists without a counter are counted, and paged by number,
 * only up to COUNTED_MAX rows.
 */
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { Type } from 'typebox'
import type { Instant } from '../clock.ts'
import type { Db } from '../db/db.ts'
import type { Tables } from '../db/tables.ts'
import { invalid } from '../problems.ts'
import { Nullable } from './schema.ts'

export const COUNTED_MAX = 10_000

export const PageQuery = {
  page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  cursor: Type.Optional(
    Type.String({
      maxLength: 200,
      description: '`next_cursor` of the page before; `page` is not read then',
    }),
  ),
}
export type PageOf = { page: number; limit: number; cursor?: string | undefined }

export const Paged = {
  total: Type.Integer(),
  page: Type.Integer(),
  limit: Type.Integer(),
  pages: Type.Integer(),
  next_cursor: Nullable(Type.String()),
}
/** The page fields of a list without a counter. */
export const CountedPaged = {
  ...Paged,
  total: Type.Integer({
    description: `Counted up to ${COUNTED_MAX.toLocaleString('en')}; more are reached by cursor`,
  }),
}

/** The position of a row in a list ordered by time. */
export type Place = { at: Instant; id: string }

export function encodeCursor({ at, id }: Place): string {
  return Buffer.from(`${at} ${id}`).toString('base64url')
}

/** @throws Problem 422 for an invalid cursor */
export function readCursor(cursor: string): Place {
  const [at = '', id = '', ...more] = Buffer.from(cursor, 'base64url').toString().split(' ')
  if (
    !AT.test(at) ||
    Number.isNaN(Date.parse(at)) ||
    id === '' ||
    id.includes('\0') ||
    more.length > 0
  ) {
    throw invalid(['query', 'cursor'], 'Unknown cursor')
  }
  return { at, id }
}

const AT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/**
 * Returns a condition for the rows after the cursor in a list ordered by both columns, newest first.
 * @throws Problem 422 for an invalid cursor
 */
export function isAfterCursor(
  cursor: string | undefined,
  [at, id]: readonly [string, string] = ['created_at', 'id'],
): RawBuilder<boolean> {
  if (cursor === undefined) return sql`true`
  const place = readCursor(cursor)
  return sql`(${sql.ref(at)}, ${sql.ref(id)}) < (${place.at}, ${place.id})`
}

type ListedRow = Place | { created_at: Instant; id: string }

/** Returns the cursor of the next page; null when this page is not full. */
export function nextCursor(rows: readonly ListedRow[], limit: number): string | null {
  const last = rows.at(-1)
  if (last === undefined || rows.length < limit) return null
  return encodeCursor('at' in last ? last : { at: last.created_at, id: last.id })
}

/** Returns the fields of `Paged`. */
export function describePage(
  rows: readonly ListedRow[],
  total: number,
  { page, limit }: Pick<PageOf, 'page' | 'limit'>,
) {
  const next_cursor = nextCursor(rows, limit)
  return { total, page, limit, pages: Math.ceil(total / limit), next_cursor }
}

/** Counts the rows of a query, up to COUNTED_MAX. */
export async function countRows(
  db: Db,
  query: SelectQueryBuilder<Tables, keyof Tables, unknown>,
): Promise<number> {
  const some = query.select(sql`1`.as('one')).limit(COUNTED_MAX)
  const { rows } = await sql<{
    count: number
  }>`select count(*) as count from (${some}) as counted`.execute(db)
  return rows[0]?.count ?? 0
}
