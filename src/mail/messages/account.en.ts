/** Texts of the emails about accounts. `service` is the brand's name. */
export const en = {
  hello: 'Hello,',
  helloTo: (name: string) => `Hello ${name},`,
  notShown: '(not shown here)',
  unknown: 'unknown',
  when: 'When',
  notMe: 'This was not me: reset my password',

  registration: ({ service }: { service: string }) => ({
    subject: `Welcome to ${service}: verify your email address`,
    before: 'Verify your email address to finish creating your account.',
    button: 'Verify email address',
    after: [
      'The link expires in 24 hours and works once.',
      'If you did not create an account, ignore this email.',
    ],
  }),

  invitation: ({ service }: { service: string }) => ({
    subject: `You are invited to join ${service}`,
    before: `You have been invited to create a ${service} account with this email address.`,
    button: 'Create your account',
    after: ['The link expires in 7 days and works once.'],
  }),

  verification: ({ service }: { service: string }) => ({
    subject: 'Verify your email address',
    before: `Verify this email address to use it for your ${service} account.`,
    button: 'Verify email address',
    after: ['The link expires in 24 hours and works once. It replaces all earlier links.'],
  }),

  passwordReset: ({ service }: { service: string }) => ({
    subject: 'Reset your password',
    before: `We received a request to reset the password of your ${service} account.`,
    button: 'Set a new password',
    after: [
      'The link expires in one hour and works once.',
      'If you did not request this, ignore this email. Your password will not change.',
    ],
  }),

  signInCode: ({ service }: { service: string }) => ({
    subject: 'Your sign-in code',
    before: `Enter this code to sign in to ${service}.`,
    code: 'Code',
    after: [
      'It works once, for ten minutes, in the browser where you requested it.',
      'If you did not request it, ignore this email. Never give the code to anyone.',
    ],
  }),

  passwordChanged: ({ service }: { service: string }) => ({
    subject: 'Your password was changed',
    before: `The password of your ${service} account was changed, and all other sessions were signed out.`,
    methodsRemoved:
      'The address had not been verified before, so the other sign-in methods were removed.',
    keysRevoked: 'Your API keys were revoked. Programs that use them need new keys.',
  }),

  emailChanged: ({ service }: { service: string }) => ({
    subject: 'The email address of your account was changed',
    before: `Your ${service} account now has a new email address. If you made this change, no action is needed.`,
    newAddress: 'New address',
    button: 'This was not me: undo the change',
    after: [
      'The link works for 7 days. It restores this address, signs out all sessions, removes recent additions (passkeys, providers, two-factor authentication, API keys), and lets you set a new password.',
    ],
  }),

  emailRestored: ({ service }: { service: string }) => ({
    subject: 'The email address of your account was restored',
    before: `Your ${service} account uses this address again. All sessions were signed out. Recent additions were removed, since someone else may have made them.`,
    after: [
      'You can add your passkeys, providers and API keys again. A separate email contains the link to set a new password.',
    ],
  }),

  removed: {
    passkey: 'Passkey removed',
    provider: 'Sign-in removed',
    twoFactor: 'Two-factor',
    off: 'off',
    key: 'API key revoked',
    keys: 'API keys revoked',
    count: (count: number) => `${count} in all`,
  },

  accessChanged: ({ keysUrl, securityUrl }: { keysUrl: string; securityUrl: string }) => ({
    takenOver: [
      'The address was verified by someone who was not signed in, so the earlier sign-in methods may belong to a stranger. The password, passkeys and other providers were removed, and all sessions were signed out. You can set a new password at any time.',
      `API keys created after the verification still work, and two-factor authentication stays on if it was on. Review both at ${keysUrl} and ${securityUrl}.`,
    ],
    name: 'Name',
    prefix: 'Starts with',
    address: 'Signs in as',
    after: (url: string) =>
      `If you made this change, no action is needed. Otherwise, set a new password and review your account at ${url}.`,
  }),

  accessChanges: ({ service }: { service: string }) => ({
    'passkey-added': {
      subject: 'A passkey was added to your account',
      says: `A new passkey can now sign in to your ${service} account.`,
    },
    'passkey-removed': {
      subject: 'A passkey was removed from your account',
      says: `A passkey can no longer sign in to your ${service} account.`,
    },
    'google-linked': {
      subject: 'Google sign-in was added to your account',
      says: `You can now sign in to your ${service} account with Google.`,
    },
    'google-unlinked': {
      subject: 'Google sign-in was removed from your account',
      says: `You can no longer sign in to your ${service} account with Google.`,
    },
    'github-linked': {
      subject: 'GitHub sign-in was added to your account',
      says: `You can now sign in to your ${service} account with GitHub.`,
    },
    'github-unlinked': {
      subject: 'GitHub sign-in was removed from your account',
      says: `You can no longer sign in to your ${service} account with GitHub.`,
    },
    'two-factor-on': {
      subject: 'Two-factor authentication is on',
      says: `Your ${service} account now requires a code after the password.`,
    },
    'two-factor-off': {
      subject: 'Two-factor authentication is off',
      says: `Your ${service} account no longer requires a code after the password.`,
    },
    'key-made': {
      subject: 'An API key was created',
      says: `Programs can now use a new API key of your ${service} account.`,
    },
    'key-rotated': {
      subject: 'An API key was rotated',
      says: `An API key of your ${service} account has a new secret.`,
    },
    'superuser-made': {
      subject: 'You are now a superuser',
      says: `Your ${service} account can now view and change everything in this service, including other accounts.`,
    },
  }),

  newDevice: ({ service }: { service: string }) => ({
    subject: 'New sign-in to your account',
    before: `Someone signed in to your ${service} account from a new device.`,
    program: 'Program',
    address: 'Network address',
    after: ['If this was you, no action is needed.'],
  }),

  allowance: ({ service, isUsedUp }: { service: string; isUsedUp: boolean }) => ({
    subject: isUsedUp ? 'Your allowance is used up' : 'Most of your allowance is used',
    before: isUsedUp
      ? `You have used the full allowance of your ${service} plan for this period. Paid calls are rejected until it renews.`
      : `You have used 80% of the allowance of your ${service} plan for this period. Once it is used up, paid calls are rejected.`,
    used: 'Used',
    ofLimit: (used: string, limit: string) => `${used} of ${limit}`,
    renews: 'Renews',
    button: 'View your usage',
    after: ['A larger plan has a larger allowance. We send this email once per period.'],
  }),

  wrongCodes: ({
    service,
    wrong,
    isClosed,
  }: {
    service: string
    wrong: number
    isClosed: boolean
  }) => ({
    subject: 'Wrong codes were entered after your password',
    before: [
      `Someone entered the correct password of your ${service} account, followed by ${wrong} wrong two-factor codes within a day.`,
      isClosed
        ? 'The password no longer works on new devices until you set a new one. Devices that you have used before, passkeys and other sign-in methods still work.'
        : 'If this was not you, someone knows your password, and only the codes protect your account. Set a new password.',
    ],
    button: 'Set a new password',
    after: ['If this was you, check the clock of the device that generates your codes.'],
  }),

  accountDeleted: ({ service }: { service: string }) => ({
    subject: 'Your account was deleted',
    before: `Your ${service} account and its contents were deleted. This is the last email about it.`,
  }),
}

export type AccountMessages = typeof en
