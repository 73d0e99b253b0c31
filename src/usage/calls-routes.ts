// Lists a user's calls, as JSON pages or as one CSV file. Prompts and answers are never stored, so
// no reply contains them.
import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import type { Described } from '#platform/http/openapi.ts'
import { Instant, Named, Nullable, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { invalid } from '#platform/problems.ts'
import {
  type CallFilter,
  type CallView,
  createCursor,
  findCall,
  formatCall,
  readCallPage,
  readCursor,
} from './calls.ts'
import { formatCsvLine } from './csv.ts'
import { CallParameters } from './parameters.ts'
import { usageProblem } from './problems.ts'
import { type CallScope, Day, readCallScope, readSpan } from './span.ts'
import { usageRoute } from './usage-route.ts'

const LIMIT_MAX = 1_000
const LIMIT_DEFAULT = 50

const Outcome = Named('UsageOutcome', OneOf('ok', 'failed', 'cancelled'))

const Call = Type.Object(
  {
    id: Type.String(),
    at: Instant,
    route: Type.String(),
    model: Type.String(),
    vendor: Type.String(),
    key_id: Nullable(Type.String({ description: 'Null for a call with a JWT.' })),
    outcome: Outcome,
    status: Type.Integer({
      description:
        'The status of the reply: 200 even if the stream broke off later, 499 if the client disconnected.',
    }),
    prompt_tokens: Type.Integer(),
    cached_tokens: Type.Integer({ description: 'A part of `prompt_tokens`.' }),
    completion_tokens: Type.Integer(),
    reasoning_tokens: Type.Integer({ description: 'A part of `completion_tokens`.' }),
    cost_usd: Type.Number(),
    is_estimated: Type.Boolean({
      description:
        'True if the vendor reported no token counts, or if the model has no known price.',
    }),
    latency_ms: Type.Integer(),
    first_token_ms: Nullable(
      Type.Integer({ description: 'For a stream: milliseconds until its first chunk.' }),
    ),
    attempts: Type.Integer(),
    tried: Type.String({
      description:
        'The attempts in order, as in `openai:limited,anthropic:ok`; `cache`: answered from the cache.',
    }),
    request_id: Nullable(Type.String({ description: 'The reply’s `X-Request-Id`.' })),
    vendor_request_id: Nullable(
      Type.String({ description: 'The vendor’s id of the request; quote it to their support.' }),
    ),
    error_code: Nullable(Type.String({ description: 'The error code of a failed call.' })),
    error_detail: Nullable(
      Type.String({
        description: 'The vendor’s error message, at most 500 characters.',
      }),
    ),
    end_user: Nullable(
      Type.String({ description: 'The end user of the call: `user` of the request.' }),
    ),
    labels: Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      title: 'CallLabels',
      description: '`metadata` of the request.',
    }),
    parameters: Nullable({
      ...CallParameters,
      description: 'Null for models that do not chat and for answers from the cache.',
    }),
  },
  { title: 'Call' },
)

/** The columns of the CSV, in the list's order. */
const COLUMNS = Object.keys(Call.properties) as (keyof CallView)[]

const CallPage = Type.Object(
  { calls: Type.Array(Call), next_cursor: Nullable(Type.String()) },
  { title: 'CallPage' },
)

const REPLIES: Described = {
  replies: {
    200: {
      description: 'A page of calls as JSON, or all calls (at most `limit`) as CSV.',
      content: {
        'application/json': CallPage,
        'text/csv': Type.Unsafe<unknown>({ type: 'string' }),
      },
    },
  },
}

const Text = Type.Optional(Type.String({ minLength: 1, maxLength: 600 }))

