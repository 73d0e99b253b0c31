// Reports the rest of the plan's dollars in this period, and of each key's budget in its period. The budget's row holds the use
// from its first request on; before that the sums of days are added up.
import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, Named, Nullable, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { listAlerts } from './alerts.ts'
import { toBudgetTx } from './budgets.ts'
import { computeSpan, namePeriods, PERIODS, type Period } from './periods.ts'
import { lessOveruse, type PlanBudgets } from './plan-budgets.ts'
import { readCallScope } from './span.ts'
import { listBudgets, sumUse } from './store.ts'

/** A key's own budget in dollars. */
export type KeyAllowance = { id: string; period: Period; limitNanos: number }

type Deps = Pick<Platform, 'db' | 'clock'>
type Needs = {
  planBudget: PlanBudgets
  keyBudgets(userId: string): Promise<KeyAllowance[]>
}

const Allowance = Type.Object(
  {
    period_start: Instant,
    period_end: Type.String({
      format: 'date-time',
      description:
        'A paid plan’s period runs from billing day to billing day, a trial’s is the trial; else it is the UTC month.',
    }),
    renews_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description:
        'The end of the period; null once it is over: what is left may be used until the next payment.',
    }),
    limit_usd: Nullable(
      Type.Number({ description: 'What may be used from `period_start` on; null: no limit.' }),
    ),
    used_usd: Type.Number(),
    reserved_usd: Type.Number({ description: 'Held by calls that are running.' }),
    keys: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          limit_usd: Type.Number(),
          used_usd: Type.Number(),
          period: Named('BudgetPeriod', OneOf(...PERIODS)),
          period_end: Instant,
        },
        { title: 'KeyAllowance' },
      ),
      { description: 'Live keys that have a budget in dollars of their own.' },
    ),
    alerts: Type.Array(
      Type.Object(
        { percent: Type.Integer({ description: '80, or 100.' }), at: Instant },
        { title: 'AllowanceAlert' },
      ),
      {
        description:
          'That so much of the period’s dollars is used: each is mailed to the user, once.',
      },
    ),
  },
  { title: 'Allowance' },
)

export function allowanceRoute(app: App, { db, clock }: Deps, { planBudget, keyBudgets }: Needs) {
  app.get(
    '/api/usage/allowance',
    {
      schema: {
        operationId: 'getAllowance',
        tags: ['usage'],
        summary: 'What is left of the plan’s dollars, and of each key’s',
        description:
          'A key that is confined, and to more than this, hears of what it has used itself.',
        response: { 200: Allowance },
      },
      config: { access: 'user-or-key', scope: 'usage' },
    },
    async (request) => {
      const caller = requireCaller(request)
      const { userId } = caller
      const { keyId } = readCallScope(caller)
      const at = clock.now()
      const plan = await lessOveruse(toBudgetTx(db), userId, planBudget(caller, at))
      const keys = (await keyBudgets(userId)).filter(({ id }) => keyId === null || id === keyId)
      const budgets = await listBudgets(db, userId, [plan.name, ...Object.values(namePeriods(at))])
      const findBudget = (scope: string, name: string) =>
        budgets.find((one) => one.scope === scope && one.period === name)
      // A confined key hears of what it has used itself, of which there are sums by months.
      const isSlice = plan.isPaid && keyId === null
      const month = computeSpan('month', at)
      const name = keyId === null ? plan.name : namePeriods(at).month
      const own = findBudget(keyId ?? '', name)
      const unopened = isSlice ? { nanos: 0 } : await sumUse(toBudgetTx(db), userId, keyId, month)
      return {
        period_start: keyId === null ? plan.start : month.start,
        period_end: keyId === null ? plan.end : month.end,
        renews_at: plan.end > at ? (keyId === null ? plan.end : month.end) : null,
        limit_usd: plan.nanos === null ? null : plan.nanos / 1e9,
        used_usd: (own?.used_nanos ?? unopened.nanos) / 1e9,
        reserved_usd: (own?.reserved_nanos ?? 0) / 1e9,
        keys: await Promise.all(
          keys.map(async ({ id, period, limitNanos }) => {
            const span = computeSpan(period, at)
            const used =
              findBudget(id, namePeriods(at)[period])?.used_nanos ??
              (await sumUse(toBudgetTx(db), userId, id, span)).nanos
            return {
              id,
              limit_usd: limitNanos / 1e9,
              used_usd: used / 1e9,
              period,
              period_end: span.end,
            }
          }),
        ),
        alerts: keyId === null ? await listAlerts(db, userId, plan.name) : [],
      }
    },
  )
}

/** In tokens and thousand-millionths of a dollar; `end` is when it begins anew. */
export async function keyUse({ db, clock }: Deps, userId: string, keyId: string, period: Period) {
  const at = clock.now()
  const span = computeSpan(period, at)
  const budget = (await listBudgets(db, userId, [namePeriods(at)[period]])).find(
    ({ scope }) => scope === keyId,
  )
  const used = budget
    ? { tokens: budget.used_tokens, nanos: budget.used_nanos }
    : await sumUse(toBudgetTx(db), userId, keyId, span)
  return { ...used, end: span.end }
}
