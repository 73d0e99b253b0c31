// The emails about a subscription. Each states the event, its date and its cost, and links to the
// page that changes it.
import { buildGreeting, type Urls } from './account-emails.ts'
import { composeEmail, type Email } from './email.ts'

export type Subscriber = { email: string; full_name: string | null }

/** `amount` is formatted, as in `$29.00 a month`. Dates are days: `2026-12-24`. */
export type PlanFacts = { user: Subscriber; plan: string; amount: string | null }

const buildBillingUrl = (config: Urls) => `${config.urls.frontend}/billing`
const listPriceFacts = (amount: string | null): [string, string][] =>
  amount === null ? [] : [['Price, before discounts and taxes', amount]]

export function trialEndsEmail(
  config: Urls,
  { user, plan, amount, on }: PlanFacts & { on: string },
): Email {
  return composeEmail(config.brand, {
    to: user.email,
    subject: `Your trial of ${plan} ends on ${on}`,
    before: [
      buildGreeting(user.full_name),
      `Your ${config.brand.name} subscription then begins, and we charge the card on file. To avoid the charge, cancel before that date.`,
    ],
    facts: [['Trial ends', on], ...listPriceFacts(amount)],
    button: { label: 'View your plan', url: buildBillingUrl(config) },
  })
}

export function trialRefusedEmail(config: Urls, { user }: { user: Subscriber }): Email {
  return composeEmail(config.brand, {
    to: user.email,
    subject: 'Your trial could not start',
    before: [
      buildGreeting(user.full_name),
      `${config.brand.name} offers one trial per person, and this email address or payment method has already been used for one. We cancelled the subscription and charged nothing.`,
      'You can subscribe without a trial at any time.',
    ],
    button: { label: 'View plans', url: `${config.urls.frontend}/pricing` },
    after: ['If you think this is a mistake, reply to this email.'],
  })
}

/** `next`: the plan that the subscriber chose for the next period; `amount` is its price. */
export function renewalEmail(
  config: Urls,
  { user, plan, next, amount, on }: PlanFacts & { next: string | null; on: string },
): Email {
  return composeEmail(config.brand, {
    to: user.email,
    subject:
      next === null ? `Your ${plan} plan renews on ${on}` : `Your plan becomes ${next} on ${on}`,
    before: [
      buildGreeting(user.full_name),
      next === null
        ? `Your yearly ${config.brand.name} plan renews for another year on ${on}. No action is needed to continue.`
        : `Your paid year of ${plan} ends on ${on}. As you requested, your yearly ${config.brand.name} plan then continues as ${next} for another year. No action is needed to continue.`,
    ],
    facts: [[next === null ? 'Renews' : `${next} begins`, on], ...listPriceFacts(amount)],
    button: { label: 'View or cancel your plan', url: buildBillingUrl(config) },
  })
}

/** `paid`: formatted, as in `$29.00`. `invoice`: the number of the invoice. */
export function planStartedEmail(
  config: Urls,
  {
    user,
    plan,
    paid,
    invoice,
  }: { user: Subscriber; plan: string; paid: string; invoice: string | null },
): Email {
  return composeEmail(config.brand, {
    to: user.email,
    subject: `Your ${plan} plan has started`,
    before: [
      buildGreeting(user.full_name),
      `Thank you. We received your payment, and your ${config.brand.name} plan is active.`,
    ],
    facts: [
      ['Plan', plan],
      ['Paid', paid],
      ...(invoice === null ? [] : ([['Invoice', invoice]] as [string, string][])),
    ],
    button: { label: 'View your plan and invoices', url: buildBillingUrl(config) },
  })
}

/** `facts`: the amount, card and reason that are known. */
export function paymentFailedEmail(
  config: Urls,
  {
    user,
    plan,
    closesOn,
    facts,
    step,
  }: {
    user: Subscriber
    plan: string
    closesOn: string
    facts: [string, string][]
    step: 'first' | 'reminder' | 'last'
  },
): Email {
  const steps = {
    first: {
      subject: `The payment for your ${plan} plan did not go through`,
      text: `Your ${config.brand.name} plan stays active until ${closesOn}. To keep it, pay or update your card before then.`,
    },
    reminder: {
      subject: `Reminder: the payment for your ${plan} plan is overdue`,
      text: `Your ${config.brand.name} plan will be suspended on ${closesOn} unless you pay before then.`,
    },
    last: {
      subject: `Last reminder: your ${plan} plan will be suspended on ${closesOn}`,
      text: `We have not received the payment for your ${config.brand.name} plan. The plan will be suspended on ${closesOn}. Your data is kept.`,
    },
  }
  const { subject, text } = steps[step]
  return composeEmail(config.brand, {
    to: user.email,
    subject,
    before: [buildGreeting(user.full_name), text],
    facts: [...facts, ['Active until', closesOn]],
    button: { label: 'Pay or update your card', url: buildBillingUrl(config) },
  })
}

