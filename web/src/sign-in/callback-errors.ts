import { t } from '../language/text.ts'

/**
 * Messages for `/login?error=<code>`. The codes come from the service and the provider;
 * `other_account` is this app's.
 */
const MESSAGES: Record<string, string> = {
  access_denied: t('You cancelled the sign-in. Nothing was changed.'),
  invalid_state: t('This sign-in was started in another window or has expired. Start again.'),
  email_not_verified: t(
    'The provider has not verified your email address. Verify it there, or sign in with your password.',
  ),
  email_missing: t(
    'The provider did not share your email address. Allow it there, or sign up with email and password.',
  ),
  account_exists: t(
    'An account with this email address exists. Sign in with your password, then link the provider under Account › Security.',
  ),
  already_linked: t('That account is already linked to this or another account.'),
  other_account: t('You signed in to another account. Choose the account that is open here.'),
  inactive_account: t('This account is deactivated. Contact support.'),
  sandboxed_provider: t(
    'The sandbox’s provider accepts anybody, so superusers cannot use it. Sign in with your password.',
  ),
  email_domain_refused: t('This email domain is not accepted. Use another address.'),
  invitation_required: t('Registration is by invitation only. Ask the operator for an invitation.'),
  provider_error: t('The provider could not complete the sign-in. Try again in a moment.'),
}

export function describeCallbackError(code: string): string {
  return MESSAGES[code] ?? t('Couldn’t sign in with the provider. Try again, or use your password.')
}
