// The emails about a subscription. Each says what happens when, what it costs, and where to change it.
import { brand, hello, type Urls } from './account-emails.ts'
import { composeEmail, type Email } from './email.ts'

export type Subscriber = { email: string; full_name: string | null }

/** `amount` is told as `$29.00 a month`. Dates are days: `2026-12-24`. */
export type PlanFacts = { user: Subscriber; plan: string; amount: string | null }

const billing = (config: Urls) => `${config.urls.frontend}/billing`
const priced = (amount: string | null): [string, string][] =>
  amount === null ? [] : [['Price, before discounts and taxes', amount]]

export function trialEndsEmail(
  config: Urls,
  { user, plan, amount, on }: PlanFacts & { on: string },
): Email {
  return composeEmail({
    to: user.email,
    subject: `Your trial of ${plan} ends on ${on}`,
    before: [
      hello(user.full_name),
      `Then your ${brand(config)} subscription begins, and the card that you left is charged. If you do not want that, cancel before: until the trial ends it costs nothing.`,
    ],
    facts: [['Trial ends', on], ...priced(amount)],
    button: { label: 'See your plan', url: billing(config) },
  })
}

export function trialRefusedEmail(config: Urls, { user }: { user: Subscriber }): Email {
  return composeEmail({
    to: user.email,
    subject: 'Your trial could not begin',
    before: [
      hello(user.full_name),
      `Each person has one trial of ${brand(config)}, and this address or means of payment has had it. The subscription was cancelled at once, and nothing was charged.`,
      'You can subscribe without a trial at any time.',
    ],
    button: { label: 'See the plans', url: `${config.urls.frontend}/pricing` },
    after: ['If you believe that this is wrong, answer this email.'],
  })
}

/** `next`: the plan that follows instead, as its subscriber has chosen; the amount is its price. */
export function renewalEmail(
  config: Urls,
  { user, plan, next, amount, on }: PlanFacts & { next: string | null; on: string },
): Email {
  return composeEmail({
    to: user.email,
    subject:
      next === null ? `Your ${plan} plan renews on ${on}` : `Your plan becomes ${next} on ${on}`,
    before: [
      hello(user.full_name),
      next === null
        ? `Your yearly ${brand(config)} plan is about to renew for another year. There is nothing to do if that suits you.`
        : `The year of ${plan} that you have paid for is about to end. As you chose, your yearly ${brand(config)} plan then goes on as ${next}, for another year. There is nothing to do if that suits you.`,
    ],
    facts: [[next === null ? 'Renews' : `${next} begins`, on], ...priced(amount)],
    button: { label: 'See or cancel your plan', url: billing(config) },
  })
}

/** `paid` as `$29.00`; `invoice` is its number. */
export function planStartedEmail(
  config: Urls,
  {
    user,
    plan,
    paid,
    invoice,
  }: { user: Subscriber; plan: string; paid: string; invoice: string | null },
): Email {
  return composeEmail({
    to: user.email,
    subject: `Your ${plan} plan has started`,
    before: [
      hello(user.full_name),
      `Thank you. We received your payment, and your ${brand(config)} plan is open.`,
    ],
    facts: [
      ['Plan', plan],
      ['Paid', paid],
      ...(invoice === null ? [] : ([['Invoice', invoice]] as [string, string][])),
    ],
    button: { label: 'See your plan and invoices', url: billing(config) },
  })
}

/** `facts`: amount, card and reason, as far as they are known. */
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
      text: `Your ${brand(config)} plan stays open until ${closesOn}. Please pay, or change the card, before then.`,
    },
    reminder: {
      subject: `Reminder: the payment for your ${plan} plan is still missing`,
      text: `Your ${brand(config)} plan closes on ${closesOn} unless you pay before then.`,
    },
    last: {
      subject: `Last reminder: your ${plan} plan closes on ${closesOn}`,
      text: `We still have no payment for your ${brand(config)} plan. It closes on ${closesOn}. Your data is kept.`,
    },
  }
  const { subject, text } = steps[step]
  return composeEmail({
    to: user.email,
    subject,
    before: [hello(user.full_name), text],
    facts: [...facts, ['Open until', closesOn]],
    button: { label: 'Pay, or change the card', url: billing(config) },
  })
}

