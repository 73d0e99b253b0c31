/** The calls and documents of all users: the rows behind the metrics of use. No prompts, names or texts. */
import { Type } from 'typebox'
import { findEmails } from '#identity/admin/administration.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, Named, Nullable, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { listNewDocuments } from '#rag/documents/document-list.ts'
import { listOperatorCalls } from '#usage/operator-calls.ts'
import { adminRoute } from './admin-route.ts'
import { readMetricSpan, SPAN } from './metrics/query.ts'
import { readInstants } from './metrics/windows.ts'

const PAGE = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  cursor: Type.Optional(Type.String({ maxLength: 300 })),
}
const CUSTOMER = {
  user_id: Type.String(),
  email: Nullable(Type.String({ description: 'Null after the account’s deletion' })),
}

const Calls = Type.Object({
  calls: Type.Array(
    Type.Object(
      {
        id: Type.String(),
        at: Instant,
        ...CUSTOMER,
        route: Type.String(),
        model: Type.String(),
        vendor: Type.String(),
        outcome: Named('UsageOutcome', OneOf('ok', 'failed', 'cancelled')),
        status: Type.Integer({ description: 'The status of the reply' }),
        cost_usd: Type.Number(),
        latency_ms: Type.Integer(),
        error_code: Nullable(Type.String()),
        request_id: Nullable(Type.String({ description: 'The reply’s `X-Request-Id`' })),
      },
      { title: 'AdminCall' },
    ),
  ),
  next_cursor: Nullable(Type.String()),
})

const Documents = Type.Object({
  documents: Type.Array(
    Type.Object(
      {
        id: Type.String({ description: 'Unique for each user only' }),
        at: Instant,
        ...CUSTOMER,
        characters: Type.Integer(),
        file_bytes: Nullable(
          Type.Integer({ description: 'The size of the stored file; null without one' }),
        ),
        chunks: Type.Integer(),
      },
      { title: 'AdminDocument' },
    ),
  ),
  next_cursor: Nullable(Type.String()),
})

export function adminUseRoutes(app: App, { db, clock }: Pick<Platform, 'db' | 'clock'>): void {
  const nameCustomers = async <T extends { user_id: string; created_at: string }>(rows: T[]) => {
    const emails = await findEmails(db, [...new Set(rows.map(({ user_id }) => user_id))])
    return rows.map(({ created_at, ...row }) => ({
      ...row,
      at: created_at,
      email: emails.get(row.user_id) ?? null,
    }))
  }

  app.get(
    '/api/admin/calls',
    adminRoute('listAllCalls', 'List the calls of all users, newest first', {
      description:
        'The rows behind `calls` and `failure_rate`, without prompts and answers. A page may contain fewer than `limit` calls if few have the outcome. Continue while `next_cursor` is not null.',
      querystring: Type.Object({
        ...SPAN,
        outcome: Type.Optional(Named('UsageOutcome', OneOf('ok', 'failed', 'cancelled'))),
        ...PAGE,
      }),
      response: { 200: Calls },
    }),
    async ({ query: { outcome, limit, cursor, ...asked } }) => {
      const span = readInstants(readMetricSpan(clock, asked))
      const { calls, next_cursor } = await listOperatorCalls(db, span, { outcome, cursor, limit })
      const named = await nameCustomers(calls)
      return {
        calls: named.map(({ cost_nanos, ...call }) => ({ ...call, cost_usd: cost_nanos / 1e9 })),
        next_cursor,
      }
    },
  )

  app.get(
    '/api/admin/documents',
    adminRoute('listAllDocuments', 'List the documents that users added, newest first', {
      description:
        'The rows behind `documents`, without names, metadata and texts. Deleted documents are not listed.',
      querystring: Type.Object({ ...SPAN, ...PAGE }),
      response: { 200: Documents },
    }),
    async ({ query: { limit, cursor, ...asked } }) => {
      const span = readInstants(readMetricSpan(clock, asked))
      const { documents, next_cursor } = await listNewDocuments(db, span, { cursor, limit })
      return { documents: await nameCustomers(documents), next_cursor }
    },
  )
}
