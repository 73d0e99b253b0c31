/**
 * Problems that any route may have: authentication, rate limits, invalid input, and an unavailable
 * service.
 */
import { JsonTooDeep, JsonTooMany } from './json.ts'
import { Problem } from './problem.ts'

export const platformProblem = Problem.define({
  unauthenticated: [
    401,
    'Could not validate credentials',
    'Renew the access token, sign in again, or send an API key that is live.',
    'invalid_api_key',
  ],
  inactive_account: [
    403,
    'Inactive account',
    'Ask whoever runs the service to switch the account on.',
  ],
  not_superuser: [403, 'Not enough permissions', 'Ask as a superuser.'],
  two_factor_needed: [
    403,
    'Superusers need two-factor authentication here',
    'Turn it on for the own account.',
  ],
  view_read_only: [
    403,
    'You are viewing this account read-only: changes and private content are closed',
    'End the view. Its token only reads the routes that a view needs.',
  ],
  scope_missing: [
    403,
    "This API key is not allowed to use '{scope}'",
    'Use a key with this scope, or one without scopes.',
  ],
  address_not_allowed: [
    403,
    'This API key may not be used from {address}',
    'Call from one of its networks, or have its owner change them.',
  ],
  rate_limited: [429, 'Rate limit exceeded', 'Wait `Retry-After` seconds.', 'rate_limit_exceeded'],
  validation_failed: [
    422,
    'The request is not valid',
    '`detail` lists what is wrong where; mend it.',
  ],
  malformed_json: [422, 'The body is not valid JSON', 'Send JSON (RFC 8259) in UTF-8.'],
  json_too_deep: [
    422,
    'The body nests JSON too deeply',
    'Values may stand in one another 256 deep.',
  ],
  bad_request: [
    [400, 403, 406, 412, 416],
    '{reason}',
    'What was wrong on the level of HTTP: a length, a header.',
  ],
  bad_url: [400, 'The address is malformed', 'Percent-encode the path (RFC 3986).'],
  bad_http: [
    400,
    'The request is not valid HTTP',
    'Use an HTTP client, and TLS where the address has it.',
  ],
  not_found: [404, 'Not Found', 'No route has this method and path.'],
  request_timeout: [408, 'The request took too long to arrive', 'Try again, over a faster line.'],
  body_too_large: [413, 'Request body too large', 'Send less at once.'],
  media_type_unsupported: [415, 'Unsupported content type: send {wanted}'],
  encoding_unsupported: [415, 'Unsupported content encoding: send {wanted}'],
  body_not_unpacked: [
    400,
    "The body cannot be unpacked as '{encoding}'",
    'Say in `Content-Encoding` how it is packed, and send all of it.',
  ],
  headers_too_large: [
    431,
    'Request headers too large',
    'Send fewer or shorter headers; look at cookies first.',
  ],
  internal_error: [
    500,
    'Internal error, request id {requestId}',
    'A bug: tell whoever runs the service the id.',
  ],
  upload_not_taken: [
    503,
    'Uploads cannot be taken in at the moment, because the disk takes no more: try again later',
    'The folder for temporary files (`tmp` in `DATA_DIR`) is full or cannot be written: the log has why.',
  ],
  busy: [503, 'Too much is arriving at once: try again in a moment'],
  database_unreachable: [503, 'The database cannot be reached at the moment: try again shortly'],
  database_busy: [503, 'The database is too busy at the moment: try again shortly'],
  database_full: [
    503,
    'Nothing can be stored at the moment, because the disk is full: try again later',
  ],
  database_read_only: [503, 'Nothing can be stored at the moment: try again later'],
})

/** Returns a 422 with one issue, as in `invalid(['body', 'email'], 'must be an email address')`. */
export function invalid(loc: (string | number)[], msg: string, type = 'value_error'): Problem {
  return platformProblem('validation_failed', { issues: [{ loc, msg, type }] })
}

/** Returns the 401 of routes that accept a bearer token. */
export function unauthenticated(): Problem {
  return platformProblem('unauthenticated', { headers: { 'WWW-Authenticate': 'Bearer' } })
}

/**
 * Builds the problem of a body that is not JSON: 422, or 413 for too many values. `cause` is the
 * parser's error.
 */
export function malformedJson(cause?: unknown): Problem {
  if (cause instanceof JsonTooMany) return platformProblem('body_too_large')
  const code = cause instanceof JsonTooDeep ? 'json_too_deep' : 'malformed_json'
  const [, msg] = platformProblem.catalogue[code]
  return platformProblem(code, { issues: [{ loc: ['body'], msg, type: 'json_invalid' }] })
}
