import assert from 'node:assert/strict'
import test from 'node:test'
import { describeFailedAnswer } from './failure-message.ts'

const failed = {
  kind: 'failed',
  detail: "Vendor 'openai' failed to answer; you may retry.",
  requestId: 'r-1',
} as const
const at = { begun: false, others: ['Anthropic', 'Gemini'] }

test('a failure says what happened and what to do, with the request ID and without the vendor', () => {
  assert.equal(
    describeFailedAnswer({ ...failed, code: 'vendor_failed', status: 502 }, at),
    'The model did not respond. Try again, or switch to Anthropic. (Request r-1)',
  )
  assert.equal(
    describeFailedAnswer({ ...failed, code: null, status: 502 }, { begun: false }),
    'The model did not respond. Try again. (Request r-1)',
  )
  for (const code of [
    'vendor_overloaded',
    'vendor_timeout',
    'vendor_unauthorized',
    'provider_not_configured',
    'gateway_full',
  ] as const)
    for (const others of [[], ['Gemini']]) {
      const words = describeFailedAnswer({ ...failed, code, status: 503 }, { begun: false, others })
      assert.doesNotMatch(words, /vendor|provider|openai|retry|undefined/i, code)
      assert.match(words, /Try again|Switch to|Contact the operator/, code)
    }
})

test('an interrupted answer is not called missing', () => {
  assert.match(
    describeFailedAnswer({ ...failed, code: null }, { ...at, begun: true }),
    /^The model stopped in the middle/,
  )
  assert.match(describeFailedAnswer({ ...failed, code: null }, at), /^The model did not respond\./)
})

test('a rejection keeps its reason', () => {
  for (const code of ['vendor_refused', 'context_length_exceeded'] as const) {
    const refused = (reason: string | null) =>
      describeFailedAnswer({ ...failed, reason, code, status: 400 }, at)
    assert.equal(
      refused('1,200,000 tokens: too many'),
      'The model rejected this request: 1,200,000 tokens: too many.',
    )
    assert.equal(refused(null), 'The model rejected this request.')
  }
  const unasked = {
    ...failed,
    reason: 'Audio is not supported',
    code: 'request_not_supported',
    status: 400,
  } as const
  assert.equal(
    describeFailedAnswer(unasked, at),
    'This model does not support this request: Audio is not supported.',
  )
})

test('other failures keep the service’s sentence', () => {
  const detail = 'Rate limit exceeded. Try again in 17 s.'
  assert.equal(
    describeFailedAnswer({ ...failed, detail, code: 'rate_limited', status: 429 }, at),
    detail,
  )
  assert.equal(
    describeFailedAnswer(
      { ...failed, detail: 'No network.', code: null, status: 0, requestId: null },
      at,
    ),
    'No network.',
  )
})
