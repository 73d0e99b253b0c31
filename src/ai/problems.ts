/** The errors of the gateway. The status shows the cause: the request (4xx) or the vendor (5xx). */
import { Problem } from '#platform/problem.ts'
import { usageProblem } from '#usage/problems.ts'

export const aiProblem = Problem.define({
  provider_not_configured: [
    400,
    "Provider '{vendor}' is not configured",
    'Use another provider: `GET /api/ai/models` lists the configured ones.',
  ],
  model_not_allowed: [
    403,
    "The model '{model}' is not part of {whose}",
    '`GET /api/ai/models` lists the allowed models.',
    'model_not_found',
  ],
  choices_not_allowed: [403, 'Your plan allows at most {max} answers per request: lower `n`'],
  model_not_found: [
    404,
    "Vendor '{vendor}' has no such model: {reason}",
    '`GET /v1/models` lists the known models.',
  ],
  model_not_listed: [
    404,
    'No such model is listed; requests may still name it',
    '`GET /v1/models` lists the known models.',
    'model_not_found',
  ],
  vendor_refused: [
    400,
    "Vendor '{vendor}' refused the request: {reason}",
    '`reason` contains the vendor’s own words: correct the request. Under `/v1`, the code is the vendor’s own, if it has one.',
  ],
  request_not_supported: [
    400,
    "The request was not sent to vendor '{vendor}': {reason}",
    '`reason` names what this service does not pass to that model: omit it, or use another model.',
  ],
  context_length_exceeded: [
    400,
    "Vendor '{vendor}' refused the request: {reason}",
    'Shorten the messages, or use a model with a longer context.',
  ],
  vendor_overloaded: [
    503,
    "Vendor '{vendor}' is overloaded or limits requests; retry in {seconds} seconds",
  ],
  vendor_timeout: [
    504,
    "Vendor '{vendor}' did not answer in time; you may retry. Tried: {tried}",
    'Try again, or use another model.',
  ],
  vendor_failed: [
    502,
    "Vendor '{vendor}' failed to answer; you may retry",
    'Try again, or use another model.',
  ],
  vendor_unauthorized: [
    502,
    "Vendor '{vendor}' rejected this service's key or account; a retry will not help",
    'The operator must check the vendor’s key and account.',
  ],
  vendor_sandbox_closed: [
    503,
    '{reason}',
    'The operator must set BASE_URL or NODE_ENV and restart the service.',
    'sandbox_closed',
  ],
  model_switched_off: [
    503,
    "The model '{model}' is switched off: {reason}",
    'Use another model: `GET /api/ai/models` lists the available ones.',
  ],
  vendor_switched_off: [
    503,
    "Vendor '{vendor}' is switched off: {reason}",
    'Use a model of another vendor: `GET /api/ai/models` lists the available ones.',
  ],
  gateway_full: [503, 'Too many requests are waiting; retry shortly'],
  embeddings_not_supported: [
    400,
    "Vendor '{vendor}' does not support embeddings",
    'Use a model of another vendor.',
  ],
  rerank_not_supported: [
    400,
    "Vendor '{vendor}' does not support reranking",
    'Use a model of another vendor.',
  ],
  dimensions_fixed: [
    400,
    'The local embedder has a fixed number of dimensions',
    'Omit `dimensions`.',
  ],
  responses_not_kept: [
    400,
    "'{what}' needs a stored response, but this service stores none: {instead}",
  ],
  response_not_found: [
    404,
    'This service stores no responses: read each response when it is created',
  ],
  tokens_unsupported: [
    400,
    'The local embedder accepts texts, not tokens',
    'Send `input` as text.',
  ],
})

/** All problems of a call to a model, including those of its budget. */
export const gatewayProblems = { ...usageProblem.catalogue, ...aiProblem.catalogue }
