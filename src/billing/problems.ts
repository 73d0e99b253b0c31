/** What subscriptions and the payment processor's events refuse. A processor that fails is 502 or 503, never the caller's fault. */
import { Problem } from '#platform/problem.ts'

export const billingProblem = Problem.define({
  unknown_price: [400, 'Unknown price', { advice: 'Take a price from `GET /api/billing/plans`.' }],
  unknown_promotion_code: [
    400,
    'Unknown promotion code',
    { advice: 'Leave it out, or ask who gave it to you.' },
  ],
  promotion_code_used: [
    409,
    'This promotion code has been used',
    { advice: 'A code counts once for each person. Leave it out.' },
  ],
  trial_needs_verified_email: [
    403,
    'Verify your email address to start the trial',
    {
      advice:
        'Follow the link in the email, or request another: `POST /api/auth/resend-verification`.',
    },
  ],
  no_subscription: [409, 'There is no subscription to change', { advice: 'Subscribe first.' }],
  same_plan: [
    409,
    'This is your plan already',
    { advice: 'Take another price from `GET /api/billing/plans`.' },
  ],
  payment_due: [
    409,
    'A payment is missing, pay it first',
    { advice: '`POST /api/billing/create-payment-session` opens the page where it is paid.' },
  ],
  subscription_ending: [
    409,
    'The subscription is about to end, resume it first',
    { advice: '`POST /api/billing/resume`' },
  ],
  subscription_pausing: [
    409,
    'The subscription is about to pause, resume it first',
    { advice: '`POST /api/billing/resume`' },
  ],
  subscription_paused: [
    409,
    'The subscription is paused, resume it first',
    { advice: '`POST /api/billing/resume`' },
  ],
  subscription_disputed: [
    409,
    'The payment for this subscription was disputed or refunded',
    { advice: 'Wait until the bank has decided, or subscribe again with another card.' },
  ],
  not_pausable: [409, 'Only a paid, running subscription can be paused'],
  nothing_to_resume: [409, 'There is nothing to resume'],
  shorter_interval: [
    409,
    'A yearly plan becomes a monthly one only when its year is over',
    { advice: 'Cancel the plan, and subscribe anew when it has ended.' },
  ],
  smaller_longer: [
    409,
    'A smaller plan follows at the interval that is paid now',
    { advice: 'Change to the smaller plan at this interval; to the longer one when it has begun.' },
  ],
  change_pending: [
    409,
    'A smaller plan is to follow, take that back first',
    { advice: 'Change to the plan that is paid now; then to the other.' },
  ],
  preview_outdated: [
    409,
    'What is due has changed, look again',
    { advice: 'Ask for a new preview, and confirm it.' },
  ],
  payment_refused: [
    402,
    'The payment was refused, and nothing was changed',
    { advice: 'Take another card: `POST /api/billing/create-portal-session?flow=card`.' },
  ],
  payment_to_confirm: [
    402,
    'The bank asks to confirm the payment, and nothing was changed',
    {
      advice:
        'Subscribe to the other plan where it can be confirmed: `POST /api/billing/create-checkout-session`. The one that runs is then ended, and what is left of it credited.',
    },
  ],
  invalid_unsubscribe_link: [400, 'Invalid unsubscribe link'],
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
  processor_failed: [
    502,
    'The payment processor refused the request',
    { advice: 'The service’s log has its reason.' },
  ],
  invalid_signature: [
    400,
    'Invalid signature',
    { advice: 'Sign the bytes as sent, with this endpoint’s own secret.' },
  ],
  invalid_payload: [
    400,
    'Invalid payload',
    { advice: 'Send an event of the payment processor, unchanged.' },
  ],
  sandbox_only: [403, 'The sandbox’s events come from this machine alone'],
})