export function planChangedEmail(config: Urls, { user, plan, amount }: PlanFacts): Email {
  return composeEmail({
    to: user.email,
    subject: `Your plan is now ${plan}`,
    before: [hello(user.full_name), `Your ${brand(config)} plan has changed.`],
    facts: [['Plan', plan], ...priced(amount)],
    button: { label: 'See your plan and invoices', url: billing(config) },
  })
}

export function pausingEmail(
  config: Urls,
  { user, plan, on }: { user: Subscriber; plan: string; on: string },
): Email {
  return composeEmail({
    to: user.email,
    subject: `Your ${plan} plan pauses on ${on}`,
    before: [
      hello(user.full_name),
      `Your ${brand(config)} plan stays open until ${on}. From then on it is closed and nothing is charged until you resume it.`,
    ],
    button: { label: 'Resume the plan', url: billing(config) },
  })
}

/** After a pause, and after a dispute that was won. */
export function reopenedEmail(
  config: Urls,
  { user, plan }: { user: Subscriber; plan: string },
): Email {
  return composeEmail({
    to: user.email,
    subject: `Your ${plan} plan is running again`,
    before: [hello(user.full_name), `Your ${brand(config)} plan is open and renews as before.`],
    button: { label: 'See your plan', url: billing(config) },
  })
}

