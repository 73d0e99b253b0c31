// Reports the used and remaining dollars of the plan and of each key's budget. The budget's row has
// the use after the period's first reservation; until then, the sums by day are added up.
import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, Named, Nullable, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { listAlerts } from './alerts.ts'
import { toBudgetTx } from './budgets.ts'
import type { FreeAllowance, Ledger } from './ledger.ts'
import { computeSpan, namePeriods, PERIODS, type Period } from './periods.ts'
import { type PlanBudgets, subtractOveruse } from './plan-budgets.ts'
import { readCallScope } from './span.ts'
import { listBudgets, sumUse } from './store.ts'
import { usageRoute } from './usage-route.ts'

/** A key's own budget in dollars. */
export type KeyAllowance = { id: string; period: Period; limitNanos: number }

type Deps = Pick<Platform, 'db' | 'clock'>
type Needs = {
  ledger: Pick<Ledger, 'readReservedNanos'>
  planBudget: PlanBudgets
  freeAllowance: FreeAllowance
  keyBudgets(userId: string): Promise<KeyAllowance[]>
}

const Allowance = Type.Object(
  {
    period_start: Instant,
    period_end: Type.String({
      format: 'date-time',
      description: 'The billing period of a paid plan, or the trial; otherwise the UTC month.',
    }),
    renews_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description:
        'The end of the period. Null if it has passed: the remaining dollars can be used until the next payment.',
    }),
    limit_usd: Nullable(
      Type.Number({ description: 'Dollars that can be used in this period; null: no limit.' }),
    ),
    used_usd: Type.Number(),
    reserved_usd: Type.Number({ description: 'Dollars reserved by running calls.' }),
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
      { description: 'Active keys with their own budget in dollars.' },
    ),
    alerts: Type.Array(
      Type.Object(
        { percent: Type.Integer({ description: '80 or 100.' }), at: Instant },
        { title: 'AllowanceAlert' },
      ),
      {
        description:
          'Alerts that were written when 80 or 100 percent of the period’s dollars were used. Each is emailed to the user once.',
      },
    ),
  },
  { title: 'Allowance' },
)

export function allowanceRoute(
  app: App,
  { db, clock }: Deps,
  { ledger, planBudget, freeAllowance, keyBudgets }: Needs,
) {
  app.get(
    '/api/usage/allowance',
    usageRoute(
      'getAllowance',
      'Used and remaining dollars of the plan and of each key',
      {
        description:
          'A key with limited scopes sees only its own use, unless `usage` is its only scope.',
        response: { 200: Allowance },
      },
      { viewable: true },
    ),
    async (request) => {
      const caller = requireCaller(request)
      const { userId } = caller
      const { keyId } = readCallScope(caller)
      const at = clock.now()
      const plan = await subtractOveruse(toBudgetTx(db), userId, planBudget(caller, at))
      const isTaken = plan.isFree && !(await freeAllowance.isAvailable(userId))
      const keys = (await keyBudgets(userId)).filter(({ id }) => keyId === null || id === keyId)
      const budgets = await listBudgets(db, userId, [plan.name, ...Object.values(namePeriods(at))])
      const findBudget = (scope: string, name: string) =>
        budgets.find((one) => one.scope === scope && one.period === name)
      // A key with limited scopes sees only its own use, which is summed by month.
      const isSlice = plan.isPaid && keyId === null
      const month = computeSpan('month', at)
      const name = keyId === null ? plan.name : namePeriods(at).month
      const own = findBudget(keyId ?? '', name)
      const unopened = isSlice ? { nanos: 0 } : await sumUse(toBudgetTx(db), userId, keyId, month)
      return {
        period_start: keyId === null ? plan.start : month.start,
        period_end: keyId === null ? plan.end : month.end,
        renews_at: plan.end > at ? (keyId === null ? plan.end : month.end) : null,
        limit_usd: plan.nanos === null ? null : isTaken ? 0 : plan.nanos / 1e9,
        used_usd: (own?.used_nanos ?? unopened.nanos) / 1e9,
        reserved_usd: ledger.readReservedNanos(userId, own) / 1e9,
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

/**
 * Returns the key's use in the current period, in tokens and nanodollars; `end` is the start of the
 * next period.
 */
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
