// The emails about a subscription. Each says what happens when, what it costs, and where to change it.
import { brand, hello, type Urls } from './account-emails.ts'
import { composeEmail, type Email } from './email.ts'

export type Subscriber = { email: string; full_name: string | null }

/** `amount` is told as `$29.00 a month`. Dates are days: `2026-12-24`. */
export type PlanFacts = { user: Subscriber; plan: string; amount: string | null }

const billing = (config: Urls) => `${config.urls.frontend}/billing`
const priced = (amount: string | null): [string, string][] =>
  amount === null ? [] : [['Price, before discounts and taxes', amount]]

export function trialEndsEmail(config: Urls, { user, plan, amount, on }: PlanFacts & { on: string }): Email {
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
    subject: next === null ? `Your ${plan} plan renews on ${on}` : `Your plan becomes ${next} on ${on}`,
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

export function paymentFailedEmail(
  config: Urls,
  { user, plan, closesOn }: { user: Subscriber; plan: string; closesOn: string },
): Email {
  return composeEmail({
    to: user.email,
    subject: `The payment for your ${plan} plan did not go through`,
    before: [
      hello(user.full_name),
      `Your ${brand(config)} plan stays open until ${closesOn}, so that you can look into it. Often the card has expired, or the bank wants to ask you first.`,
    ],
    facts: [['Open until', closesOn]],
    button: { label: 'Pay, or change the card', url: billing(config) },
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

export function planClosedEmail(config: Urls, { user, plan }: { user: Subscriber; plan: string }): Email {
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

export function paymentCuredEmail(config: Urls, { user, plan }: { user: Subscriber; plan: string }): Email {
  return composeEmail({
    to: user.email,
    subject: `Your ${plan} plan is paid`,
    before: [hello(user.full_name), 'The payment that was missing has arrived, and everything your plan has is open.'],
    button: { label: 'See your invoices', url: billing(config) },
  })
}

export function cardExpiresEmail(
  config: Urls,
  { user, plan, last4, renewsOn }: { user: Subscriber; plan: string; last4: string | null; renewsOn: string },
): Email {
  return composeEmail({
    to: user.email,
    subject: 'Your card expires before your next payment',
    before: [
      hello(user.full_name),
      `The card${last4 === null ? '' : ` ending in ${last4}`} will have expired when your ${plan} plan is paid next, on ${renewsOn}. With another card, nothing is interrupted.`,
    ],
    button: { label: 'Change the card', url: billing(config) },
    after: ['If your bank has sent you a new card under the same number, there may be nothing to do.'],
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

export function endedEmail(config: Urls, { user, plan }: { user: Subscriber; plan: string }): Email {
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
    facts: [...(before === null ? [] : ([['Until then', before]] as [string, string][])), ...priced(amount)],
    button: { label: 'See your plan', url: billing(config) },
  })
}

/** Only to who has asked for offers. */
export function winBackEmail(
  config: Urls,
  { user, plan, ...unsubscribe }: { user: Subscriber; plan: string; unsubscribePage: string; unsubscribeUrl: string },
): Email {
  return composeEmail({
    to: user.email,
    subject: `${plan} is still there for you`,
    before: [
      hello(user.full_name),
      `Some time ago your ${brand(config)} plan ended. What you had stored is where you left it, and opens again with a plan.`,
    ],
    button: { label: 'See the plans', url: `${config.urls.frontend}/pricing` },
    after: [`You get this because you asked for offers. To get none any more: ${unsubscribe.unsubscribePage}`],
    unsubscribeUrl: unsubscribe.unsubscribeUrl,
  })
}
