import assert from 'node:assert/strict'
import test from 'node:test'
import { ApiProblem, fieldErrors, formatProblem, parseProblem } from './problem.ts'

test('the message is the sentence in detail', () => {
  const problem = parseProblem(401, {
    detail: 'Incorrect email or password',
    code: 'credentials_wrong',
  })
  assert.equal(problem.status, 401)
  assert.equal(formatProblem(problem), 'Incorrect email or password.')
})

test('an error of /v1 has its message, and a code or a type', () => {
  const error = { message: 'The model `x` does not exist', type: 'not_found_error', param: null }
  const coded = parseProblem(404, { error: { ...error, code: 'model_not_found' } })
  assert.equal(coded.code, 'model_not_found')
  assert.equal(formatProblem(coded), 'The model `x` does not exist.')
  assert.equal(parseProblem(404, { error: { ...error, code: null } }).code, 'not_found_error')
})

test('only a string is a code', () => {
  assert.equal(
    parseProblem(403, { detail: 'Fresh sign-in required', code: 'fresh_sign_in_required' }).code,
    'fresh_sign_in_required',
  )
  for (const body of [{ detail: 'No' }, { detail: 'No', code: 7 }, null, 'no']) {
    assert.equal(parseProblem(403, body).code, null)
  }
})

test('each field gets its first issue', () => {
  const problem = parseProblem(422, {
    detail: [
      { loc: ['body', 'email'], msg: 'Enter a valid email address', type: 'format' },
      { loc: ['body', 'email'], msg: 'Too long', type: 'length' },
      { loc: ['body', 'messages', 0, 'role'], msg: 'Unknown role', type: 'enum' },
    ],
  })
  assert.deepEqual(fieldErrors(problem), {
    email: 'Enter a valid email address',
    'messages.0.role': 'Unknown role',
  })
})

test('a 429 says how long to wait', () => {
  const problem = parseProblem(
    429,
    { detail: 'Rate limit exceeded', code: 'rate_limited' },
    new Headers({ 'retry-after': '17' }),
  )
  assert.equal(formatProblem(problem), 'Rate limit exceeded. Try again in 17 s.')
})

test('a 5xx shows the request ID, and the sentence of a proxy is ignored', () => {
  const headers = new Headers({ 'x-request-id': 'r-1' })
  assert.equal(
    formatProblem(
      parseProblem(
        503,
        { detail: 'Billing is not configured', code: 'billing_not_configured' },
        headers,
      ),
    ),
    'Billing is not configured. (Request r-1)',
  )
  for (const [status, body] of [
    [500, { detail: 'Internal error, request id r-1', code: 'internal_error' }],
    [500, { detail: 'Internal Server Error' }],
    [502, { detail: 'Bad Gateway' }],
    [504, { detail: 'upstream request timeout' }],
  ] as const) {
    assert.equal(
      formatProblem(parseProblem(status, body, headers)),
      'Something went wrong on our side. Try again in a moment. (Request r-1)',
    )
  }
})

test('a vendor failure does not name the vendor', () => {
  const failed = {
    detail: "Vendor 'openai' failed to answer; you may retry",
    code: 'vendor_failed',
  }
  assert.equal(
    formatProblem(parseProblem(502, failed, new Headers({ 'x-request-id': 'r-1' }))),
    'The model did not respond. Try again in a moment. (Request r-1)',
  )
})

test('a vendor’s reason is kept', () => {
  assert.equal(
    parseProblem(400, { detail: 'No', code: 'vendor_refused', reason: 'too long' }).reason,
    'too long',
  )
  assert.equal(
    parseProblem(400, { detail: 'No', code: 'vendor_refused', reason: null }).reason,
    null,
  )
})

test('a body in an unknown shape still makes a problem', () => {
  for (const body of [
    null,
    'bad gateway',
    [],
    { detail: [] },
    { detail: [{ nonsense: 1 }] },
    { detail: '' },
  ]) {
    const problem = parseProblem(502, body)
    assert.ok(problem instanceof ApiProblem)
    assert.notEqual(problem.message, '')
    assert.deepEqual(fieldErrors(problem), {})
  }
})
