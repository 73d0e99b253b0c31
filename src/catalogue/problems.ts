import { Problem } from '#platform/problem.ts'

export const catalogueProblem = Problem.define({
  paid_tier_needed: [
    403,
    '{what} {requirement}',
    { advice: 'Subscribe: `POST /api/billing/create-checkout-session`.' },
  ],
})
