/** The errors of the gateway. The status shows the cause: the request (4xx) or the vendor (5xx). */
import { Problem } from '#platform/problem.ts'
import { usageProblem } from '#usage/problems.ts'

export const aiProblem = Problem.define({
  provider_not_configured: [
    400,
    "Provider '{vendor}' is not configured",
    { advice: 'Ask another one: `GET /api/ai/models` lists those that are.' },
  ],
  model_not_allowed: [
    403,
    "The model '{model}' is not part of {whose}",
    { advice: '`GET /api/ai/models` lists those that are.', alias: 'model_not_found' },
  ],
  choices_not_allowed: [
    403,
    'Your plan has at most {max} answers to one question: set `n` to that, or less',
  ],
  model_not_found: [
    404,
    "Vendor '{vendor}' has no such model: {reason}",
    { advice: '`GET /v1/models` lists some.' },
  ],
  model_not_listed: [
    404,
    'No such model; others may still be asked by their names',
    { advice: '`GET /v1/models` lists those that it knows.', alias: 'model_not_found' },
  ],
  vendor_refused: [
    400,
    "Vendor '{vendor}' refused the request: {reason}",
    {
      advice:
        '`reason` has the vendor’s own words: mend that. Under `/v1` the code is the vendor’s own, where it has one.',
    },
  ],
  request_not_supported: [
    400,
    "Vendor '{vendor}' was not asked: {reason}",
    {
      advice:
        '`reason` says what this service does not pass to that model: leave it out, or ask another one.',
    },
  ],
  context_length_exceeded: [
    400,
    "Vendor '{vendor}' refused the request: {reason}",
    { advice: 'Shorten the messages, or ask a model that reads more.' },
  ],
  vendor_overloaded: [
    503,
    "Vendor '{vendor}' is overloaded or limits requests; retry in {seconds} seconds",
  ],
  vendor_timeout: [
    504,
    "Vendor '{vendor}' did not answer in time; you may retry. Tried: {tried}",
    { advice: 'Try again, or ask another model.' },
  ],
  vendor_failed: [
    502,
    "Vendor '{vendor}' failed to answer; you may retry",
    { advice: 'Try again, or ask another model.' },
  ],
  vendor_unauthorized: [
    502,
    "Vendor '{vendor}' refused this service's access; a retry will not help",
    { advice: 'Whoever runs the service looks at the vendor’s key and account.' },
  ],
  vendor_sandbox_closed: [
    503,
    '{reason}',
    {
      advice: 'The operator sets BASE_URL or NODE_ENV and restarts the service.',
      alias: 'sandbox_closed',
    },
  ],
  model_switched_off: [
    503,
    "The model '{model}' is switched off: {reason}",
    { advice: 'Ask another one: `GET /api/ai/models` lists those that are on.' },
  ],
  vendor_switched_off: [
    503,
    "Vendor '{vendor}' is switched off: {reason}",
    { advice: 'Ask a model of another vendor: `GET /api/ai/models` lists those that are on.' },
  ],
  gateway_full: [503, 'Too many requests are waiting; retry shortly'],
  embeddings_not_supported: [
    400,
    "Vendor '{vendor}' has no embeddings",
    { advice: 'Ask a model of another vendor.' },
  ],
  rerank_not_supported: [
    400,
    "Vendor '{vendor}' has no reranking",
    { advice: 'Ask a model of another vendor.' },
  ],
  dimensions_fixed: [
    400,
    'The local embedder has no choice of dimensions',
    { advice: 'Leave `dimensions` out.' },
  ],
  responses_not_kept: [400, "'{what}' needs an earlier response, and none is kept here: {instead}"],
  response_not_found: [404, 'No response is kept here: what was answered was answered once'],
  tokens_unsupported: [
    400,
    'The local embedder takes texts, no tokens',
    { advice: 'Send `input` as text.' },
  ],
})

/** All problems of a call to a model, including those of its budget. */
export const gatewayProblems = { ...usageProblem.catalogue, ...aiProblem.catalogue }