export function planChangedEmail(config: Urls, { user, plan, amount }: PlanFacts): Email {
  return composeEmail(config.brand, {
    to: user.email,
    subject: `Your plan is now ${plan}`,
    before: [buildGreeting(user.full_name), `Your ${config.brand.name} plan has changed.`],
    facts: [['Plan', plan], ...listPriceFacts(amount)],
    button: { label: 'View your plan and invoices', url: buildBillingUrl(config) },
  })
}

export function pausingEmail(
  config: Urls,
  { user, plan, on }: { user: Subscriber; plan: string; on: string },
): Email {
  return composeEmail(config.brand, {
    to: user.email,
    subject: `Your ${plan} plan pauses on ${on}`,
    before: [
      buildGreeting(user.full_name),
      `Your ${config.brand.name} plan stays active until ${on}. It then pauses, and nothing is charged until you resume it.`,
    ],
    button: { label: 'Resume your plan', url: buildBillingUrl(config) },
  })
}

/** Sent after a pause, and after a won dispute. */
export function reopenedEmail(
  config: Urls,
  { user, plan }: { user: Subscriber; plan: string },
): Email {
  return composeEmail(config.brand, {
    to: user.email,
    subject: `Your ${plan} plan is running again`,
    before: [
      buildGreeting(user.full_name),
      `Your ${config.brand.name} plan is active again and renews as before.`,
    ],
    button: { label: 'View your plan', url: buildBillingUrl(config) },
  })
}

/** Amounts are formatted, as in `$29.00`. `isEnding`: the refund ends the subscription. */
export function refundedEmail(
  config: Urls,
  {
    user,
    amount,
    paid,
    day,
    isEnding,
  }: { user: Subscriber; amount: string; paid: string; day: string; isEnding: boolean },
): Email {
  return composeEmail(config.brand, {
    to: user.email,
    subject: `We refunded ${amount}`,
    before: [
      buildGreeting(user.full_name),
      `We refunded ${amount} of your payment to ${config.brand.name}. The refund can take up to ten days to appear on your statement.`,
      ...(isEnding ? ['The subscription that it paid for ends, and nothing more is charged.'] : []),
    ],
    facts: [
      ['Refunded', amount],
      ['Payment', `${paid}, ${day}`],
    ],
  })
}

export function disputedEmail(
  config: Urls,
  { user, amount }: { user: Subscriber; amount: string },
): Email {
  return composeEmail(config.brand, {
    to: user.email,
    subject: 'Your plan is suspended while your bank reviews a payment',
    before: [
      buildGreeting(user.full_name),
      `Your bank informed us that a payment of ${amount} to ${config.brand.name} is disputed. Your plan is suspended until the bank decides, and nothing is charged in the meantime.`,
    ],
    button: { label: 'View your plan', url: buildBillingUrl(config) },
    after: [
      'If you did not dispute this payment, ask your bank to withdraw the dispute and reply to this email.',
    ],
  })
}

export function paymentConfirmEmail(
  config: Urls,
  { user, plan, closesOn }: { user: Subscriber; plan: string; closesOn: string },
): Email {
  return composeEmail(config.brand, {
    to: user.email,
    subject: `Your bank asks you to confirm the payment for your ${plan} plan`,
    before: [
      buildGreeting(user.full_name),
      `Your bank must verify that you approve the payment for your ${config.brand.name} plan. The plan stays active until ${closesOn}; confirm the payment before then.`,
    ],
    facts: [['Active until', closesOn]],
    button: { label: 'Confirm the payment', url: buildBillingUrl(config) },
  })
}

export function planSuspendedEmail(
  config: Urls,
  { user, plan }: { user: Subscriber; plan: string },
): Email {
  return composeEmail(config.brand, {
    to: user.email,
    subject: `Your ${plan} plan is suspended until it is paid`,
    before: [
      buildGreeting(user.full_name),
      `We have not received the payment for your ${config.brand.name} plan, so the plan is suspended. Your data is kept, and the plan resumes once we receive the payment.`,
    ],
    button: { label: 'Pay or update your card', url: buildBillingUrl(config) },
  })
}

