// The emails about accounts. User input is passed as plain text; the layout escapes it.
import type { Config } from '#config/config.ts'
import { formatDateTime, type Locale, type Messages } from '#platform/locale.ts'
import { formatMoney } from '#platform/money.ts'
import { composeEmailToUser, type Email, type Recipient } from './email.ts'
import { de } from './messages/account.de.ts'
import { type AccountMessages, en } from './messages/account.en.ts'

export type Urls = Pick<Config, 'urls' | 'brand'>
type Linked = { to: Recipient; token: string }
type Fact = [name: string, value: string]

const MESSAGES: Messages<AccountMessages> = { en, de }

export const registrationEmail = (config: Urls, linked: Linked): Email =>
  composeLinked(config, linked, 'registration', 'verify-email')

export const verificationEmail = (config: Urls, linked: Linked): Email =>
  composeLinked(config, linked, 'verification', 'verify-email')

export const passwordResetEmail = (config: Urls, linked: Linked): Email =>
  composeLinked(config, linked, 'passwordReset', 'reset-password')

/** Composes an email with a greeting and a link that carries the token. */
function composeLinked(
  config: Urls,
  { to, token }: Linked,
  name: 'registration' | 'verification' | 'passwordReset',
  page: 'verify-email' | 'reset-password',
): Email {
  const { locale, messages, service } = prepare(config, to)
  const { subject, before, button, after } = messages[name]({ service })
  return composeEmailToUser(config.brand, to, {
    subject,
    before: [buildGreeting(to.full_name, locale), before],
    button: { label: button, url: buildLink(config, page, token) },
    after,
  })
}

export function invitationEmail(config: Urls, { to, token }: Linked): Email {
  const { messages, service } = prepare(config, to)
  const { subject, before, button, after } = messages.invitation({ service })
  const query = new URLSearchParams({ email: to.email, invitation: token })
  return composeEmailToUser(config.brand, to, {
    subject,
    before: [before],
    button: { label: button, url: `${config.urls.frontend}/register?${query}` },
    after,
  })
}

export function signInCodeEmail(
  config: Urls,
  { to, code }: { to: Recipient; code: string },
): Email {
  const { messages, service } = prepare(config, to)
  const { subject, before, code: label, after } = messages.signInCode({ service })
  return composeEmailToUser(config.brand, to, {
    subject,
    before: [before],
    facts: [[label, `${code.slice(0, 4)} ${code.slice(4)}`]],
    after,
  })
}

export function passwordChangedEmail(
  config: Urls,
  { to, removed = NOTHING_REMOVED, at }: { to: Recipient; removed?: RemovedAccess; at: string },
): Email {
  const { locale, messages, service } = prepare(config, to)
  const text = messages.passwordChanged({ service })
  return composeEmailToUser(config.brand, to, {
    subject: text.subject,
    before: [
      text.before,
      ...(removed.passkeys.length + removed.providers.length > 0 ? [text.methodsRemoved] : []),
      ...(removed.keys.length > 0 ? [text.keysRevoked] : []),
    ],
    facts: [[messages.when, formatDateTime(at, locale)], ...listRemovedFacts(messages, removed)],
    button: { label: messages.notMe, url: `${config.urls.frontend}/forgot-password` },
  })
}

export function emailChangedEmail(
  config: Urls,
  { to, newEmail, token, at }: { to: Recipient; newEmail: string; token: string; at: string },
): Email {
  const { locale, messages, service } = prepare(config, to)
  const text = messages.emailChanged({ service })
  return composeEmailToUser(config.brand, to, {
    subject: text.subject,
    before: [text.before],
    facts: [
      [text.newAddress, newEmail],
      [messages.when, formatDateTime(at, locale)],
    ],
    button: { label: text.button, url: buildLink(config, 'undo-email-change', token) },
    after: text.after,
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
  { to, removed, at }: { to: Recipient; removed: RemovedAccess; at: string },
): Email {
  const { locale, messages, service } = prepare(config, to)
  const { subject, before, after } = messages.emailRestored({ service })
  return composeEmailToUser(config.brand, to, {
    subject,
    before: [before],
    facts: [[messages.when, formatDateTime(at, locale)], ...listRemovedFacts(messages, removed)],
    after,
  })
}

export type AccessChange = keyof ReturnType<AccountMessages['accessChanges']>

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
  }: { to: Recipient; change: AccessChange; details: AccessDetails; at: string },
): Email {
  const { locale, messages, service } = prepare(config, to)
  const { subject, says } = messages.accessChanges({ service })[change]
  const keysUrl = `${config.urls.frontend}/api-keys`
  const securityUrl = `${config.urls.frontend}/account?tab=security`
  const text = messages.accessChanged({ keysUrl, securityUrl })
  const { name, prefix, address, removed } = details
  return composeEmailToUser(config.brand, to, {
    subject,
    before: [says, ...(removed ? text.takenOver : [])],
    facts: [
      [messages.when, formatDateTime(at, locale)],
      ...(name ? ([[text.name, showName(messages, name)]] satisfies Fact[]) : []),
      ...(prefix ? ([[text.prefix, prefix]] satisfies Fact[]) : []),
      ...(address ? ([[text.address, removeControlCharacters(address)]] satisfies Fact[]) : []),
      ...(removed ? listRemovedFacts(messages, removed) : []),
    ],
    after: [text.after(change.startsWith('key-') ? keysUrl : securityUrl)],
    button: { label: messages.notMe, url: `${config.urls.frontend}/forgot-password` },
  })
}

