import type { Selectable } from 'kysely'
import type { Config } from '#config/config.ts'
import { composeEmail, composeEmailTo, type Email, type Recipient } from '#mail/email.ts'
import type { Tables } from '#platform/db/tables.ts'
import { DEFAULT_LOCALE } from '#platform/locale.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import { readEmailMessages } from '../messages/emails.ts'
import type { Listed } from '../products/product-list.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import { findWaiverText, type WithdrawalRight } from './waiver.ts'

type EmailDeps = Listed & { config: Config }
type WithdrawalRow = Selectable<Tables['withdrawals']>

/** The acknowledgement on a durable medium, which the buyer gets at once, in their language. */
export function receiptEmail(
  deps: EmailDeps,
  withdrawal: WithdrawalRow & Pick<Recipient, 'locale'>,
  purchase: PurchaseRow,
  right: WithdrawalRight,
): Email {
  const { config } = deps
  const text = readEmailMessages(withdrawal.locale).withdrawal({ shop: config.brand.name })
  return composeEmailTo(config.brand, withdrawal, {
    subject: text.subject,
    before: [text.before, text[right]],
    facts: listFacts(deps, withdrawal, purchase),
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
  const note =
    right === 'open' ? 'The payment is refunded.' : `Not refunded: ${right}. Please reply.`
  return composeEmail(config.brand, {
    to: config.mail.supportEmail,
    subject: `[${config.brand.name}] Withdrawal: ${productList.getName(purchase.tier)}`,
    before: [`A buyer withdrew from a purchase. ${note}`],
    facts: [
      ['Buyer', withdrawal.email],
      ...listFacts(deps, { ...withdrawal, locale: DEFAULT_LOCALE }, purchase),
      ['Reason', withdrawal.reason ?? 'none given'],
    ],
    replyTo: withdrawal.email,
  })
}

/** To the operator. */
export function unknownOrderEmail(config: Config, withdrawal: WithdrawalRow): Email {
  return composeEmail(config.brand, {
    to: config.mail.supportEmail,
    subject: `[${config.brand.name}] Withdrawal from an unknown order`,
    before: [
      'A visitor withdrew from an order that is unknown or belongs to another address. They may have mistyped it.',
    ],
    facts: [
      ['Order', withdrawal.order_id],
      ['Email', withdrawal.email],
      ['Confirmed', withdrawal.confirmed_at ?? ''],
      ['Reason', withdrawal.reason ?? 'none given'],
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
  return composeEmail(config.brand, {
    to: config.mail.supportEmail,
    subject: `[${config.brand.name}] Refund failed: ${productList.getName(tier)}`,
    before: [
      'A buyer withdrew from this purchase, but the refund of their payment failed. Refund it in the dashboard of the payment processor, or by a bank transfer.',
    ],
    facts: [
      ['Order', purchase.id],
      ['Payment', purchase.payment_ref],
      ['Paid', formatMoney(inUnits(amount_cents, currency), currency)],
      ['Withdrawn', purchase.withdrawn_at ?? ''],
    ],
  })
}

function listFacts(
  { config, productList }: EmailDeps,
  { confirmed_at, locale }: WithdrawalRow & Pick<Recipient, 'locale'>,
  purchase: PurchaseRow,
): [string, string][] {
  const { amount_cents, currency, waiver_json: waiver } = purchase
  const messages = readEmailMessages(locale)
  const text = messages.withdrawal({ shop: config.brand.name })
  return [
    [messages.order, purchase.id],
    [messages.product, productList.getName(purchase.tier)],
    [messages.paid, formatMoney(inUnits(amount_cents, currency), currency, { locale })],
    [text.bought, purchase.created_at],
    [text.withdrawn, confirmed_at ?? ''],
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
