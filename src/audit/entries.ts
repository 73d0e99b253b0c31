// Pages of the audit log, newest first: all accounts for superusers, and the own entries for each
// user.
import './tables.ts'
import type { Selectable, SelectQueryBuilder } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Instant as Time } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import {
  CountedPaged,
  countRows,
  describePage,
  type PageOf,
  PageQuery,
  readCursor,
} from '#platform/http/keyset.ts'
import { Instant, JsonObject, Nullable } from '#platform/http/schema.ts'
import { invalid } from '#platform/problems.ts'
import { findPseudonym } from './audit.ts'

export const AuditPage = Type.Object({
  action: Type.Optional(Type.String({ maxLength: 100, description: 'As `sign-in.failed`' })),
  ...PageQuery,
})

export const AuditEntryView = Type.Object(
  {
    id: Type.String(),
    chain: Type.Integer({
      description: 'With `position` it is where `audit verify` finds the entry',
    }),
    position: Nullable(
      Type.Integer({ description: 'Null for a moment, until the entry is linked into its chain' }),
    ),
    at: Instant,
    action: Type.String(),
    actor_id: Nullable(
      Type.String({
        description: 'Null: nobody who is known, the service itself, or a deleted user',
      }),
    ),
    subject: Nullable(Type.String()),
    data: Nullable(JsonObject),
  },
  { title: 'AuditEntry' },
)

export const AuditEntries = Type.Object({ entries: Type.Array(AuditEntryView), ...CountedPaged })

type Asked = PageOf & { userId?: string | undefined; action?: string | undefined }

/** Returns a page of the entries by and about `userId`; without it, of all users. */
export async function pageOfAudit(
  db: Db,
  { userId, action, page, limit, cursor }: Asked,
): Promise<Static<typeof AuditEntries>> {
  const person = userId === undefined ? null : await findPseudonym(db, userId)
  if (person === undefined)
    return { entries: [], total: 0, page, limit, pages: 0, next_cursor: null }
  let query = db.selectFrom('audit_log')
  if (action !== undefined) query = query.where('action', '=', action)
  const parts = person === null ? [query] : selectOfPerson(query, person)
  let total = 0
  for (const part of parts) total += await countRows(db, part)
  const offset = cursor === undefined ? (page - 1) * limit : 0
  const found: EntryRow[] = []
  if (offset < total)
    for (const part of parts) found.push(...(await newest(part, cursor, offset + limit)))
  const rows = found.sort(byTime).slice(offset, offset + limit)
  const ids = await findIds(db, rows)
  const entries = rows.map(({ subject, ...row }) => ({
    ...viewEntry(row, ids),
    subject: subject?.startsWith('user:')
      ? `user:${ids.get(subject.slice(5)) ?? 'deleted'}`
      : subject,
  }))
  return { entries, ...describePage(rows, total, { page, limit }) }
}

/** Returns the newest entries by and about a user before an instant, newest first. */
export async function listAboutUser(
  db: Db,
  userId: string,
  { before, limit }: { before: Time; limit: number },
) {
  const person = await findPseudonym(db, userId)
  if (person === undefined) return []
  const query = db.selectFrom('audit_log').where('at', '<', before)
  const found: EntryRow[] = []
  for (const part of selectOfPerson(query, person))
    found.push(...(await newest(part, undefined, limit)))
  const rows = found.sort(byTime).slice(0, limit)
  const ids = await findIds(db, rows)
  return rows.map(({ subject, ...row }) => ({
    ...viewEntry(row, ids),
    /** The user that it is about. */
    subject_id: subject?.startsWith('user:') ? (ids.get(subject.slice(5)) ?? null) : null,
  }))
}

/**
 * Each query reads in the order of an index. An entry by and about the same person is in the first
 * one only.
 */
function selectOfPerson(query: Entries, person: string): Entries[] {
  return [
    query.where('actor', '=', person),
    query
      .where('subject', '=', `user:${person}`)
      .where((e) => e.or([e('actor', 'is', null), e('actor', '<>', person)])),
  ]
}

/** Returns the newest entries about a subject that is no user, newest first. */
export async function listAboutSubject(db: Db, subject: string, max: number) {
  const rows = await newest(
    db.selectFrom('audit_log').where('subject', '=', subject),
    undefined,
    max,
  )
  const ids = await findIds(db, rows)
  return rows.map(({ at, action, actor, details }) =>
    viewEntry({ at, action, actor, details }, ids),
  )
}

function viewEntry<Row extends { actor: string | null; details: string | null }>(
  { actor, details, ...row }: Row,
  ids: ReadonlyMap<string, string>,
) {
  const data = details === null ? null : (JSON.parse(details) as Record<string, unknown>)
  return { ...row, actor_id: ids.get(actor ?? '') ?? null, data }
}

type EntryRow = Pick<
  Selectable<Tables['audit_log']>,
  'id' | 'chain' | 'position' | 'at' | 'action' | 'actor' | 'subject' | 'details'
>

type Entries = SelectQueryBuilder<Tables, 'audit_log', object>

function newest(part: Entries, cursor: string | undefined, limit: number): Promise<EntryRow[]> {
  let query = part
  if (cursor !== undefined) {
    const { at, id } = parseCursor(cursor)
    query = query.where((e) => e(e.refTuple('at', 'id'), '<', e.tuple(at, id)))
  }
  return query
    .select(['id', 'chain', 'position', 'at', 'action', 'actor', 'subject', 'details'])
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

const byTime = (a: EntryRow, b: EntryRow) =>
  a.at === b.at ? (a.id < b.id ? 1 : -1) : a.at < b.at ? 1 : -1

function parseCursor(cursor: string) {
  const { at, id } = readCursor(cursor)
  if (!/^[\da-f]{30}$/.test(id)) throw invalid(['query', 'cursor'], 'Unknown cursor')
  return { at, id }
}

/** Returns the ids of existing users by pseudonym. */
async function findIds(
  db: Db,
  rows: { actor: string | null; subject: string | null }[],
): Promise<ReadonlyMap<string, string>> {
  const names = rows.flatMap(({ actor, subject }) => [
    actor,
    subject?.startsWith('user:') ? subject.slice(5) : null,
  ])
  const distinctNames = [...new Set(names.filter((name) => name !== null))]
  if (distinctNames.length === 0) return new Map()
  const found = await db
    .selectFrom('audit_persons')
    .selectAll()
    .where('pseudonym', 'in', distinctNames)
    .execute()
  return new Map(found.map((row) => [row.pseudonym, row.user_id]))
}
