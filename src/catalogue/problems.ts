import { Problem } from '#platform/problem.ts'

export const catalogueProblem = Problem.define({
  email_not_verified: [
    403,
    'Verify your email address first',
    'Follow the mailed link, or ask for another: `POST /api/auth/resend-verification`.',
  ],
  paid_tier_needed: [
    403,
    '{what} {requirement}',
    'Subscribe: `POST /api/billing/create-checkout-session`.',
  ],
})
