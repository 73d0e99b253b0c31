// The emails about accounts. All that comes from people is text here; the layout escapes it.
import type { Config } from '#config/config.ts'
import { composeEmail, type Email } from './email.ts'

export type Urls = Pick<Config, 'urls' | 'brand'>
type Linked = { to: string; name: string | null; token: string }

export function registrationEmail(config: Urls, { to, name, token }: Linked): Email {
  return composeEmail({
    to,
    subject: `Welcome to ${brand(config)}: verify your email address`,
    before: [
      hello(name),
      'Your account is there. One step is left: show us that this address is yours.',
    ],
    button: { label: 'Verify email address', url: buildLink(config, 'verify-email', token) },
    after: [
      'The link works for 24 hours, once.',
      'If you did not register, someone mistyped their address: do nothing, and nothing more will come.',
    ],
  })
}

export function invitationEmail(config: Urls, { to, token }: Linked): Email {
  return composeEmail({
    to,
    subject: `You are invited to ${brand(config)}`,
    before: [`Whoever runs ${brand(config)} has invited you to make an account with this address.`],
    button: {
      label: 'Create your account',
      url: `${config.urls.frontend}/register?${new URLSearchParams({ email: to, invitation: token })}`,
    },
    after: ['The link works for 7 days, once.'],
  })
}

export function verificationEmail(config: Urls, { to, name, token }: Linked): Email {
  return composeEmail({
    to,
    subject: 'Verify your email address',
    before: [
      hello(name),
      `Show us that this address is yours, so that ${brand(config)} may use it for your account.`,
    ],
    button: { label: 'Verify email address', url: buildLink(config, 'verify-email', token) },
    after: ['The link works for 24 hours, once; it replaces the ones we sent before.'],
  })
}

export function passwordResetEmail(config: Urls, { to, name, token }: Linked): Email {
  return composeEmail({
    to,
    subject: 'Reset your password',
    before: [
      hello(name),
      `Someone, probably you, asked to set a new password for your ${brand(config)} account.`,
    ],
    button: { label: 'Set a new password', url: buildLink(config, 'reset-password', token) },
    after: [
      'The link works for one hour, once.',
      'If it was not you, do nothing: your password stays as it is.',
    ],
  })
}

export function passwordChangedEmail(
  config: Urls,
  { to, removed = NOTHING_REMOVED, at }: { to: string; removed?: RemovedAccess; at: string },
): Email {
  return composeEmail({
    to,
    subject: 'Your password was changed',
    before: [
      `The password of your ${brand(config)} account was changed, and every other session was signed out.`,
      ...(removed.passkeys.length + removed.providers.length > 0
        ? ['Nobody had proven the address before, so the other ways to sign in were removed.']
        : []),
      ...(removed.keys.length > 0
        ? ['Your API keys were revoked: programs that use them need new ones.']
        : []),
    ],
    facts: [['When', formatTime(at)], ...removedFacts(removed)],
    button: { label: 'It was not me: reset it', url: `${config.urls.frontend}/forgot-password` },
  })
}

export function emailChangedEmail(
  config: Urls,
  { to, newEmail, token, at }: { to: string; newEmail: string; token: string; at: string },
): Email {
  return composeEmail({
    to,
    subject: 'The email address of your account was changed',
    before: [
      `Your ${brand(config)} account now has another address. If that was you, there is nothing to do.`,
    ],
    facts: [
      ['New address', newEmail],
      ['When', formatTime(at)],
    ],
    button: {
      label: 'It was not me: undo the change',
      url: buildLink(config, 'undo-email-change', token),
    },
    after: [
      'The link works for 7 days. It gives the account back to this address, signs out every session, removes what was added lately (passkeys, providers, two-factor, API keys), and lets you set a new password.',
    ],
  })
}

/** What was taken away from an account with something else. */
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
  return composeEmail({
    to,
    subject: 'The email address of your account was restored',
    before: [
      `Your ${brand(config)} account has this address again. Every session was signed out, and what was added lately was removed, since it may have been somebody else’s.`,
    ],
    facts: [['When', formatTime(at)], ...removedFacts(removed)],
    after: [
      'What of it was yours can be made again. Another email has the link that sets a new password.',
    ],
  })
}

export type AccessChange = keyof typeof ACCESS_CHANGES

export type AccessDetails = {
  name?: string
  /** How a key begins. */
  prefix?: string
  /** By which the provider knows the person. */
  address?: string | null
  /** Set where what opened the account before fell, the password with it. */
  removed?: RemovedAccess
}

/** A sign-in method, key or role that has come or gone. */
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
  return composeEmail({
    to,
    subject,
    before: [
      says.replace('{account}', () => `${brand(config)} account`),
      ...(details.removed
        ? [
            'The address was verified by somebody who was not signed in, so what opened the account before may have been a stranger’s: the password, passkeys and other providers that it had were removed, and every session was signed out. You can set a password of your own at any time.',
            `API keys that were made after the address was verified still open it, and two-factor authentication stays on where it was: look at both, at ${config.urls.frontend}/api-keys and ${config.urls.frontend}/${SECURITY}.`,
          ]
        : []),
    ],
    facts: [
      ['When', formatTime(at)],
      ...(details.name ? ([['Name', showName(details.name)]] satisfies Fact[]) : []),
      ...(details.prefix ? ([['Begins with', details.prefix]] satisfies Fact[]) : []),
      ...(details.address ? ([['Signs in as', printable(details.address)]] satisfies Fact[]) : []),
      ...(details.removed ? removedFacts(details.removed) : []),
    ],
    after: [
      `If that was you, there is nothing to do. If it was not: set a new password, and look at what is there at ${config.urls.frontend}/${pages}.`,
    ],
    button: {
      label: 'It was not me: reset the password',
      url: `${config.urls.frontend}/forgot-password`,
    },
  })
}

