import type { ProblemCode } from '#app/problems.ts'

const SENTENCES: Partial<Record<ProblemCode, string>> = {
  vendor_refused: 'The vendor refused the request. Check the model’s parameters and the content.',
  vendor_failed: 'The vendor failed to answer. Send the call again.',
  vendor_timeout:
    'The vendor did not answer in time. Send the call again, or choose a faster model.',
  vendor_overloaded: 'The vendor is overloaded or limits requests. Send the call again later.',
  vendor_unauthorized: 'The vendor does not accept this service’s key. Tell the operator.',
  model_not_found: 'The vendor has no model of this name.',
  model_switched_off: 'The operator has switched this model off.',
  vendor_switched_off: 'The operator has switched this vendor off.',
  context_length_exceeded:
    'The messages are longer than the model can read. Send fewer or shorter ones.',
  request_not_supported: 'The model cannot take this request.',
  gateway_full: 'Too many requests were waiting. Send the call again.',
  budget_exhausted: 'The allowance of the plan was used up.',
  key_budget_exhausted: 'The spending limit of the API key was used up.',
  token_budget_exhausted: 'The monthly tokens were used up.',
}

/** What went wrong with a call and what to do; null for codes without a sentence. */
export function describeFailure(code: string): string | null {
  return (SENTENCES as Partial<Record<string, string>>)[code] ?? null
}
