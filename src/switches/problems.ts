/** Problems of requests that the operator switched off, and of the switches themselves. */
import { Problem } from '#platform/problem.ts'

export const switchedOffProblem = Problem.define({
  user_switched_off: [
    403,
    'Calls are switched off for this account: {reason}',
    'Ask whoever runs the service. The account itself, its billing and its export go on.',
  ],
  key_switched_off: [
    403,
    'This API key is switched off: {reason}',
    'Ask whoever runs the service, or use another key.',
  ],
})

export const switchProblem = Problem.define({
  switch_not_found: [
    404,
    'Nothing of this kind and name is switched off',
    '`GET /api/admin/switches` lists what is.',
  ],
  switch_subject_unknown: [
    404,
    'There is no {kind} of this name',
    'A user and a key are named by their ids.',
  ],
  switch_limit_reached: [
    409,
    'At most {max} things can be switched off',
    'Use a pattern for many models.',
  ],
})
