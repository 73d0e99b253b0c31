// Pages of the audit log: a superuser's over all accounts, and each user's own part. Newest first.
import './tables.ts'
import { type Static, Type } from 'typebox'
import type { Db } from '#platform/db/db.ts'
import { Instant, JsonObject, Nullable } from '#platform/http/schema.ts'

export const AuditPage = Type.Object({
  action: Type.Optional(Type.String({ maxLength: 100, description: 'As `sign-in.failed`' })),
  page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
})

export const AuditEntryView = Type.Object(
  {
    position: Type.Integer(),
    at: Instant,
    action: Type.String(),
    actor_id: Nullable(
      Type.String({ description: 'Null: nobody who is known, the service itself, or a deleted user' }),
    ),
    subject: Nullable(Type.String()),
    data: Nullable(JsonObject),
  },
  { title: 'AuditEntry' },
)

export const AuditEntries = Type.Object({
  entries: Type.Array(AuditEntryView),
  total: Type.Integer(),
  page: Type.Integer(),
  limit: Type.Integer(),
  pages: Type.Integer(),
})

type Asked = { userId?: string | undefined; action?: string | undefined; page: number; limit: number }

/** Entries that `userId` made or that are about them; left out: everybody's. */
export async function pageOfAudit(
  db: Db,
  { userId, action, page, limit }: Asked,
): Promise<Static<typeof AuditEntries>> {
  const person = userId === undefined ? null : await pseudonym(db, userId)
  if (person === undefined) return { entries: [], total: 0, page, limit, pages: 0 }
  const asked = db
    .selectFrom('audit_log')
    .$if(action !== undefined, (query) => query.where('action', '=', action ?? ''))
    .$if(person !== null, (query) =>
      query.where((e) => e.or([e('actor', '=', person), e('subject', '=', `user:${person}`)])),
    )
  const { count } = await asked.select((e) => e.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  const rows = await asked
    .select(['position', 'at', 'action', 'actor', 'subject', 'details'])
    .orderBy('position', 'desc')
    .limit(limit)
    .offset((page - 1) * limit)
    .execute()
  const ids = await idsOf(db, rows)
  const total = Number(count)
  const entries = rows.map(({ actor, subject, details, ...row }) => ({
    ...row,
    actor_id: actor === null ? null : (ids.get(actor) ?? null),
    subject: subject?.startsWith('user:') ? `user:${ids.get(subject.slice(5)) ?? 'deleted'}` : subject,
    data: details === null ? null : (JSON.parse(details) as Record<string, unknown>),
  }))
  return { entries, total, page, limit, pages: Math.ceil(total / limit) }
}

async function pseudonym(db: Db, userId: string): Promise<string | undefined> {
  const row = await db.selectFrom('audit_persons').select('pseudonym').where('user_id', '=', userId).executeTakeFirst()
  return row?.pseudonym
}

/** User ids by pseudonym, of those who are still there. */
async function idsOf(
  db: Db,
  rows: { actor: string | null; subject: string | null }[],
): Promise<ReadonlyMap<string, string>> {
  const names = rows.flatMap(({ actor, subject }) => [actor, subject?.startsWith('user:') ? subject.slice(5) : null])
  const wanted = [...new Set(names.filter((name) => name !== null))]
  if (wanted.length === 0) return new Map()
  const found = await db.selectFrom('audit_persons').selectAll().where('pseudonym', 'in', wanted).execute()
  return new Map(found.map((row) => [row.pseudonym, row.user_id]))
}
