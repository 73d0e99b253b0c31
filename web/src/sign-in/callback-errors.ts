/**
 * Messages for `/login?error=<code>`. The codes come from the service and the provider;
 * `other_account` is this app's.
 */
const MESSAGES: Record<string, string> = {
  access_denied: 'You cancelled the sign-in. Nothing was changed.',
  invalid_state: 'This sign-in was started in another window or has expired. Start again.',
  email_not_verified:
    'The provider has not verified your email address. Verify it there, or sign in with your password.',
  email_missing:
    'The provider did not share your email address. Allow it there, or sign up with email and password.',
  account_exists:
    'An account with this email address exists. Sign in with your password, then link the provider under Account › Security.',
  already_linked: 'That account is already linked to this or another account.',
  other_account: 'You signed in to another account. Choose the account that is open here.',
  inactive_account: 'This account is deactivated. Contact support.',
  sandboxed_provider:
    'The sandbox’s provider accepts anybody, so superusers cannot use it. Sign in with your password.',
  email_domain_refused: 'This email domain is not accepted. Use another address.',
  invitation_required: 'Registration is by invitation only. Ask the operator for an invitation.',
  provider_error: 'The provider could not complete the sign-in. Try again in a moment.',
}

export function describeCallbackError(code: string): string {
  return MESSAGES[code] ?? 'Couldn’t sign in with the provider. Try again, or use your password.'
}
