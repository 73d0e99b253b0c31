import type { Selectable } from 'kysely'
import type { Config } from '#config/config.ts'
import { composeEmail, type Email } from '#mail/email.ts'
import type { Tables } from '#platform/db/tables.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import type { Listed } from '../products/product-list.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import { WAIVER_TEXT, type WithdrawalRight } from './waiver.ts'

type EmailDeps = Listed & { config: Config }
type WithdrawalRow = Selectable<Tables['withdrawals']>

const OUTCOMES: Record<WithdrawalRight, string> = {
  open: 'Your license key and downloads no longer work. We refund your payment to the card or account that you paid with.',
  waived:
    'At checkout you requested immediate delivery and acknowledged that you lose your right of withdrawal once it begins. It has begun. We will look at your request and reply.',
  late: 'The withdrawal period of 14 days is over. We will look at your request and reply.',
  ended: 'This purchase has already ended. We will look at your request and reply.',
}

/** The acknowledgement on a durable medium, which the buyer gets at once. */
export function receiptEmail(
  deps: EmailDeps,
  withdrawal: WithdrawalRow,
  purchase: PurchaseRow,
  right: WithdrawalRight,
): Email {
  const { config } = deps
  return composeEmail(config.brand, {
    to: withdrawal.email,
    subject: 'We received your withdrawal',
    before: [
      `We received your withdrawal from your purchase at ${config.brand.name}.`,
      OUTCOMES[right],
    ],
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
      ...listFacts(deps, withdrawal, purchase),
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
  { productList }: EmailDeps,
  withdrawal: WithdrawalRow,
  purchase: PurchaseRow,
): [string, string][] {
  const { amount_cents, currency, waiver_json: waiver } = purchase
  return [
    ['Order', purchase.id],
    ['Product', productList.getName(purchase.tier)],
    ['Paid', formatMoney(inUnits(amount_cents, currency), currency)],
    ['Bought', purchase.created_at],
    ['Withdrawn', withdrawal.confirmed_at ?? ''],
    ...(waiver
      ? [
          [
            'Your consent at checkout',
            `${WAIVER_TEXT} (version ${waiver.version}, ${waiver.at})`,
          ] as [string, string],
        ]
      : []),
  ]
}
