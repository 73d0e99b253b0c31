/**
 * Errors of subscriptions and of the processor's events. A failing processor is a 502 or 503, never
 * the caller's fault.
 */
import { Problem } from '#platform/problem.ts'

export const billingProblem = Problem.define({
  unknown_price: [400, 'Unknown price', 'Choose a price from `GET /api/billing/plans`.'],
  unknown_promotion_code: [
    400,
    'Unknown promotion code',
    'Check the code, or continue without one.',
  ],
  promotion_code_used: [
    409,
    'You have already used this promotion code',
    'Each person can use a code once. Continue without it.',
  ],
  trial_needs_verified_email: [
    403,
    'Verify your email address to start the trial',
    'Follow the link in the email, or request another one: `POST /api/auth/resend-verification`.',
  ],
  no_subscription: [409, 'You have no subscription to change', 'Subscribe first.'],
  same_plan: [
    409,
    'You are already on this plan',
    'Choose another price from `GET /api/billing/plans`.',
  ],
  payment_due: [
    409,
    'A payment is overdue; pay it first',
    'Open its page: `POST /api/billing/create-payment-session`.',
  ],
  subscription_ending: [
    409,
    'The subscription is set to end; resume it first',
    'Resume it: `POST /api/billing/resume`.',
  ],
  subscription_pausing: [
    409,
    'The subscription is set to pause; resume it first',
    'Resume it: `POST /api/billing/resume`.',
  ],
  subscription_paused: [
    409,
    'The subscription is paused; resume it first',
    'Resume it: `POST /api/billing/resume`.',
  ],
  subscription_disputed: [
    409,
    'The payment for this subscription was disputed or refunded',
    'Wait for the bank’s decision, or subscribe again with another card.',
  ],
  not_pausable: [409, 'Only an active, paid subscription can be paused'],
  nothing_to_resume: [409, 'There is nothing to resume'],
  shorter_interval: [
    409,
    'You can switch from yearly to monthly billing only after the year has ended',
    'Cancel the plan, and subscribe again after it has ended.',
  ],
  smaller_longer: [
    409,
    'You cannot switch to a smaller plan and to yearly billing in one step',
    'Change to the smaller plan first. Switch to yearly billing after it has started.',
  ],
  change_pending: [
    409,
    'A change to a smaller plan is pending; withdraw it first',
    'Change back to the current plan, then to the new one.',
  ],
  preview_outdated: [
    409,
    'The preview of this change has expired',
    'Request a new preview, and confirm it.',
  ],
  payment_refused: [
    402,
    'Your payment was declined, and nothing was changed',
    'Use another card: `POST /api/billing/create-portal-session?flow=card`.',
  ],
  payment_to_confirm: [
    402,
    'Your bank requires you to confirm the payment, and nothing was changed',
    'Subscribe to the new plan at a checkout, where you can confirm: `POST /api/billing/create-checkout-session`. It ends the current subscription and credits its unused part.',
  ],
  nothing_to_refund: [
    409,
    'Nothing of this payment is left to refund',
    'Read the payment’s refunds first.',
  ],
  refund_too_large: [
    409,
    'The amount exceeds what is left of the payment',
    'The body has what is `left`, in minor units of the currency.',
  ],
  invalid_unsubscribe_link: [400, 'Invalid unsubscribe link'],
  no_billing_account: [
    400,
    'No billing account found',
    'Subscribe first: `POST /api/billing/create-checkout-session`.',
  ],
  billing_not_configured: [
    503,
    'Billing is not configured',
    'The operator must set the keys of the payment processor.',
  ],
  processor_unreachable: [503, 'The payment processor cannot be reached; try again in a moment'],
  processor_failed: [
    502,
    'The payment processor rejected the request',
    'The reason is in the service’s log.',
  ],
  invalid_signature: [
    400,
    'Invalid signature',
    'Sign the raw bytes of the body with this endpoint’s own secret.',
  ],
  invalid_payload: [400, 'Invalid payload', 'Send the payment processor’s event unchanged.'],
  sandbox_only: [403, 'Sandbox events are accepted only from this machine'],
})
