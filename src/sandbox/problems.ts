/**
 * Errors of requests that may not use the sandbox. The simulated vendors and the processor have
 * their own errors.
 */
import { Problem } from '#platform/problem.ts'

export const sandboxProblem = Problem.define({
  sandbox_closed: [
    403,
    'The sandbox is closed because a proxy on this machine forwards requests of others. Set BASE_URL to the public address, or NODE_ENV=production, and restart.',
  ],
  sandbox_local_only: [
    403,
    'The sandbox answers this machine only. SANDBOX=on opens it to others.',
  ],
  sandbox_cross_site: [403, 'The sandbox takes no forms from other sites.'],
})
