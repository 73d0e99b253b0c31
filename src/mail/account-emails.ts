// The emails about accounts. User input is passed as plain text; the layout escapes it.
import type { Config } from '#config/config.ts'
import { composeEmail, type Email } from './email.ts'

export type Urls = Pick<Config, 'urls' | 'brand'>
type Linked = { to: string; name: string | null; token: string }

export function registrationEmail(config: Urls, { to, name, token }: Linked): Email {
  return composeEmail(config.brand, {
    to,
    subject: `Welcome to ${config.brand.name}: verify your email address`,
    before: [buildGreeting(name), 'Verify your email address to finish creating your account.'],
    button: { label: 'Verify email address', url: buildLink(config, 'verify-email', token) },
    after: [
      'The link expires in 24 hours and works once.',
      'If you did not create an account, ignore this email.',
    ],
  })
}

export function invitationEmail(config: Urls, { to, token }: Linked): Email {
  return composeEmail(config.brand, {
    to,
    subject: `You are invited to join ${config.brand.name}`,
    before: [
      `You have been invited to create a ${config.brand.name} account with this email address.`,
    ],
    button: {
      label: 'Create your account',
      url: `${config.urls.frontend}/register?${new URLSearchParams({ email: to, invitation: token })}`,
    },
    after: ['The link expires in 7 days and works once.'],
  })
}

export function verificationEmail(config: Urls, { to, name, token }: Linked): Email {
  return composeEmail(config.brand, {
    to,
    subject: 'Verify your email address',
    before: [
      buildGreeting(name),
      `Verify this email address to use it for your ${config.brand.name} account.`,
    ],
    button: { label: 'Verify email address', url: buildLink(config, 'verify-email', token) },
    after: ['The link expires in 24 hours and works once. It replaces all earlier links.'],
  })
}

export function passwordResetEmail(config: Urls, { to, name, token }: Linked): Email {
  return composeEmail(config.brand, {
    to,
    subject: 'Reset your password',
    before: [
      buildGreeting(name),
      `We received a request to reset the password of your ${config.brand.name} account.`,
    ],
    button: { label: 'Set a new password', url: buildLink(config, 'reset-password', token) },
    after: [
      'The link expires in one hour and works once.',
      'If you did not request this, ignore this email. Your password will not change.',
    ],
  })
}

export function signInCodeEmail(config: Urls, { to, code }: { to: string; code: string }): Email {
  return composeEmail(config.brand, {
    to,
    subject: 'Your sign-in code',
    before: [`Enter this code to sign in to ${config.brand.name}.`],
    facts: [['Code', `${code.slice(0, 4)} ${code.slice(4)}`]],
    after: [
      'It works once, for ten minutes, in the browser where you requested it.',
      'If you did not request it, ignore this email. Never give the code to anyone.',
    ],
  })
}

export function passwordChangedEmail(
  config: Urls,
  { to, removed = NOTHING_REMOVED, at }: { to: string; removed?: RemovedAccess; at: string },
): Email {
  return composeEmail(config.brand, {
    to,
    subject: 'Your password was changed',
    before: [
      `The password of your ${config.brand.name} account was changed, and all other sessions were signed out.`,
      ...(removed.passkeys.length + removed.providers.length > 0
        ? ['The address had not been verified before, so the other sign-in methods were removed.']
        : []),
      ...(removed.keys.length > 0
        ? ['Your API keys were revoked. Programs that use them need new keys.']
        : []),
    ],
    facts: [['When', formatTime(at)], ...listRemovedFacts(removed)],
    button: {
      label: 'This was not me: reset my password',
      url: `${config.urls.frontend}/forgot-password`,
    },
  })
}

export function emailChangedEmail(
  config: Urls,
  { to, newEmail, token, at }: { to: string; newEmail: string; token: string; at: string },
): Email {
  return composeEmail(config.brand, {
    to,
    subject: 'The email address of your account was changed',
    before: [
      `Your ${config.brand.name} account now has a new email address. If you made this change, no action is needed.`,
    ],
    facts: [
      ['New address', newEmail],
      ['When', formatTime(at)],
    ],
    button: {
      label: 'This was not me: undo the change',
      url: buildLink(config, 'undo-email-change', token),
    },
    after: [
      'The link works for 7 days. It restores this address, signs out all sessions, removes recent additions (passkeys, providers, two-factor authentication, API keys), and lets you set a new password.',
    ],
  })
}

/** Access that was removed together with another change. */
export type RemovedAccess = {
  passkeys: string[]
  providers: ('google' | 'github')[]
  keys: { name: string }[]
  twoFactor: boolean
}

const NOTHING_REMOVED: RemovedAccess = { passkeys: [], providers: [], keys: [], twoFactor: false }

