/**
 * Problems of accounts, sign-in and second factors. A wrong address and a wrong password are the
 * same problem, so that replies do not reveal accounts.
 */
import { Problem } from '#platform/problem.ts'

export const identityProblem = Problem.define({
  email_taken: [400, 'Email already registered', 'Sign in, or reset the password.'],
  email_domain_refused: [
    400,
    'Addresses of this domain are not accepted here',
    'Use another address, one that you will have tomorrow.',
  ],
  invitation_not_found: [404, 'No open invitation of this address'],
  invitation_required: [
    403,
    'An account is made by invitation only',
    'Register with the address that was invited, and the `invitation` of the mailed link.',
  ],
  credentials_wrong: [
    401,
    'Incorrect email or password',
    'Ask the person again, or lead to a password reset.',
  ],
  two_factor_code_required: [
    [401, 400],
    'Two-factor code required',
    'Send the same again with `code`. 401 at sign-in, 400 where a signed-in user confirms a change.',
  ],
  two_factor_code_wrong: [
    [401, 400],
    'Invalid two-factor code',
    'Send the newest code, or a recovery code that was not used. 401 at sign-in, 400 elsewhere.',
  ],
  proof_required: [
    429,
    'Too many have failed here: a proof of work is needed',
    'Solve the `challenge` that the body has beside (ALTCHA, PBKDF2/SHA-256), and send the same again with `proof`: base64 of the JSON of `{challenge, solution}`.',
  ],
  emailed_code_wrong: [
    401,
    'Wrong or expired code',
    'A code works for ten minutes, in the browser that requested it. Request a new one.',
  ],
  password_reset_required: [
    403,
    'Too many wrong codes: reset the password to sign in',
    'Lead to a password reset. Passkeys and providers still open the account.',
  ],
  sign_in_queue_full: [503, 'Too many sign-ins at the moment, try again in a few seconds'],
  refresh_token_invalid: [401, 'Invalid refresh token', 'Sign in again.'],
  session_not_found: [404, 'Session not found', 'It has ended, or is not one of yours.'],
  fresh_sign_in_required: [
    403,
    'Fresh sign-in required',
    'Sign in again and repeat the request within 10 minutes, with the new token.',
  ],

  verification_token_invalid: [400, 'Invalid or expired verification token', 'Ask for a new mail.'],
  reset_token_invalid: [400, 'Invalid or expired reset token', 'Ask for a new mail.'],
  undo_token_invalid: [
    400,
    'Invalid or expired undo token',
    'The link works once, for 7 days; after that ask whoever runs the service.',
  ],
  setup_link_invalid: [400, 'This link was used or has expired: restart the service for a new one'],

  password_wrong: [
    400,
    'Incorrect password',
    'Ask the person again; each try counts as one at sign-in.',
  ],
  current_password_wrong: [400, 'Incorrect current password', 'As `password_wrong`.'],
  password_not_set: [400, 'No password set for this account', 'Set one by a password reset.'],
  email_in_use: [400, 'Email already in use', 'Choose another address.'],
  confirmation_missing: [400, 'Type DELETE to confirm', 'Send `"confirm": "DELETE"`.'],

  oauth_provider_not_found: [
    404,
    "Unknown OAuth provider '{provider}'",
    'Ask for `google` or `github`.',
  ],
  oauth_provider_not_configured: [
    400,
    "OAuth provider '{provider}' is not configured",
    'Whoever runs the service sets its client id and secret.',
  ],
  oauth_provider_unreachable: [
    502,
    "OAuth provider '{provider}' cannot be reached, try again later",
  ],
  oauth_provider_not_linked: [
    404,
    "'{provider}' is not linked to your account",
    '`GET /api/users/me/oauth` lists those that are.',
  ],
  last_sign_in_method: [
    400,
    'This is the only way to sign in to your account',
    'Set a password, or add another way to sign in, first.',
  ],

  two_factor_already_on: [
    400,
    'Two-factor authentication is already on',
    'To change the app, turn it off first.',
  ],
  two_factor_not_on: [400, 'Two-factor authentication is not on', 'There is nothing to turn off.'],
  passkey_limit_reached: [400, 'An account has at most {max} passkeys', 'Remove one first.'],
  passkey_not_verified: [400, 'Passkey could not be verified', 'Begin anew: ask for new options.'],
  passkey_not_recognised: [401, 'Passkey not recognised', 'Begin anew, or sign in another way.'],
  passkey_not_found: [404, 'Passkey not found'],

  user_not_found: [404, 'User not found'],
  account_not_viewable: [
    409,
    'Superusers and suspended accounts cannot be viewed',
    'Read a suspended account on its customer page.',
  ],
  last_superuser: [400, 'This is the last active superuser', 'Make another one first.'],
  superuser_unverified: [
    409,
    'The account {email} has not verified its address: its owner signs in at {frontend}, requests the verification email again and opens its link; then repeat the command',
  ],
  account_appeared: [409, 'Someone has just registered this address: try again'],
})
