import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Named, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { Day, GROUPS_MAX, readCallScope, readSpan } from './span.ts'
import { sumUsage, type UsageSum } from './store.ts'
import { usageRoute } from './usage-route.ts'

const Sum = {
  requests: Type.Integer(),
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
  cached_tokens: Type.Integer({ description: 'A part of `prompt_tokens`.' }),
  cost_usd: Type.Number(),
}

export function usageRoutes(app: App, { db, clock }: Pick<Platform, 'db' | 'clock'>) {
  app.get(
    '/api/usage',
    usageRoute(
      'getUsage',
      'Usage by day, model, key, vendor, outcome or end user',
      {
        description:
          `Returns at most ${GROUPS_MAX} groups, the most expensive first. Days are sorted by date; they are UTC, and \`to\` is included. ` +
          '`end_user` is the `user` of the requests, or `""`. ' +
          'A key with limited scopes sees only its own calls, unless `usage` is its only scope.',
        querystring: Type.Object({
          from: Type.Optional(Day),
          to: Type.Optional(Day),
          group_by: Type.Optional(
            Named('UsageGrouping', OneOf('day', 'model', 'key', 'vendor', 'outcome', 'end_user')),
          ),
        }),
        response: {
          200: Type.Object({
            from: Type.String(),
            to: Type.String(),
            totals: Type.Object(Sum, { title: 'UsageTotals' }),
            groups: Type.Array(
              Type.Object({ key: Type.String(), ...Sum }, { title: 'UsageGroup' }),
            ),
            has_more: Type.Boolean({
              description: 'True if there are more groups; `totals` includes them.',
            }),
          }),
        },
      },
      { viewable: true },
    ),
    async (request) => {
      const { query } = request
      const { from, to } = readSpan(clock, query)
      const scope = readCallScope(requireCaller(request))
      const groupBy = query.group_by ?? 'day'
      const sums = await sumUsage(db, scope, { from, to }, groupBy, GROUPS_MAX + 1)
      const hasMore = groupBy !== 'day' && sums.length > GROUPS_MAX
      const all = hasMore ? await sumUsage(db, scope, { from, to }, 'day', GROUPS_MAX) : sums
      const groups = hasMore ? sums.slice(0, GROUPS_MAX) : sums
      return {
        from,
        to,
        totals: formatView(computeTotal(all)),
        groups: groups.map((sum) => ({ key: sum.key, ...formatView(sum) })),
        has_more: hasMore,
      }
    },
  )
}

function formatView({
  requests,
  prompt_tokens,
  completion_tokens,
  cached_tokens,
  cost_nanos,
}: Omit<UsageSum, 'key'>) {
  return {
    requests,
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    cached_tokens,
    cost_usd: cost_nanos / 1e9,
  }
}

function computeTotal(sums: UsageSum[]): Omit<UsageSum, 'key'> {
  const total = {
    requests: 0,
    prompt_tokens: 0,
    completion_tokens: 0,
    cached_tokens: 0,
    cost_nanos: 0,
  }
  for (const sum of sums) {
    total.requests += sum.requests
    total.prompt_tokens += sum.prompt_tokens
    total.completion_tokens += sum.completion_tokens
    total.cached_tokens += sum.cached_tokens
    total.cost_nanos += sum.cost_nanos
  }
  return total
}
