/**
 * Problems of managing API keys. A key that is not valid as a credential is `unauthenticated`, as
 * any other.
 */
import { Problem } from '#platform/problem.ts'

export const apiKeyProblem = Problem.define({
  key_not_found: [404, 'API key not found'],
  key_limit_reached: [409, 'At most {max} active API keys', 'Revoke one first.'],
  key_not_active: [409, 'This API key is no longer active', 'Make a new one.'],
  api_key_needed: [
    403,
    'Only an API key can ask this, and about itself',
    'Send the key, or list all keys: `GET /api/api-keys`.',
  ],
  key_changed: [409, 'This API key was changed meanwhile', 'Read it again and repeat the change.'],
})
