// Usage of all users for superusers: requests, errors, tokens, cost at vendors' prices, and
// latency. Contains no prompts or answers. Customers do not see what a model costs the operator.
import { Type } from 'typebox'
import { findEmails } from '#identity/admin/administration.ts'
import type { App } from '#platform/http/app.ts'
import { Named, Nullable, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { invalid } from '#platform/problems.ts'
import { Percentiles } from '#usage/durations.ts'
import {
  type OperatorSum,
  readUsageTotal,
  sampleCalls,
  sumAllUsage,
  sumUsersUsage,
} from '#usage/operator-sums.ts'
import type { Durations } from '#usage/percentiles.ts'
import { countDays, Day, GROUPS_MAX, readSpan } from '#usage/span.ts'
import { adminRoute } from './admin-route.ts'

const SUM = {
  requests: Type.Integer(),
  failed: Type.Integer(),
  cancelled: Type.Integer({ description: 'The caller disconnected.' }),
  prompt_tokens: Type.Integer(),
  cached_tokens: Type.Integer({ description: 'Included in `prompt_tokens`.' }),
  completion_tokens: Type.Integer(),
  cost_usd: Type.Number({ description: 'Computed from the price list.' }),
  latency_ms: Percentiles,
  first_token_ms: Percentiles,
}

const AllUsage = Type.Object({
  from: Type.String(),
  to: Type.String(),
  totals: Type.Object(SUM, { title: 'AllUsageTotals' }),
  groups: Type.Array(
    Type.Object(
      { key: Type.String(), email: Nullable(Type.String()), ...SUM },
      { title: 'AllUsageGroup' },
    ),
    {
      description:
        'The highest cost first; days in chronological order. `email` is set for groups by user.',
    },
  ),
  top_users: Type.Array(
    Type.Object(
      {
        id: Type.String(),
        email: Nullable(Type.String()),
        requests: Type.Integer(),
        cost_usd: Type.Number(),
      },
      { title: 'TopUser' },
    ),
    { description: 'The users with the highest cost.' },
  ),
  is_sampled: Type.Boolean({
    description:
      'True when there were too many calls to read them all: durations and users come from a sample. Sums are exact.',
  }),
})

const DAYS_MAX = 366
const TOP_USERS = 10
/** Number of a sample's users whose usage is summed. */
const CANDIDATES_MAX = 500

export function adminUsageRoutes(app: App, { db, clock }: Pick<Platform, 'db' | 'clock'>): void {
  app.get(
    '/api/admin/usage',
    adminRoute('getAllUsage', 'Sum the usage of all users, without users deleted since', {
      description: 'Durations include successful calls only.',
      querystring: Type.Object({
        from: Type.Optional(Day),
        to: Type.Optional(Day),
        group_by: Type.Optional(
          Named('AllUsageGrouping', OneOf('day', 'vendor', 'model', 'plan', 'user', 'outcome')),
        ),
      }),
      response: { 200: AllUsage },
    }),
    async ({ query }) => {
      const span = readSpan(clock, query)
      if (countDays(span) > DAYS_MAX)
        throw invalid(['query', 'from'], `Should be at most ${DAYS_MAX} days before 'to'`)
      const groupBy = query.group_by ?? 'day'
      const totals = await readUsageTotal(db, span)
      const { isSampled, ofAll, ofKey, users } = await sampleCalls(
        db,
        span,
        groupBy,
        totals.requests,
      )
      const among = isSampled ? users.slice(0, CANDIDATES_MAX) : null
      const byUser = await sumUsersUsage(
        db,
        span,
        among,
        groupBy === 'user' ? GROUPS_MAX : TOP_USERS,
      )
      const sums = groupBy === 'user' ? byUser : await sumAllUsage(db, span, groupBy, GROUPS_MAX)
      const top = byUser.slice(0, TOP_USERS)
      const emails = await findEmails(
        db,
        [...top, ...(groupBy === 'user' ? sums : [])].map(({ key }) => key),
      )
      return {
        ...span,
        totals: view(totals, ofAll),
        groups: sums.map((sum) => ({
          key: sum.key,
          email: groupBy === 'user' ? (emails.get(sum.key) ?? null) : null,
          ...view(sum, ofKey.get(sum.key) ?? NOT_TIMED),
        })),
        top_users: top.map(({ key, requests, cost_nanos }) => ({
          id: key,
          email: emails.get(key) ?? null,
          requests,
          cost_usd: cost_nanos / 1e9,
        })),
        is_sampled: isSampled,
      }
    },
  )
}

const NOT_TIMED: Durations = { latency_ms: null, first_token_ms: null }

function view({ cost_nanos, ...sum }: Omit<OperatorSum, 'key'>, durations: Durations) {
  return { ...sum, cost_usd: cost_nanos / 1e9, ...durations }
}
