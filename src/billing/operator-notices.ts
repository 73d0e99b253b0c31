/** Emails from billing to the operator about cases that need a decision or attention. */
import { findUser, type User } from '#identity/users.ts'
import { notifyOperator } from '#mail/operator.ts'
import type { Db } from '#platform/db/db.ts'
import { formatDateTime } from '#platform/locale.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import type { BillingDeps } from './deps.ts'
import type { PaymentRow } from './money/payments.ts'
import type { DisputeState, DisputesTable } from './money/tables.ts'
import { getOperatorMessages } from './operator-messages.ts'
import { buildPaymentUrl } from './processor.ts'
import type { SubscriptionFacts } from './subscription-state.ts'

type Deps = Pick<BillingDeps, 'config' | 'jobs' | 'clock'>

/**
 * Sends one email for each state of a dispute. `due` is the bank's deadline for an answer, in Unix
 * seconds.
 */
export async function reportDispute(
  deps: Deps,
  tx: Db,
  { id, amount_cents: amount, currency, reason }: DisputesTable,
  {
    state,
    payment,
    due,
  }: {
    state: DisputeState
    payment: Pick<PaymentRow, 'id' | 'kind' | 'user_id'>
    due: number | null
  },
): Promise<void> {
  const { language } = deps.config.brand
  const messages = getOperatorMessages(language)
  const text = messages.dispute
  const sold = payment.kind === 'subscription' ? 'Subscription' : 'Purchase'
  await notifyOperator(deps, tx, {
    about: state === 'open' ? `dispute:${id}` : `dispute:${id}:${state}`,
    title: text[state](formatMoney(inUnits(amount, currency), currency, { locale: language })),
    before: [text[`${state}${sold}`]],
    facts: [
      [text.dispute, id],
      [messages.payment, payment.id],
      [messages.customer, (await findEmail(tx, payment.user_id)) ?? messages.unknown],
      [text.reason, reason ?? messages.unknown],
      ...(due && state === 'open'
        ? [
            [text.answerBy, formatDateTime(new Date(due * 1000).toISOString(), language)] as [
              string,
              string,
            ],
          ]
        : []),
    ],
    button: { label: text.button, url: buildPaymentUrl(deps.config, payment.id) },
  })
}

/** Reports a plan that was paid twice and refunded once. */
export async function reportRefundedDouble(
  deps: Deps,
  tx: Db,
  { email }: Pick<User, 'email'>,
  {
    subscriptionId,
    insteadOf,
    refunded,
  }: { subscriptionId: string; insteadOf: string; refunded: string },
): Promise<void> {
  const { double: text, customer } = getOperatorMessages(deps.config.brand.language)
  await notifyOperator(deps, tx, {
    about: `double:${subscriptionId}`,
    title: text.title(refunded),
    before: [text.before],
    facts: [
      [customer, email],
      [text.cancelled, subscriptionId],
      [text.running, insteadOf],
    ],
  })
}

/** Reports several subscriptions without a checkout; their creator must choose which one stays. */
export async function reportSeveralSubscriptions(
  deps: Deps,
  tx: Db,
  userId: string,
  subscriptions: readonly SubscriptionFacts[],
): Promise<void> {
  const messages = getOperatorMessages(deps.config.brand.language)
  const { title, before, subscriptions: label } = messages.several
  const ids = subscriptions.map(({ id }) => id).sort()
  await notifyOperator(deps, tx, {
    about: `several:${ids.join(',')}`,
    title,
    before: [before],
    facts: [
      [messages.customer, (await findEmail(tx, userId)) ?? messages.unknown],
      [label, ids.join(', ')],
    ],
  })
}

/** Reports a customer who pays for a price that no plan has. */
export async function reportUnknownPrice(
  deps: Deps,
  tx: Db,
  userId: string,
  { id, priceIds }: SubscriptionFacts,
): Promise<void> {
  const messages = getOperatorMessages(deps.config.brand.language)
  const { title, before, price } = messages.unknownPrice
  await notifyOperator(deps, tx, {
    about: `price:${priceIds.join(',')}`,
    title,
    before: [before],
    facts: [
      [price, priceIds.join(', ')],
      [messages.subscription, id],
      [messages.customer, (await findEmail(tx, userId)) ?? messages.unknown],
    ],
  })
}

async function findEmail(tx: Db, userId: string | null): Promise<string | null> {
  return userId === null ? null : ((await findUser(tx, userId))?.email ?? null)
}
