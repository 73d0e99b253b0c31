/** Errors of the admin routes. The rooms that they call define their own. */
import { Problem } from '#platform/problem.ts'

export const adminProblem = Problem.define({
  payment_not_found: [
    404,
    'No payment of a subscription has this id',
    'Refund a purchase by `POST /api/admin/purchases/{id}/refund`.',
  ],
  job_not_found: [404, 'No failed job has this id', '`GET /api/admin/jobs` lists the failed jobs.'],
  clock_fixed: [
    409,
    'The clock of this service cannot be moved',
    'Only the clock of a service whose payments the sandbox plays can be moved.',
  ],
  clock_moving: [
    409,
    'The clock is being moved already',
    'Wait until the other request has ended.',
  ],
  clock_step_refused: [
    422,
    'The clock moves forward, by one day at most',
    'Move it day by day, so that each request is short.',
  ],
})
