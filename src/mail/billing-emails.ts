// The emails about a subscription. Each states the event, its date and its cost, and links to the
// page that changes it.
import type { Locale, Messages } from '#platform/locale.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import { buildGreeting, type Urls } from './account-emails.ts'
import { composeEmailToUser, type Email, type EmailParts, type Recipient } from './email.ts'
import { de } from './messages/billing.de.ts'
import { type BillingMessages, en } from './messages/billing.en.ts'

const MESSAGES: Messages<BillingMessages> = { en, de }

/** `amount` is formatted, as in `$29.00 a month`. Dates are days: `2026-12-24`. */
export type PlanFacts = { user: Recipient; plan: string; amount: string | null }

type Fact = [name: string, value: string]
type Named = { user: Recipient; plan: string }

/** Returns `$29.00 a month`; null when the price has no fixed amount. */
export function formatPlanPrice(
  {
    price_cents: cents,
    currency,
    interval,
  }: { price_cents: number | null; currency: string | null; interval: string | null },
  locale: Locale,
): string | null {
  if (cents === null || currency === null || interval === null) return null
  const amount = formatMoney(inUnits(cents, currency), currency, { locale })
  return MESSAGES[locale].perInterval(amount, interval)
}

export function trialEndsEmail(
  config: Urls,
  { user, plan, amount, on }: PlanFacts & { on: string },
): Email {
  const { messages, service } = prepare(config, user)
  const text = messages.trialEnds({ service, plan, on })
  return compose(config, user, text, {
    facts: [[text.ends, on], ...listPriceFacts(messages, amount)],
    button: linkBilling(config, messages.viewPlan),
  })
}

export function trialRefusedEmail(config: Urls, { user }: { user: Recipient }): Email {
  const { messages, service } = prepare(config, user)
  const text = messages.trialRefused({ service })
  return compose(config, user, text, { button: linkPlans(config, messages.viewPlans) })
}

/** `next`: the plan that the subscriber chose for the next period; `amount` is its price. */
export function renewalEmail(
  config: Urls,
  { user, plan, next, amount, on }: PlanFacts & { next: string | null; on: string },
): Email {
  const { messages, service } = prepare(config, user)
  const text =
    next === null
      ? messages.renewal({ service, plan, on })
      : messages.renewalAsOther({ service, plan, next, on })
  return compose(config, user, text, {
    facts: [[text.fact, on], ...listPriceFacts(messages, amount)],
    button: linkBilling(config, text.button),
  })
}

/** `paid`: formatted, as in `$29.00`. `invoice`: the number of the invoice. */
export function planStartedEmail(
  config: Urls,
  { user, plan, paid, invoice }: Named & { paid: string; invoice: string | null },
): Email {
  const { messages, service } = prepare(config, user)
  const text = messages.planStarted({ service, plan })
  return compose(config, user, text, {
    facts: [
      [messages.plan, plan],
      [messages.paid, paid],
      ...(invoice === null ? [] : ([[messages.invoice, invoice]] satisfies Fact[])),
    ],
    button: linkBilling(config, messages.viewPlanAndInvoices),
  })
}

/** The amount due, the card and the reason for the failure, as far as known. */
export type PaymentFailure = {
  payment_due_cents: number | null
  currency: string | null
  card_last4: string | null
  /** In the processor's words. */
  payment_error: string | null
}

export function paymentFailedEmail(
  config: Urls,
  {
    user,
    plan,
    closesOn,
    failure,
    step,
  }: Named & {
    closesOn: string
    failure: PaymentFailure
    step: 'first' | 'reminder' | 'last'
  },
): Email {
  const { locale, messages, service } = prepare(config, user)
  const text = messages.paymentFailed({ service, plan, closesOn })
  const { payment_due_cents: cents, currency, card_last4, payment_error } = failure
  const due =
    cents !== null && currency !== null
      ? formatMoney(inUnits(cents, currency), currency, { locale })
      : null
  return compose(config, user, text[step], {
    facts: [
      ...(due === null ? [] : ([[text.amountDue, due]] satisfies Fact[])),
      ...(card_last4 === null ? [] : ([[text.card, text.endingIn(card_last4)]] satisfies Fact[])),
      ...(payment_error === null ? [] : ([[text.reason, payment_error]] satisfies Fact[])),
      [messages.activeUntil, closesOn],
    ],
    button: linkBilling(config, messages.updateCard),
  })
}

export function planChangedEmail(config: Urls, { user, plan, amount }: PlanFacts): Email {
  const { messages, service } = prepare(config, user)
  const text = messages.planChanged({ service, plan })
  return compose(config, user, text, {
    facts: [[messages.plan, plan], ...listPriceFacts(messages, amount)],
    button: linkBilling(config, messages.viewPlanAndInvoices),
  })
}

export function pausingEmail(config: Urls, { user, plan, on }: Named & { on: string }): Email {
  const { messages, service } = prepare(config, user)
  const text = messages.pausing({ service, plan, on })
  return compose(config, user, text, { button: linkBilling(config, text.button) })
}

/** Sent after a pause, and after a won dispute. */
export function reopenedEmail(config: Urls, { user, plan }: Named): Email {
  const { messages, service } = prepare(config, user)
  const text = messages.reopened({ service, plan })
  return compose(config, user, text, { button: linkBilling(config, messages.viewPlan) })
}

/** Facts of a refunded purchase, and the sentence when its license has ended. */
export type RefundedPurchase = { facts: Fact[]; ending: string | null }