export function newDeviceEmail(
  config: Urls,
  {
    to,
    userAgent,
    address,
    at,
  }: { to: Recipient; userAgent: string | null; address: string | null; at: string },
): Email {
  const { locale, messages, service } = prepare(config, to)
  const text = messages.newDevice({ service })
  return composeEmailToUser(config.brand, to, {
    subject: text.subject,
    before: [text.before],
    facts: [
      [messages.when, formatDateTime(at, locale)],
      [text.program, removeControlCharacters(userAgent ?? messages.unknown).slice(0, 200)],
      [text.address, address ?? messages.unknown],
    ],
    after: text.after,
    button: { label: messages.notMe, url: `${config.urls.frontend}/forgot-password` },
  })
}

export type AllowanceEmail = {
  to: Recipient
  isUsedUp: boolean
  usedUsd: number
  limitUsd: number
  renewsAt: string
}

/** Reports that most of a plan's dollars of a period are used, or that a call exceeded the rest. */
export function allowanceEmail(
  config: Urls,
  { to, isUsedUp, usedUsd, limitUsd, renewsAt }: AllowanceEmail,
): Email {
  const { locale, messages, service } = prepare(config, to)
  const text = messages.allowance({ service, isUsedUp })
  const [used, limit] = [usedUsd, limitUsd].map((usd) => formatMoney(usd, 'usd', { locale }))
  return composeEmailToUser(config.brand, to, {
    subject: text.subject,
    before: [buildGreeting(to.full_name, locale), text.before],
    facts: [
      [text.used, text.ofLimit(`${used}`, `${limit}`)],
      [text.renews, formatDateTime(renewsAt, locale)],
    ],
    button: { label: text.button, url: `${config.urls.frontend}/usage` },
    after: text.after,
  })
}

/** Warns that someone may know the password without having the second factor. */
export function wrongCodesEmail(
  config: Urls,
  { to, wrong, isClosed, at }: { to: Recipient; wrong: number; isClosed: boolean; at: string },
): Email {
  const { locale, messages, service } = prepare(config, to)
  const { subject, before, button, after } = messages.wrongCodes({ service, wrong, isClosed })
  return composeEmailToUser(config.brand, to, {
    subject,
    before,
    facts: [[messages.when, formatDateTime(at, locale)]],
    after,
    button: { label: button, url: `${config.urls.frontend}/forgot-password` },
  })
}

export function accountDeletedEmail(config: Urls, { to }: { to: Recipient }): Email {
  const { messages, service } = prepare(config, to)
  const { subject, before } = messages.accountDeleted({ service })
  return composeEmailToUser(config.brand, to, { subject, before: [before] })
}

function prepare(config: Urls, to: Recipient) {
  const locale = to.locale ?? config.brand.language
  return { locale, messages: MESSAGES[locale], service: config.brand.name }
}

/**
 * Omits names that contain a link or read like a sentence: anyone can register any address, and
 * such a name would put an advertisement in our email.
 */
export function buildGreeting(name: string | null, locale: Locale): string {
  const messages = MESSAGES[locale]
  return name && !ADVERTISES.test(name)
    ? messages.helloTo(removeControlCharacters(name))
    : messages.hello
}

/**
 * Returns a key's or passkey's name for display. Before verification, a stranger may have chosen
 * it.
 */
const showName = (messages: AccountMessages, name: string) =>
  ADVERTISES.test(name) ? messages.notShown : removeControlCharacters(name)

const ADVERTISES = /:\/\/|www\.|\w\.[a-z]{2,}(?:\W|$)|.{81}/iu

const PROVIDER_NAMES = { google: 'Google', github: 'GitHub' } as const

const KEYS_SHOWN_MAX = 20

/** Limits the list of keys: an account may have a thousand. */
function listRemovedFacts(
  messages: AccountMessages,
  { passkeys, providers, keys, twoFactor }: RemovedAccess,
): Fact[] {
  const text = messages.removed
  const shown = keys.slice(0, KEYS_SHOWN_MAX)
  return [
    ...passkeys.map((name): Fact => [text.passkey, showName(messages, name)]),
    ...providers.map((provider): Fact => [text.provider, PROVIDER_NAMES[provider]]),
    ...(twoFactor ? ([[text.twoFactor, text.off]] satisfies Fact[]) : []),
    ...shown.map(({ name }): Fact => [text.key, showName(messages, name)]),
    ...(keys.length > shown.length
      ? ([[text.keys, text.count(keys.length)]] satisfies Fact[])
      : []),
  ]
}

const buildLink = ({ urls }: Urls, path: string, token: string) =>
  `${urls.frontend}/${path}?token=${encodeURIComponent(token)}`

/** Control characters could insert extra lines into the text part. */
const removeControlCharacters = (text: string) =>
  text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
