/** Refusals by budgets. Retries fail until the next period, so each reply carries a header against them. */
import { Problem } from '#platform/problem.ts'

export const usageProblem = Problem.define({
  budget_exhausted: [
    429,
    'Monthly budget exhausted',
    {
      advice:
        '`GET /api/usage/allowance` tells when it renews; or have the plan’s allowance raised.',
      alias: 'insufficient_quota',
    },
  ],
  token_budget_exhausted: [
    429,
    'Monthly token budget exhausted',
    {
      advice: '`GET /api/usage/allowance` tells when it renews; or have the budget raised.',
      alias: 'insufficient_quota',
    },
  ],
  key_budget_exhausted: [
    429,
    '{period} budget of this key exhausted',
    {
      advice:
        '`GET /api/api-keys/self` tells when it begins anew (UTC); or raise it: `PATCH /api/api-keys/{key_id}`.',
      alias: 'insufficient_quota',
    },
  ],
  budget_busy: [
    429,
    'Other calls hold what is left of this budget',
    {
      advice: 'Wait until they have ended, or ask for a shorter answer.',
      alias: 'rate_limit_exceeded',
    },
  ],
})