/** Amounts are formatted, as in `$29.00`. `isEnding`: the refund ends the subscription. */
export function refundedEmail(
  config: Urls,
  {
    user,
    amount,
    paid,
    day,
    isEnding,
    purchase,
  }: {
    user: Recipient
    amount: string
    paid: string
    day: string
    isEnding: boolean
    purchase: RefundedPurchase
  },
): Email {
  const { messages, service } = prepare(config, user)
  const { before, ...text } = messages.refunded({ service, amount })
  const endings = [
    ...(isEnding ? [text.ending] : []),
    ...(purchase.ending ? [purchase.ending] : []),
  ]
  return compose(
    config,
    user,
    { ...text, before: [before, ...endings] },
    {
      facts: [...purchase.facts, [text.refunded, amount], [text.payment, `${paid}, ${day}`]],
    },
  )
}

export function disputedEmail(
  config: Urls,
  { user, amount }: { user: Recipient; amount: string },
): Email {
  const { messages, service } = prepare(config, user)
  const text = messages.disputed({ service, amount })
  return compose(config, user, text, { button: linkBilling(config, messages.viewPlan) })
}

export function paymentConfirmEmail(
  config: Urls,
  { user, plan, closesOn }: Named & { closesOn: string },
): Email {
  const { messages, service } = prepare(config, user)
  const text = messages.paymentConfirm({ service, plan, closesOn })
  return compose(config, user, text, {
    facts: [[messages.activeUntil, closesOn]],
    button: linkBilling(config, text.button),
  })
}

/** `url` is a checkout of the plan. */
export function changeConfirmEmail(
  config: Urls,
  { user, plan, url }: Named & { url: string },
): Email {
  const { messages, service } = prepare(config, user)
  const text = messages.changeConfirm({ service, plan })
  return compose(config, user, text, { button: { label: text.button, url } })
}

export function planSuspendedEmail(config: Urls, { user, plan }: Named): Email {
  const { messages, service } = prepare(config, user)
  const text = messages.planSuspended({ service, plan })
  return compose(config, user, text, { button: linkBilling(config, messages.updateCard) })
}

export function paymentReceivedEmail(config: Urls, { user, plan }: Named): Email {
  const { messages } = prepare(config, user)
  const text = messages.paymentReceived({ plan })
  return compose(config, user, text, { button: linkBilling(config, messages.viewInvoices) })
}

export function cardExpiresEmail(
  config: Urls,
  { user, plan, last4, renewsOn }: Named & { last4: string | null; renewsOn: string },
): Email {
  const { messages } = prepare(config, user)
  const text = messages.cardExpires({ plan, last4, renewsOn })
  return compose(config, user, text, { button: linkBilling(config, text.button) })
}

export function cancellingEmail(config: Urls, { user, plan, on }: Named & { on: string }): Email {
  const { messages, service } = prepare(config, user)
  const text = messages.cancelling({ service, plan, on })
  return compose(config, user, text, { button: linkBilling(config, text.button) })
}

export function endedEmail(config: Urls, { user, plan }: Named): Email {
  const { messages, service } = prepare(config, user)
  const text = messages.ended({ service, plan })
  return compose(config, user, text, { button: linkPlans(config, text.button) })
}

/**
 * `refunded`: the formatted amount, `$29.00`; null when the unused part of the earlier subscription
 * is credited.
 */
export function planReplacedEmail(
  config: Urls,
  { user, refunded }: { user: Recipient; refunded: string | null },
): Email {
  const { messages, service } = prepare(config, user)
  const text =
    refunded === null
      ? messages.planReplaced({ service })
      : messages.paidTwice({ service, refunded })
  return compose(config, user, text, { button: linkBilling(config, messages.viewInvoices) })
}

export function priceMovesEmail(
  config: Urls,
  { user, plan, amount, before, on }: PlanFacts & { before: string | null; on: string },
): Email {
  const { messages, service } = prepare(config, user)
  const text = messages.priceMoves({ service, plan, on })
  return compose(config, user, text, {
    facts: [
      ...(before === null ? [] : ([[text.untilThen, before]] satisfies Fact[])),
      ...listPriceFacts(messages, amount),
    ],
    button: linkBilling(config, messages.viewPlan),
  })
}

/** Only sent to users who opted in to offers. */
export function winBackEmail(
  config: Urls,
  {
    user,
    plan,
    unsubscribePage,
    unsubscribeUrl,
  }: Named & { unsubscribePage: string; unsubscribeUrl: string },
): Email {
  const { messages, service } = prepare(config, user)
  const text = messages.winBack({ service, plan, unsubscribePage })
  return compose(config, user, text, {
    button: linkPlans(config, messages.viewPlans),
    unsubscribeUrl,
  })
}

function prepare(config: Urls, { locale }: Recipient) {
  const language = locale ?? config.brand.language
  return { locale: language, messages: MESSAGES[language], service: config.brand.name }
}

type Text = { subject: string; before: string | string[]; after?: string[] }

/** Begins the email with a greeting. */
function compose(
  config: Urls,
  user: Recipient,
  { subject, before, after = [] }: Text,
  parts: Pick<EmailParts, 'facts' | 'button' | 'unsubscribeUrl'>,
): Email {
  const greeting = buildGreeting(user.full_name, user.locale ?? config.brand.language)
  const paragraphs = [greeting, ...[before].flat()]
  return composeEmailToUser(config.brand, user, { ...parts, subject, before: paragraphs, after })
}

const linkBilling = ({ urls }: Urls, label: string) => ({ label, url: `${urls.frontend}/billing` })
const linkPlans = ({ urls }: Urls, label: string) => ({ label, url: `${urls.frontend}/pricing` })

const listPriceFacts = (messages: BillingMessages, amount: string | null): Fact[] =>
  amount === null ? [] : [[messages.price, amount]]
