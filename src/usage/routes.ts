import { Type } from 'typebox'
import { DAY_MS, plus } from '#platform/clock.ts'
import { callerOf } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Named, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { invalid } from '#platform/problems.ts'
import { sumUsage, type UsageSum } from './store.ts'

const Sum = {
  requests: Type.Integer(),
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
  cost_usd: Type.Number(),
}
const Day = Type.String({ format: 'date' })
const DAYS_DEFAULT = 30

export function usageRoutes(app: App, { db, clock }: Pick<Platform, 'db' | 'clock'>) {
  app.get(
    '/api/usage',
    {
      schema: {
        operationId: 'getUsage',
        tags: ['usage'],
        summary: 'What was used, by day, model or key; days are UTC, the last included',
        querystring: Type.Object({
          from: Type.Optional(Day),
          to: Type.Optional(Day),
          group_by: Type.Optional(Named('UsageGrouping', OneOf('day', 'model', 'key'))),
        }),
        response: {
          200: Type.Object({
            from: Type.String(),
            to: Type.String(),
            totals: Type.Object(Sum, { title: 'UsageTotals' }),
            groups: Type.Array(Type.Object({ key: Type.String(), ...Sum }, { title: 'UsageGroup' })),
          }),
        },
      },
      // No key is confined to it: one that may only ask the documents learns nothing of the account's other keys.
      config: { access: 'user-or-key', scope: 'usage' },
    },
    async (request) => {
      const { query } = request
      const to = query.to ?? clock.now().slice(0, 10)
      const from = query.from ?? plus(`${to}T00:00:00.000Z`, -(DAYS_DEFAULT - 1) * DAY_MS).slice(0, 10)
      if (from > to) throw invalid(['query', 'from'], "Should not be after 'to'")

      const sums = await sumUsage(db, callerOf(request).userId, from, to, query.group_by ?? 'day')
      return { from, to, totals: viewOf(totalOf(sums)), groups: sums.map((sum) => ({ key: sum.key, ...viewOf(sum) })) }
    },
  )
}

function viewOf({ requests, prompt_tokens, completion_tokens, cost_nanos }: Omit<UsageSum, 'key'>) {
  return {
    requests,
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    cost_usd: cost_nanos / 1e9,
  }
}

function totalOf(sums: UsageSum[]): Omit<UsageSum, 'key'> {
  const total = { requests: 0, prompt_tokens: 0, completion_tokens: 0, cost_nanos: 0 }
  for (const sum of sums) {
    total.requests += sum.requests
    total.prompt_tokens += sum.prompt_tokens
    total.completion_tokens += sum.completion_tokens
    total.cost_nanos += sum.cost_nanos
  }
  return total
}
