/** Every email to a customer, composed from the same facts. */
import type { Config } from '#config/config.ts'
import * as accountEmails from '#mail/account-emails.ts'
import * as billingEmails from '#mail/billing-emails.ts'
import type { Email } from '#mail/email.ts'
import type { Locale } from '#platform/locale.ts'

type Compose = (config: Config, facts: unknown) => Email

/** Each function takes what it needs from these facts; several rows show several branches. */
export function composeEmails(config: Config, locale: Locale | null): [string, Email][] {
  const recipient = { email: 'ada@example.com', full_name: 'Ada', locale }
  const people = { to: recipient, user: recipient }
  const functions = Object.entries({ ...accountEmails, ...billingEmails })
  return functions.flatMap(([name, compose]) =>
    name.endsWith('Email')
      ? [FACTS, ...(OTHER_FACTS[name] ?? [])].map((facts): [string, Email] => [
          name,
          (compose as unknown as Compose)(config, { ...FACTS, ...facts, ...people }),
        ])
      : [],
  )
}

const REMOVED = {
  passkeys: ['Laptop'],
  providers: ['google'],
  keys: Array.from({ length: 21 }, () => ({ name: 'ci' })),
  twoFactor: true,
}

const FACTS = {
  token: 'token',
  url: 'https://pay.example.com/cs_1',
  code: '12345678',
  at: '2026-11-27T05:00:00.000Z',
  newEmail: 'lovelace@example.com',
  removed: REMOVED,
  change: 'passkey-added',
  isUsedUp: true,
  usedUsd: 5,
  limitUsd: 5,
  renewsAt: '2026-12-01T00:00:00.000Z',
  details: {},
  userAgent: 'Firefox',
  address: '127.0.0.1',
  wrong: 5,
  isClosed: true,
  plan: 'Pro',
  next: 'Max',
  amount: '29,00 €',
  refunded: '29,00 €',
  on: '01.12.2026',
  closesOn: '01.12.2026',
  failure: {
    payment_due_cents: 2900,
    currency: 'usd',
    card_last4: '4242',
    payment_error: 'insufficient_funds',
  },
  step: 'first',
  paid: '29,00 €',
  invoice: 'INV-1',
  day: '01.12.2026',
  isEnding: true,
  purchase: { facts: [], ending: null },
  last4: '4242',
  renewsOn: '01.12.2026',
  before: '19,00 €',
  unsubscribePage: 'https://example.com/unsubscribe',
  unsubscribeUrl: 'https://example.com/unsubscribe',
}

const CHANGES: accountEmails.AccessChange[] = [
  'passkey-removed',
  'google-linked',
  'google-unlinked',
  'github-linked',
  'github-unlinked',
  'two-factor-on',
  'two-factor-off',
  'key-made',
  'key-rotated',
  'superuser-made',
]

const OTHER_FACTS: Record<string, object[]> = {
  accessChangedEmail: CHANGES.map((change) => ({
    change,
    details: { name: 'www.example.com', prefix: 'lk_', address: 'ada', removed: REMOVED },
  })),
  allowanceEmail: [{ isUsedUp: false }],
  newDeviceEmail: [{ userAgent: null, address: null }],
  wrongCodesEmail: [{ isClosed: false }],
  renewalEmail: [{ next: null }],
  paymentFailedEmail: [{ step: 'reminder' }, { step: 'last' }],
  cardExpiresEmail: [{ last4: null }],
  planReplacedEmail: [{ refunded: null }],
}