export function emailRestoredEmail(
  config: Urls,
  { to, removed, at }: { to: string; removed: RemovedAccess; at: string },
): Email {
  return composeEmail(config.brand, {
    to,
    subject: 'The email address of your account was restored',
    before: [
      `Your ${config.brand.name} account uses this address again. All sessions were signed out. Recent additions were removed, since someone else may have made them.`,
    ],
    facts: [['When', formatTime(at)], ...listRemovedFacts(removed)],
    after: [
      'You can add your passkeys, providers and API keys again. A separate email contains the link to set a new password.',
    ],
  })
}

export type AccessChange = keyof typeof ACCESS_CHANGES

export type AccessDetails = {
  name?: string
  /** The first characters of a key. */
  prefix?: string
  /** The person's address at the provider. */
  address?: string | null
  /** Set when earlier access was removed, including the password. */
  removed?: RemovedAccess
}

/** Reports a sign-in method, key or role that was added or removed. */
export function accessChangedEmail(
  config: Urls,
  {
    to,
    change,
    details,
    at,
  }: { to: string; change: AccessChange; details: AccessDetails; at: string },
): Email {
  const { subject, says, pages } = ACCESS_CHANGES[change]
  return composeEmail(config.brand, {
    to,
    subject,
    before: [
      says.replace('{account}', () => `${config.brand.name} account`),
      ...(details.removed
        ? [
            'The address was verified by someone who was not signed in, so the earlier sign-in methods may belong to a stranger. The password, passkeys and other providers were removed, and all sessions were signed out. You can set a new password at any time.',
            `API keys created after the verification still work, and two-factor authentication stays on if it was on. Review both at ${config.urls.frontend}/api-keys and ${config.urls.frontend}/${SECURITY}.`,
          ]
        : []),
    ],
    facts: [
      ['When', formatTime(at)],
      ...(details.name ? ([['Name', showName(details.name)]] satisfies Fact[]) : []),
      ...(details.prefix ? ([['Starts with', details.prefix]] satisfies Fact[]) : []),
      ...(details.address
        ? ([['Signs in as', removeControlCharacters(details.address)]] satisfies Fact[])
        : []),
      ...(details.removed ? listRemovedFacts(details.removed) : []),
    ],
    after: [
      `If you made this change, no action is needed. Otherwise, set a new password and review your account at ${config.urls.frontend}/${pages}.`,
    ],
    button: {
      label: 'This was not me: reset my password',
      url: `${config.urls.frontend}/forgot-password`,
    },
  })
}

const SECURITY = 'account?tab=security'
const ACCESS_CHANGES = {
  'passkey-added': {
    subject: 'A passkey was added to your account',
    says: 'A new passkey can now sign in to your {account}.',
    pages: SECURITY,
  },
  'passkey-removed': {
    subject: 'A passkey was removed from your account',
    says: 'A passkey can no longer sign in to your {account}.',
    pages: SECURITY,
  },
  'google-linked': {
    subject: 'Google sign-in was added to your account',
    says: 'You can now sign in to your {account} with Google.',
    pages: SECURITY,
  },
  'google-unlinked': {
    subject: 'Google sign-in was removed from your account',
    says: 'You can no longer sign in to your {account} with Google.',
    pages: SECURITY,
  },
  'github-linked': {
    subject: 'GitHub sign-in was added to your account',
    says: 'You can now sign in to your {account} with GitHub.',
    pages: SECURITY,
  },
  'github-unlinked': {
    subject: 'GitHub sign-in was removed from your account',
    says: 'You can no longer sign in to your {account} with GitHub.',
    pages: SECURITY,
  },
  'two-factor-on': {
    subject: 'Two-factor authentication is on',
    says: 'Your {account} now requires a code after the password.',
    pages: SECURITY,
  },
  'two-factor-off': {
    subject: 'Two-factor authentication is off',
    says: 'Your {account} no longer requires a code after the password.',
    pages: SECURITY,
  },
  'key-made': {
    subject: 'An API key was created',
    says: 'Programs can now use a new API key of your {account}.',
    pages: 'api-keys',
  },
  'key-rotated': {
    subject: 'An API key was rotated',
    says: 'An API key of your {account} has a new secret.',
    pages: 'api-keys',
  },
  'superuser-made': {
    subject: 'You are now a superuser',
    says: 'Your {account} can now view and change everything in this service, including other accounts.',
    pages: SECURITY,
  },
} as const

export function newDeviceEmail(
  config: Urls,
  {
    to,
    userAgent,
    address,
    at,
  }: { to: string; userAgent: string | null; address: string | null; at: string },
): Email {
  return composeEmail(config.brand, {
    to,
    subject: 'New sign-in to your account',
    before: [`Someone signed in to your ${config.brand.name} account from a new device.`],
    facts: [
      ['When', formatTime(at)],
      ['Program', removeControlCharacters(userAgent ?? 'unknown').slice(0, 200)],
      ['Network address', address ?? 'unknown'],
    ],
    after: ['If this was you, no action is needed.'],
    button: {
      label: 'This was not me: reset my password',
      url: `${config.urls.frontend}/forgot-password`,
    },
  })
}