const SECURITY = 'account?tab=security'
const ACCESS_CHANGES = {
  'passkey-added': {
    subject: 'A passkey was added to your account',
    says: 'A new passkey now opens your {account}.',
    pages: SECURITY,
  },
  'passkey-removed': {
    subject: 'A passkey was removed from your account',
    says: 'A passkey no longer opens your {account}.',
    pages: SECURITY,
  },
  'google-linked': {
    subject: 'Google now opens your account',
    says: 'A sign-in with Google now opens your {account}.',
    pages: SECURITY,
  },
  'google-unlinked': {
    subject: 'Google no longer opens your account',
    says: 'A sign-in with Google no longer opens your {account}.',
    pages: SECURITY,
  },
  'github-linked': {
    subject: 'GitHub now opens your account',
    says: 'A sign-in with GitHub now opens your {account}.',
    pages: SECURITY,
  },
  'github-unlinked': {
    subject: 'GitHub no longer opens your account',
    says: 'A sign-in with GitHub no longer opens your {account}.',
    pages: SECURITY,
  },
  'two-factor-on': {
    subject: 'Two-factor authentication is on',
    says: 'Your {account} now asks for a code after the password.',
    pages: SECURITY,
  },
  'two-factor-off': {
    subject: 'Two-factor authentication is off',
    says: 'Your {account} no longer asks for a code after the password.',
    pages: SECURITY,
  },
  'key-made': {
    subject: 'An API key was made',
    says: 'A new API key of your {account} lets programs work in your name.',
    pages: 'api-keys',
  },
  'key-rotated': {
    subject: 'An API key was rotated',
    says: 'An API key of your {account} has a new secret.',
    pages: 'api-keys',
  },
  'superuser-made': {
    subject: 'You are a superuser now',
    says: 'Your {account} may now see and change everything here, other accounts included.',
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
  return composeEmail({
    to,
    subject: 'New sign-in to your account',
    before: [
      `Your ${brand(config)} account was opened from a device that we have not seen before.`,
    ],
    facts: [
      ['When', formatTime(at)],
      ['Program', printable(userAgent ?? 'unknown').slice(0, 200)],
      ['Network address', address ?? 'unknown'],
    ],
    after: ['If that was you, there is nothing to do.'],
    button: {
      label: 'It was not me: reset the password',
      url: `${config.urls.frontend}/forgot-password`,
    },
  })
}

/** Of a plan's dollars of a period: most are used, or a call did not fit into what is left. */
export function allowanceEmail(
  config: Urls,
  { to, name, isUsedUp, usedUsd, limitUsd, renewsAt }: AllowanceEmail,
): Email {
  const service = brand(config)
  return composeEmail({
    to,
    subject: isUsedUp ? 'Your allowance is used up' : 'Most of your allowance is used',
    before: [
      hello(name),
      isUsedUp
        ? `The allowance of your ${service} plan for this period is used up. Calls that cost something are refused until it renews.`
        : `80 % of the allowance of your ${service} plan for this period is used. When all is used, calls that cost something are refused.`,
    ],
    facts: [
      ['Used', `$${usedUsd.toFixed(2)} of $${limitUsd.toFixed(2)}`],
      ['Renews', formatTime(renewsAt)],
    ],
    button: { label: 'See what it was used for', url: `${config.urls.frontend}/usage` },
    after: ['A larger plan holds more. You get this email once in each period.'],
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

/** Somebody knows the password, it may be, who has not the second factor. */
export function wrongCodesEmail(
  config: Urls,
  { to, wrong, isClosed, at }: { to: string; wrong: number; isClosed: boolean; at: string },
): Email {
  return composeEmail({
    to,
    subject: 'Wrong codes after your password',
    before: [
      `Someone has entered the right password of your ${brand(config)} account, and after it ${wrong} wrong two-factor codes within a day.`,
      isClosed
        ? 'From there the password opens nothing any more until you have set a new one. Devices that you have used before, passkeys and other ways to sign in go on as they are.'
        : 'If that was not you, somebody knows your password: only the codes keep them out. Set a new one.',
    ],
    facts: [['When', formatTime(at)]],
    after: ['If that was you, check the clock of the device that makes your codes.'],
    button: { label: 'Set a new password', url: `${config.urls.frontend}/forgot-password` },
  })
}

export function accountDeletedEmail(config: Urls, { to }: { to: string }): Email {
  return composeEmail({
    to,
    subject: 'Your account was deleted',
    before: [
      `Your ${brand(config)} account and what belonged to it are gone. This is the last email about it.`,
    ],
  })
}

export const brand = ({ brand: name }: Urls) => name.charAt(0).toUpperCase() + name.slice(1)

/**
 * Anyone may register an address with any name: one that holds a link, or is a sentence, is somebody's advertisement in
 * our email.
 */
export const hello = (name: string | null) =>
  name && !ADVERTISES.test(name) ? `Hello ${printable(name)},` : 'Hello,'

/** What somebody has called a thing of the account: on an address that nobody has proven, a stranger may have. */
const showName = (name: string) => (ADVERTISES.test(name) ? '(not shown here)' : printable(name))

const ADVERTISES = /:\/\/|www\.|\w\.[a-z]{2,}(?:\W|$)|.{81}/iu

const PROVIDER_NAMES = { google: 'Google', github: 'GitHub' } as const

type Fact = [name: string, value: string]

const KEYS_SHOWN_MAX = 20

/** An email is no list of a thousand keys. */
function removedFacts({ passkeys, providers, keys, twoFactor }: RemovedAccess): Fact[] {
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

/** Control characters could draw a line of their own into the text part. */
const printable = (text: string) => text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
