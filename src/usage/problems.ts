/** What a budget refuses. Waiting does not help before the next month, so clients are told not to repeat it. */
import { Problem } from '#platform/problem.ts'

export const usageProblem = Problem.define({
  budget_exhausted: [
    429,
    'Monthly token budget exhausted',
    { advice: 'Wait for the next month (UTC), or have the budget raised.', alias: 'insufficient_quota' },
  ],
})