/** Amounts as `$29.00`. `isEnding`: the refund ends the subscription. */
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
  return composeEmail({
    to: user.email,
    subject: `We refunded ${amount}`,
    before: [
      hello(user.full_name),
      `We refunded ${amount} of your payment to ${brand(config)}. The refund can take up to ten days to appear.`,
      ...(isEnding
        ? ['A subscription that was paid by it ends, and nothing more is charged for it.']
        : []),
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
  return composeEmail({
    to: user.email,
    subject: 'Your plan is closed while your bank reviews a payment',
    before: [
      hello(user.full_name),
      `Your bank told us that a payment of ${amount} to ${brand(config)} is disputed. Your plan is closed until the bank decides, and nothing is charged meanwhile.`,
    ],
    button: { label: 'See your plan', url: billing(config) },
    after: [
      'If you did not dispute this payment, ask your bank to withdraw the dispute, and reply to this email.',
    ],
  })
}

export function paymentConfirmEmail(
  config: Urls,
  { user, plan, closesOn }: { user: Subscriber; plan: string; closesOn: string },
): Email {
  return composeEmail({
    to: user.email,
    subject: `Your bank asks you to confirm the payment for your ${plan} plan`,
    before: [
      hello(user.full_name),
      `Before it pays for your ${brand(config)} plan, your bank wants to know that it is you. Until ${closesOn} the plan stays open, so that you can confirm it.`,
    ],
    facts: [['Open until', closesOn]],
    button: { label: 'Confirm the payment', url: billing(config) },
  })
}

export function planClosedEmail(
  config: Urls,
  { user, plan }: { user: Subscriber; plan: string },
): Email {
  return composeEmail({
    to: user.email,
    subject: `Your ${plan} plan is closed until it is paid`,
    before: [
      hello(user.full_name),
      `The payment for your ${brand(config)} plan is still missing, so the plan is closed. What you have stored is kept, and everything opens again when the payment arrives.`,
    ],
    button: { label: 'Pay, or change the card', url: billing(config) },
  })
}

export function paymentCuredEmail(
  config: Urls,
  { user, plan }: { user: Subscriber; plan: string },
): Email {
  return composeEmail({
    to: user.email,
    subject: `Your ${plan} plan is paid`,
    before: [
      hello(user.full_name),
      'The payment that was missing has arrived, and everything your plan has is open.',
    ],
    button: { label: 'See your invoices', url: billing(config) },
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
  return composeEmail({
    to: user.email,
    subject: 'Your card expires before your next payment',
    before: [
      hello(user.full_name),
      `The card${last4 === null ? '' : ` ending in ${last4}`} will have expired when your ${plan} plan is paid next, on ${renewsOn}. With another card, nothing is interrupted.`,
    ],
    button: { label: 'Change the card', url: billing(config) },
    after: [
      'If your bank has sent you a new card under the same number, there may be nothing to do.',
    ],
  })
}

export function cancellingEmail(
  config: Urls,
  { user, plan, on }: { user: Subscriber; plan: string; on: string },
): Email {
  return composeEmail({
    to: user.email,
    subject: `Your ${plan} plan ends on ${on}`,
    before: [
      hello(user.full_name),
      `You have cancelled your ${brand(config)} plan. Until then everything stays open, and nothing more is charged.`,
    ],
    button: { label: 'Keep the plan after all', url: billing(config) },
  })
}

export function endedEmail(
  config: Urls,
  { user, plan }: { user: Subscriber; plan: string },
): Email {
  return composeEmail({
    to: user.email,
    subject: `Your ${plan} plan has ended`,
    before: [
      hello(user.full_name),
      `Your ${brand(config)} subscription is over, and nothing more is charged. Your account and what you have stored are kept.`,
    ],
    button: { label: 'Take it up again', url: `${config.urls.frontend}/pricing` },
  })
}

/** `refunded`: the amount, as `$29.00`; null where the rest of the earlier subscription is credited. */
export function planReplacedEmail(
  config: Urls,
  { user, refunded }: { user: Subscriber; refunded: string | null },
): Email {
  return composeEmail({
    to: user.email,
    subject:
      refunded === null
        ? 'Your new plan replaced the earlier one'
        : `You paid twice: ${refunded} is refunded`,
    before: [
      hello(user.full_name),
      refunded === null
        ? `You subscribed to ${brand(config)} again while an earlier subscription was running. The earlier one has ended. Its unused part is credited and reduces your next invoices.`
        : `You paid for the same ${brand(config)} plan twice within an hour. The earlier payment is refunded, and only one subscription runs. The refund can take up to ten days to appear.`,
    ],
    button: { label: 'See your invoices', url: billing(config) },
  })
}

export function priceMovesEmail(
  config: Urls,
  { user, plan, amount, before, on }: PlanFacts & { before: string | null; on: string },
): Email {
  return composeEmail({
    to: user.email,
    subject: `The price of your ${plan} plan changes on ${on}`,
    before: [
      hello(user.full_name),
      `What you have paid for stays as it is. From ${on} your ${brand(config)} plan costs its new price; if you do not want that, cancel before.`,
    ],
    facts: [
      ...(before === null ? [] : ([['Until then', before]] as [string, string][])),
      ...priced(amount),
    ],
    button: { label: 'See your plan', url: billing(config) },
  })
}

/** Only to who has asked for offers. */
export function winBackEmail(
  config: Urls,
  {
    user,
    plan,
    ...unsubscribe
  }: { user: Subscriber; plan: string; unsubscribePage: string; unsubscribeUrl: string },
): Email {
  return composeEmail({
    to: user.email,
    subject: `${plan} is still there for you`,
    before: [
      hello(user.full_name),
      `Some time ago your ${brand(config)} plan ended. What you had stored is where you left it, and opens again with a plan.`,
    ],
    button: { label: 'See the plans', url: `${config.urls.frontend}/pricing` },
    after: [
      `You get this because you asked for offers. To get none any more: ${unsubscribe.unsubscribePage}`,
    ],
    unsubscribeUrl: unsubscribe.unsubscribeUrl,
  })
}
