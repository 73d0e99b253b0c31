/** Errors of the setup page. */
import { Problem } from '#platform/problem.ts'

export const setupProblem = Problem.define({
  setting_in_environment: [
    409,
    'The environment sets {setting}, which takes precedence. Change it there.',
  ],
  settings_unusable: [422, 'The service cannot use these settings: {reason}'],
  processor_key_refused: [422, 'Stripe did not accept the key: {reason}'],
  webhooks_refused: [
    422,
    'Stripe did not create the webhook endpoints: {reason}',
    'Give the key write access to webhook endpoints, or pass `webhook_secret`.',
  ],
  played_clock_ahead: [
    409,
    'The sandbox has played {days} days ahead, and a real payment processor cannot follow. Start with an empty data folder.',
  ],
  price_refused: [422, 'Stripe did not create the price: {reason}'],
  payments_not_set_up: [409, 'Prices need a Stripe key. Add the key first.'],
  plan_not_found: [404, 'No paid plan has the tier {tier}'],
  vendor_not_found: [404, 'No vendor with this name can get a key here'],
  vendor_test_failed: [422, '{vendor} did not answer the test call: {reason}'],
  test_email_failed: [422, 'The mail server did not send the test email: {reason}'],
  nothing_to_apply: [409, 'The service already runs with these settings'],
})
