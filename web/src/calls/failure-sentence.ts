import type { ProblemCode } from '#app/problems.ts'
import { t } from '../language/text.ts'

const SENTENCES: Partial<Record<ProblemCode, string>> = {
  vendor_refused: t(
    'The vendor rejected the request. Check the model’s parameters and the content.',
  ),
  vendor_failed: t('The vendor failed to answer. Send the call again.'),
  vendor_timeout: t(
    'The vendor did not answer in time. Send the call again, or choose a faster model.',
  ),
  vendor_overloaded: t('The vendor is overloaded or limits requests. Send the call again later.'),
  vendor_unauthorized: t('The vendor does not accept this service’s key. Contact the operator.'),
  model_not_found: t('The vendor has no model with this name. Choose another model.'),
  model_switched_off: t('The operator switched this model off. Choose another model.'),
  vendor_switched_off: t('The operator switched this vendor off. Choose another vendor.'),
  context_length_exceeded: t(
    'The messages exceed the model’s context. Send fewer or shorter ones.',
  ),
  request_not_supported: t('The model does not support this request. Choose another model.'),
  gateway_full: t('Too many requests were waiting. Send the call again.'),
  budget_exhausted: t('The plan’s allowance is used up. Upgrade, or wait until it renews.'),
  key_budget_exhausted: t(
    'The API key’s spending limit is used up. Raise it, or wait for the next period.',
  ),
  token_budget_exhausted: t(
    'The API key’s monthly tokens are used up. Raise the limit, or wait for the next month.',
  ),
}

/** Returns what happened and what to do; null for codes without a sentence. */
export function describeFailure(code: string): string | null {
  return (SENTENCES as Partial<Record<string, string>>)[code] ?? null
}