/** Reports that most of a plan's dollars of a period are used, or that a call exceeded the rest. */
export function allowanceEmail(
  config: Urls,
  { to, name, isUsedUp, usedUsd, limitUsd, renewsAt }: AllowanceEmail,
): Email {
  const service = config.brand.name
  return composeEmail(config.brand, {
    to,
    subject: isUsedUp ? 'Your allowance is used up' : 'Most of your allowance is used',
    before: [
      buildGreeting(name),
      isUsedUp
        ? `You have used the full allowance of your ${service} plan for this period. Paid calls are rejected until it renews.`
        : `You have used 80% of the allowance of your ${service} plan for this period. Once it is used up, paid calls are rejected.`,
    ],
    facts: [
      ['Used', `$${usedUsd.toFixed(2)} of $${limitUsd.toFixed(2)}`],
      ['Renews', formatTime(renewsAt)],
    ],
    button: { label: 'View your usage', url: `${config.urls.frontend}/usage` },
    after: ['A larger plan has a larger allowance. We send this email once per period.'],
  })
}

export type AllowanceEmail = {
  to: string
  name: string | null
  isUsedUp: boolean
  usedUsd: number
  limitUsd: number
  renewsAt: string
}

/** Warns that someone may know the password without having the second factor. */
export function wrongCodesEmail(
  config: Urls,
  { to, wrong, isClosed, at }: { to: string; wrong: number; isClosed: boolean; at: string },
): Email {
  return composeEmail(config.brand, {
    to,
    subject: 'Wrong codes were entered after your password',
    before: [
      `Someone entered the correct password of your ${config.brand.name} account, followed by ${wrong} wrong two-factor codes within a day.`,
      isClosed
        ? 'The password no longer works on new devices until you set a new one. Devices that you have used before, passkeys and other sign-in methods still work.'
        : 'If this was not you, someone knows your password, and only the codes protect your account. Set a new password.',
    ],
    facts: [['When', formatTime(at)]],
    after: ['If this was you, check the clock of the device that generates your codes.'],
    button: { label: 'Set a new password', url: `${config.urls.frontend}/forgot-password` },
  })
}

export function accountDeletedEmail(config: Urls, { to }: { to: string }): Email {
  return composeEmail(config.brand, {
    to,
    subject: 'Your account was deleted',
    before: [
      `Your ${config.brand.name} account and its contents were deleted. This is the last email about it.`,
    ],
  })
}

/**
 * Omits names that contain a link or read like a sentence: anyone can register any address, and
 * such a name would put an advertisement in our email.
 */
export const buildGreeting = (name: string | null) =>
  name && !ADVERTISES.test(name) ? `Hello ${removeControlCharacters(name)},` : 'Hello,'

/**
 * Returns a key's or passkey's name for display. Before verification, a stranger may have chosen
 * it.
 */
const showName = (name: string) =>
  ADVERTISES.test(name) ? '(not shown here)' : removeControlCharacters(name)

const ADVERTISES = /:\/\/|www\.|\w\.[a-z]{2,}(?:\W|$)|.{81}/iu

const PROVIDER_NAMES = { google: 'Google', github: 'GitHub' } as const

type Fact = [name: string, value: string]

const KEYS_SHOWN_MAX = 20

/** Limits the list of keys: an account may have a thousand. */
function listRemovedFacts({ passkeys, providers, keys, twoFactor }: RemovedAccess): Fact[] {
  const shown = keys.slice(0, KEYS_SHOWN_MAX)
  return [
    ...passkeys.map((name): Fact => ['Passkey removed', showName(name)]),
    ...providers.map((provider): Fact => ['Sign-in removed', PROVIDER_NAMES[provider]]),
    ...(twoFactor ? ([['Two-factor', 'off']] satisfies Fact[]) : []),
    ...shown.map(({ name }): Fact => ['API key revoked', showName(name)]),
    ...(keys.length > shown.length
      ? ([['API keys revoked', `${keys.length} in all`]] satisfies Fact[])
      : []),
  ]
}

const buildLink = ({ urls }: Urls, path: string, token: string) =>
  `${urls.frontend}/${path}?token=${encodeURIComponent(token)}`

/** `2026-11-20 09:30 UTC` */
export const formatTime = (at: string) => `${at.slice(0, 16).replace('T', ' ')} UTC`

/** Control characters could insert extra lines into the text part. */
const removeControlCharacters = (text: string) =>
  text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