export function paymentReceivedEmail(
  config: Urls,
  { user, plan }: { user: Subscriber; plan: string },
): Email {
  return composeEmail(config.brand, {
    to: user.email,
    subject: `Your ${plan} plan is paid`,
    before: [
      buildGreeting(user.full_name),
      'We received the missing payment, and everything in your plan is available again.',
    ],
    button: { label: 'View your invoices', url: buildBillingUrl(config) },
  })
}

export function cardExpiresEmail(
  config: Urls,
  {
    user,
    plan,
    last4,
    renewsOn,
  }: { user: Subscriber; plan: string; last4: string | null; renewsOn: string },
): Email {
  return composeEmail(config.brand, {
    to: user.email,
    subject: 'Your card expires before your next payment',
    before: [
      buildGreeting(user.full_name),
      `The card${last4 === null ? '' : ` ending in ${last4}`} expires before your ${plan} plan renews on ${renewsOn}. Update your card to avoid an interruption.`,
    ],
    button: { label: 'Update your card', url: buildBillingUrl(config) },
    after: [
      'If your bank issued a new card with the same number, you may not need to do anything.',
    ],
  })
}

export function cancellingEmail(
  config: Urls,
  { user, plan, on }: { user: Subscriber; plan: string; on: string },
): Email {
  return composeEmail(config.brand, {
    to: user.email,
    subject: `Your ${plan} plan ends on ${on}`,
    before: [
      buildGreeting(user.full_name),
      `You cancelled your ${config.brand.name} plan. It stays active until ${on}, and nothing more is charged.`,
    ],
    button: { label: 'Keep your plan', url: buildBillingUrl(config) },
  })
}

export function endedEmail(
  config: Urls,
  { user, plan }: { user: Subscriber; plan: string },
): Email {
  return composeEmail(config.brand, {
    to: user.email,
    subject: `Your ${plan} plan has ended`,
    before: [
      buildGreeting(user.full_name),
      `Your ${config.brand.name} subscription has ended, and nothing more is charged. Your account and your data are kept.`,
    ],
    button: { label: 'Subscribe again', url: `${config.urls.frontend}/pricing` },
  })
}

/**
 * `refunded`: the formatted amount, `$29.00`; null when the unused part of the earlier subscription
 * is credited.
 */
export function planReplacedEmail(
  config: Urls,
  { user, refunded }: { user: Subscriber; refunded: string | null },
): Email {
  return composeEmail(config.brand, {
    to: user.email,
    subject:
      refunded === null
        ? 'Your new plan replaced the earlier one'
        : `You paid twice, so we refunded ${refunded}`,
    before: [
      buildGreeting(user.full_name),
      refunded === null
        ? `You subscribed to ${config.brand.name} again while an earlier subscription was running. The earlier one has ended. Its unused part is credited to your next invoices.`
        : `You paid for the same ${config.brand.name} plan twice within an hour. We refunded the earlier payment, and only one subscription continues. The refund can take up to ten days to appear on your statement.`,
    ],
    button: { label: 'View your invoices', url: buildBillingUrl(config) },
  })
}

export function priceMovesEmail(
  config: Urls,
  { user, plan, amount, before, on }: PlanFacts & { before: string | null; on: string },
): Email {
  return composeEmail(config.brand, {
    to: user.email,
    subject: `The price of your ${plan} plan changes on ${on}`,
    before: [
      buildGreeting(user.full_name),
      `The period that you have paid for is not affected. From ${on}, your ${config.brand.name} plan costs the new price. If you do not want to continue, cancel before that date.`,
    ],
    facts: [
      ...(before === null ? [] : ([['Until then', before]] as [string, string][])),
      ...listPriceFacts(amount),
    ],
    button: { label: 'View your plan', url: buildBillingUrl(config) },
  })
}

/** Only sent to users who opted in to offers. */
export function winBackEmail(
  config: Urls,
  {
    user,
    plan,
    ...unsubscribe
  }: { user: Subscriber; plan: string; unsubscribePage: string; unsubscribeUrl: string },
): Email {
  return composeEmail(config.brand, {
    to: user.email,
    subject: `Come back to ${plan}`,
    before: [
      buildGreeting(user.full_name),
      `Your ${config.brand.name} plan ended some time ago. Your data is still stored, and is available again with any plan.`,
    ],
    button: { label: 'View plans', url: `${config.urls.frontend}/pricing` },
    after: [
      `You get this email because you opted in to offers. To unsubscribe: ${unsubscribe.unsubscribePage}`,
    ],
    unsubscribeUrl: unsubscribe.unsubscribeUrl,
  })
}
