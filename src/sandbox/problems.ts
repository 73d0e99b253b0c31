/** Who may not use the sandbox. What its vendors and processor refuse, they say in their own words and shapes. */
import { Problem } from '#platform/problem.ts'

export const sandboxProblem = Problem.define({
  sandbox_closed: [
    403,
    'The sandbox is closed: a proxy on this machine passes on what others ask. Set BASE_URL to the public address, or NODE_ENV=production, and start anew.',
  ],
  sandbox_local_only: [403, 'The sandbox answers this machine only. SANDBOX=on opens it to others.'],
  sandbox_cross_site: [403, 'The sandbox takes no forms from other sites.'],
})
