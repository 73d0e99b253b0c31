/** What subscriptions and the payment processor's events refuse. A processor that fails is 502 or 503, never the caller's fault. */
import { Problem } from '#platform/problem.ts'

export const billingProblem = Problem.define({
  unknown_price: [400, 'Unknown price', { advice: 'Take a price from `GET /api/billing/plans`.' }],
  no_billing_account: [
    400,
    'No billing account found',
    { advice: 'Subscribe first: `POST /api/billing/create-checkout-session`.' },
  ],
  billing_not_configured: [
    503,
    'Billing is not configured',
    { advice: 'Whoever runs the service sets the keys of the payment processor.' },
  ],
  processor_unreachable: [503, 'The payment processor cannot be reached, try again in a moment'],
  processor_failed: [502, 'The payment processor refused the request', { advice: 'The service’s log has its reason.' }],
  invalid_signature: [400, 'Invalid signature', { advice: 'Sign the bytes as sent, with this endpoint’s own secret.' }],
  invalid_payload: [400, 'Invalid payload', { advice: 'Send an event of the payment processor, unchanged.' }],
  sandbox_only: [403, 'The sandbox’s events come from this machine alone'],
})