export function callRoutes(app: App, { db, clock }: Pick<Platform, 'db' | 'clock'>) {
  app.get(
    '/api/usage/calls',
    usageRoute(
      'listCalls',
      'Every call, newest first',
      {
        description:
          'A page may contain fewer than `limit` calls if few match the filter. Continue while `next_cursor` is not null. ' +
          'With `Accept: text/csv`, all calls are streamed as CSV. ' +
          'A key with limited scopes sees only its own calls, unless `usage` is its only scope.',
        querystring: Type.Object({
          from: Type.Optional(Day),
          to: Type.Optional(Day),
          model: Text,
          vendor: Text,
          route: Text,
          key: Type.Optional(
            Type.String({ minLength: 1, maxLength: 200, description: 'A key’s id, or `session`.' }),
          ),
          outcome: Type.Optional(Outcome),
          end_user: Text,
          label: Type.Optional(
            Type.String({
              pattern: ':',
              maxLength: 600,
              description: '`name:value`, one pair of `metadata`.',
            }),
          ),
          request_id: Text,
          cursor: Text,
          limit: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: LIMIT_MAX,
              description: `${LIMIT_DEFAULT}; for CSV: all.`,
            }),
          ),
        }),
        response: { 200: CallPage },
      },
      { viewable: true, described: REPLIES },
    ),
    async (request, reply) => {
      const { query } = request
      const caller = requireCaller(request)
      const scope = readCallScope(caller)
      const { from, to } = readSpan(clock, query)
      const filter: CallFilter = {
        from,
        to,
        model: query.model,
        vendor: query.vendor,
        route: query.route,
        key: query.key,
        outcome: query.outcome,
        endUser: query.end_user,
        label: query.label === undefined ? undefined : readLabelFilter(query.label),
        requestId: query.request_id,
      }
      const before = query.cursor === undefined ? null : readCursor(caller.userId, query.cursor)
      if (query.cursor !== undefined && before === null)
        throw invalid(['query', 'cursor'], 'Unknown cursor')

      if (wantsCsv(request.headers.accept)) {
        reply.type('text/csv; charset=utf-8')
        reply.header('content-disposition', `attachment; filename="calls-${from}-${to}.csv"`)
        const lines = formatCsv(db, scope, filter, before, query.limit ?? Number.POSITIVE_INFINITY)
        return reply.send(Readable.from(lines, { objectMode: false }) as never)
      }
      const { calls, next } = await readCallPage(db, scope, filter, {
        before,
        limit: query.limit ?? LIMIT_DEFAULT,
      })
      return {
        calls: calls.map(formatCall),
        next_cursor: next === null ? null : createCursor(caller.userId, next),
      }
    },
  )

  app.get(
    '/api/usage/calls/:id',
    usageRoute(
      'getCall',
      'One call',
      {
        description:
          'A key with limited scopes sees only its own calls, unless `usage` is its only scope.',
        params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 64 }) }),
        response: { 200: Call },
      },
      { viewable: true },
    ),
    async (request) => {
      const call = await findCall(db, readCallScope(requireCaller(request)), request.params.id)
      if (call === null) throw usageProblem('call_not_found')
      return formatCall(call)
    },
  )
}

/** Browsers accept both formats and receive JSON. */
function wantsCsv(accept: string | undefined): boolean {
  return accept?.includes('text/csv') === true && !accept.includes('application/json')
}

/** Splits at the first colon: a label's value may contain colons, its name cannot. */
function readLabelFilter(text: string) {
  const colon = text.indexOf(':')
  return { name: text.slice(0, colon), value: text.slice(colon + 1) }
}

/** Yields one page of lines at a time and reads the next page only when the client has consumed it. */
async function* formatCsv(
  db: Platform['db'],
  scope: CallScope,
  filter: CallFilter,
  before: string | null,
  limit: number,
): AsyncGenerator<string> {
  yield formatCsvLine(COLUMNS)
  let left = limit
  for (let from = before; left > 0; ) {
    const { calls, next } = await readCallPage(db, scope, filter, {
      before: from,
      limit: Math.min(left, LIMIT_MAX),
    })
    left -= calls.length
    if (calls.length > 0)
      yield calls.map((row) => formatCsvLine(listCells(formatCall(row)))).join('')
    if (next === null) return
    from = next
  }
}

function listCells(call: CallView) {
  return COLUMNS.map((name) => {
    const value = call[name]
    if (typeof value !== 'object' || value === null) return value
    return Object.keys(value).length === 0 ? null : JSON.stringify(value)
  })
}
