/** Errors of exhausted budgets. Retries fail until the next period, so each reply has a header that prevents them. */
import { Problem } from '#platform/problem.ts'

export const usageProblem = Problem.define({
  call_not_found: [404, 'Call not found'],
  budget_exhausted: [
    429,
    'Monthly budget exhausted',
    'See `GET /api/usage/allowance` for the renewal date, or ask for a higher allowance.',
    'insufficient_quota',
  ],
  token_budget_exhausted: [
    429,
    'Monthly token budget exhausted',
    'See `GET /api/usage/allowance` for the renewal date, or ask for a higher budget.',
    'insufficient_quota',
  ],
  key_budget_exhausted: [
    429,
    '{period} budget of this key exhausted',
    'See `GET /api/api-keys/self` for the renewal time (UTC), or raise the budget with `PATCH /api/api-keys/{key_id}`.',
    'insufficient_quota',
  ],
  free_needs_verified_email: [
    403,
    'Verify your email address to use the free allowance',
    'Follow the link in the email, or request another one: `POST /api/auth/resend-verification`.',
  ],
  free_allowance_taken: [
    403,
    'Another account of this mailbox has used the free allowance',
    'Sign in to that account, or subscribe: `GET /api/billing/plans`.',
  ],
  budget_busy: [
    429,
    'Other calls hold what is left of this budget',
    'Wait until they have ended, or request a shorter answer.',
    'rate_limit_exceeded',
  ],
})
