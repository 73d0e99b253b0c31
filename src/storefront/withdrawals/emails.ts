import type { Selectable } from 'kysely'
import type { Config } from '#config/config.ts'
import { composeEmailToUser, type Email, type Recipient } from '#mail/email.ts'
import { composeOperatorEmail } from '#mail/operator.ts'
import type { Tables } from '#platform/db/tables.ts'
import { formatDateTime, type Locale } from '#platform/locale.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import { readEmailMessages } from '../messages/emails.ts'
import { getOperatorMessages } from '../messages/operator.ts'
import type { Listed } from '../products/product-list.ts'
import { isBundle, type PurchaseRow } from '../purchases/store.ts'
import { findWaiverText, type WithdrawalRight } from './waiver.ts'

type EmailDeps = Listed & { config: Config }
type WithdrawalRow = Selectable<Tables['withdrawals']>

/** The acknowledgement on a durable medium, which the buyer gets at once, in their language. */
export function receiptEmail(
  deps: EmailDeps,
  withdrawal: WithdrawalRow & Pick<Recipient, 'locale'> & { user_id: string | null },
  purchase: PurchaseRow,
  right: WithdrawalRight,
): Email {
  const { config } = deps
  const locale = withdrawal.locale ?? config.brand.language
  const to = { ...withdrawal, id: withdrawal.user_id, locale }
  const text = readEmailMessages(locale).withdrawal({ shop: config.brand.name })
  return composeEmailToUser(config.brand, to, {
    subject: text.subject,
    before: [text.before, text[right === 'open' && isBundle(purchase) ? 'openBundle' : right]],
    facts: listFacts(deps, { ...withdrawal, locale }, purchase),
    replyTo: config.mail.supportEmail,
  })
}

/** To the operator. */
export function withdrawalNoticeEmail(
  deps: EmailDeps,
  withdrawal: WithdrawalRow,
  purchase: PurchaseRow,
  right: WithdrawalRight,
): Email {
  const { config, productList } = deps
  const { language: locale } = config.brand
  const { withdrawal: text, ...messages } = getOperatorMessages(locale)
  return composeOperatorEmail(config, {
    title: text.subject(productList.getName(purchase.tier)),
    before: [`${text.before} ${text[right]}`],
    facts: [
      [messages.buyer, withdrawal.email],
      ...listFacts(deps, { ...withdrawal, locale }, purchase),
      [messages.reason, withdrawal.reason ?? messages.noReason],
    ],
    replyTo: withdrawal.email,
  })
}

/** To the operator. */
export function unknownOrderEmail(config: Config, withdrawal: WithdrawalRow): Email {
  const { language: locale } = config.brand
  const { unknownOrder: text, ...messages } = getOperatorMessages(locale)
  return composeOperatorEmail(config, {
    title: text.subject,
    before: [text.before],
    facts: [
      [messages.order, withdrawal.order_id],
      [messages.email, withdrawal.email],
      [text.confirmed, formatTime(withdrawal.confirmed_at, locale)],
      [messages.reason, withdrawal.reason ?? messages.noReason],
    ],
    replyTo: withdrawal.email,
  })
}

/** To the operator. */
export function failedRefundEmail(
  { config, productList }: EmailDeps,
  purchase: PurchaseRow,
): Email {
  const { tier, amount_cents, currency } = purchase
  const { language: locale } = config.brand
  const { failedRefund: text, ...messages } = getOperatorMessages(locale)
  return composeOperatorEmail(config, {
    title: text.subject(productList.getName(tier)),
    before: [text.before],
    facts: [
      [messages.order, purchase.id],
      [messages.payment, purchase.payment_ref],
      [messages.paid, formatMoney(inUnits(amount_cents, currency), currency, { locale })],
      [text.withdrawn, formatTime(purchase.withdrawn_at, locale)],
    ],
  })
}

function listFacts(
  { config, productList }: EmailDeps,
  { confirmed_at, locale }: WithdrawalRow & { locale: Locale },
  purchase: PurchaseRow,
): [string, string][] {
  const { amount_cents, currency, waiver_json: waiver } = purchase
  const messages = readEmailMessages(locale)
  const text = messages.withdrawal({ shop: config.brand.name })
  return [
    [messages.order, purchase.id],
    [messages.product, productList.getName(purchase.tier)],
    [messages.paid, formatMoney(inUnits(amount_cents, currency), currency, { locale })],
    [text.bought, formatDateTime(purchase.created_at, locale)],
    [text.withdrawn, formatTime(confirmed_at, locale)],
    ...(waiver
      ? [
          [
            text.consent,
            text.consentText(findWaiverText(waiver.version), waiver.version, waiver.at),
          ] as [string, string],
        ]
      : []),
  ]
}

const formatTime = (at: string | null, locale: Locale) =>
  at === null ? '' : formatDateTime(at, locale)
