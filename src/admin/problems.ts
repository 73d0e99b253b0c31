/** Errors of the admin routes. The rooms that they call define their own. */
import { Problem } from '#platform/problem.ts'

export const adminProblem = Problem.define({
  payment_not_found: [
    404,
    'No payment of a subscription has this id',
    { advice: 'Refund a purchase by `POST /api/admin/purchases/{id}/refund`.' },
  ],
  job_not_found: [
    404,
    'No failed job has this id',
    { advice: '`GET /api/admin/jobs` lists the failed jobs.' },
  ],
})
