/** Errors of the admin routes; the rooms behind them have their own. */
import { Problem } from '#platform/problem.ts'

export const adminProblem = Problem.define({
  job_not_found: [
    404,
    'No job with this id has given up',
    { advice: '`GET /api/admin/jobs` lists those that have.' },
  ],
})
