/** What `/login?error=<code>` means, in words. The codes are the service's and, passed through, the provider's; one is this app's own. */
const MESSAGES: Record<string, string> = {
  access_denied:
    'You closed the door at the other side: the sign-in was cancelled there. Nothing was changed.',
  invalid_state: 'That sign-in was started in another window or too long ago. Start it again.',
  email_not_verified:
    'The provider has not verified your address. Verify it there, or sign in with your password.',
  email_missing:
    'The provider did not tell us an address. Allow it there, or sign up with email and password.',
  account_exists:
    'An account with this address exists and is not linked to that provider. Sign in with your password; linking is on your account page.',
  already_linked: 'That account is linked here already, or to another account of this service.',
  other_account: 'That signs in to another account. Choose the one that you use here.',
  inactive_account:
    'This account is switched off. Write to support if you think that is a mistake.',
  sandboxed_provider:
    'The sandbox plays this provider and vouches for anybody, so it opens no administrator’s account. Sign in with your password.',
  email_domain_refused: 'Addresses of that domain are not accepted here. Use another one.',
  invitation_required:
    'An account is made by invitation only here. Ask whoever runs the service for one.',
  provider_error: 'The provider did not complete the sign-in. Try again in a moment.',
}

export function describeCallbackError(code: string): string {
  return (
    MESSAGES[code] ??
    'The sign-in at the provider did not work out. Try again, or sign in with your password.'
  )
}
