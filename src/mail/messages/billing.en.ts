/** Texts of the emails about a subscription. `service` is the brand's name; `on` is a day. */
export const en = {
  price: 'Price, before discounts and taxes',
  /** `$29.00 a month` */
  perInterval: (amount: string, interval: string) => `${amount} a ${interval}`,
  viewPlan: 'View your plan',
  viewPlans: 'View plans',
  viewPlanAndInvoices: 'View your plan and invoices',
  viewInvoices: 'View your invoices',
  updateCard: 'Pay or update your card',
  plan: 'Plan',
  paid: 'Paid',
  invoice: 'Invoice',
  activeUntil: 'Active until',

  trialEnds: ({ service, plan, on }: { service: string; plan: string; on: string }) => ({
    subject: `Your trial of ${plan} ends on ${on}`,
    before: `Your ${service} subscription then begins, and we charge the card on file. To avoid the charge, cancel before that date.`,
    ends: 'Trial ends',
  }),

  trialRefused: ({ service }: { service: string }) => ({
    subject: 'Your trial could not start',
    before: [
      `${service} offers one trial per person, and this email address or payment method has already been used for one. We cancelled the subscription and charged nothing.`,
      'You can subscribe without a trial at any time.',
    ],
    after: ['If you think this is a mistake, reply to this email.'],
  }),

  renewal: ({ service, plan, on }: { service: string; plan: string; on: string }) => ({
    subject: `Your ${plan} plan renews on ${on}`,
    before: `Your yearly ${service} plan renews for another year on ${on}. No action is needed to continue.`,
    fact: 'Renews',
    button: 'View or cancel your plan',
  }),

  renewalAsOther: ({
    service,
    plan,
    next,
    on,
  }: {
    service: string
    plan: string
    next: string
    on: string
  }) => ({
    subject: `Your plan becomes ${next} on ${on}`,
    before: `Your paid year of ${plan} ends on ${on}. As you requested, your yearly ${service} plan then continues as ${next} for another year. No action is needed to continue.`,
    fact: `${next} begins`,
    button: 'View or cancel your plan',
  }),

  planStarted: ({ service, plan }: { service: string; plan: string }) => ({
    subject: `Your ${plan} plan has started`,
    before: `Thank you. We received your payment, and your ${service} plan is active.`,
  }),

  paymentFailed: ({
    service,
    plan,
    closesOn,
  }: {
    service: string
    plan: string
    closesOn: string
  }) => ({
    first: {
      subject: `The payment for your ${plan} plan did not go through`,
      before: `Your ${service} plan stays active until ${closesOn}. To keep it, pay or update your card before then.`,
    },
    reminder: {
      subject: `Reminder: the payment for your ${plan} plan is overdue`,
      before: `Your ${service} plan will be suspended on ${closesOn} unless you pay before then.`,
    },
    last: {
      subject: `Last reminder: your ${plan} plan will be suspended on ${closesOn}`,
      before: `We have not received the payment for your ${service} plan. The plan will be suspended on ${closesOn}. Your data is kept.`,
    },
    amountDue: 'Amount due',
    card: 'Card or account',
    endingIn: (last4: string) => `ending in ${last4}`,
    reason: 'Reason',
  }),

  planChanged: ({ service, plan }: { service: string; plan: string }) => ({
    subject: `Your plan is now ${plan}`,
    before: `Your ${service} plan has changed.`,
  }),

  pausing: ({ service, plan, on }: { service: string; plan: string; on: string }) => ({
    subject: `Your ${plan} plan pauses on ${on}`,
    before: `Your ${service} plan stays active until ${on}. It then pauses, and nothing is charged until you resume it.`,
    button: 'Resume your plan',
  }),

  reopened: ({ service, plan }: { service: string; plan: string }) => ({
    subject: `Your ${plan} plan is running again`,
    before: `Your ${service} plan is active again and renews as before.`,
  }),

  refunded: ({ service, amount }: { service: string; amount: string }) => ({
    subject: `We refunded ${amount}`,
    before: `We refunded ${amount} of your payment to ${service}. The refund can take up to ten days to appear on your statement.`,
    ending: 'The subscription that it paid for ends, and nothing more is charged.',
    refunded: 'Refunded',
    payment: 'Payment',
  }),

  disputed: ({ service, amount }: { service: string; amount: string }) => ({
    subject: 'Your plan is suspended while your bank reviews a payment',
    before: `Your bank informed us that a payment of ${amount} to ${service} is disputed. Your plan is suspended until the bank decides, and nothing is charged in the meantime.`,
    after: [
      'If you did not dispute this payment, ask your bank to withdraw the dispute and reply to this email.',
    ],
  }),

  paymentConfirm: ({
    service,
    plan,
    closesOn,
  }: {
    service: string
    plan: string
    closesOn: string
  }) => ({
    subject: `Your bank asks you to confirm the payment for your ${plan} plan`,
    before: `Your bank must verify that you approve the payment for your ${service} plan. The plan stays active until ${closesOn}; confirm the payment before then.`,
    button: 'Confirm the payment',
  }),

  changeConfirm: ({ service, plan }: { service: string; plan: string }) => ({
    subject: `Confirm your change to ${plan}`,
    before: `We prepared the change of your ${service} plan to ${plan}. Your bank wants you to confirm the payment, so nothing has changed or been charged yet.`,
    button: 'Confirm and pay',
    after: [
      'The link works for 24 hours. The checkout starts a new period; the unused part of your current plan is credited to your next invoices.',
      'If you did not ask for this change, ignore this email.',
    ],
  }),

  planSuspended: ({ service, plan }: { service: string; plan: string }) => ({
    subject: `Your ${plan} plan is suspended until it is paid`,
    before: `We have not received the payment for your ${service} plan, so the plan is suspended. Your data is kept, and the plan resumes once we receive the payment.`,
  }),

  paymentReceived: ({ plan }: { plan: string }) => ({
    subject: `Your ${plan} plan is paid`,
    before: 'We received the missing payment, and everything in your plan is available again.',
  }),

  cardExpires: ({
    plan,
    last4,
    renewsOn,
  }: {
    plan: string
    last4: string | null
    renewsOn: string
  }) => ({
    subject: 'Your card expires before your next payment',
    before: `The card${last4 === null ? '' : ` ending in ${last4}`} expires before your ${plan} plan renews on ${renewsOn}. Update your card to avoid an interruption.`,
    button: 'Update your card',
    after: [
      'If your bank issued a new card with the same number, you may not need to do anything.',
    ],
  }),

  cancelling: ({ service, plan, on }: { service: string; plan: string; on: string }) => ({
    subject: `Your ${plan} plan ends on ${on}`,
    before: `You cancelled your ${service} plan. It stays active until ${on}, and nothing more is charged.`,
    button: 'Keep your plan',
  }),

  ended: ({ service, plan }: { service: string; plan: string }) => ({
    subject: `Your ${plan} plan has ended`,
    before: `Your ${service} subscription has ended, and nothing more is charged. Your account and your data are kept.`,
    button: 'Subscribe again',
  }),

  planReplaced: ({ service }: { service: string }) => ({
    subject: 'Your new plan replaced the earlier one',
    before: `You subscribed to ${service} again while an earlier subscription was running. The earlier one has ended. Its unused part is credited to your next invoices.`,
  }),

  paidTwice: ({ service, refunded }: { service: string; refunded: string }) => ({
    subject: `You paid twice, so we refunded ${refunded}`,
    before: `You paid for the same ${service} plan twice within an hour. We refunded the earlier payment, and only one subscription continues. The refund can take up to ten days to appear on your statement.`,
  }),

  priceMoves: ({ service, plan, on }: { service: string; plan: string; on: string }) => ({
    subject: `The price of your ${plan} plan changes on ${on}`,
    before: `The period that you have paid for is not affected. From ${on}, your ${service} plan costs the new price. If you do not want to continue, cancel before that date.`,
    untilThen: 'Until then',
  }),

  winBack: ({
    service,
    plan,
    unsubscribePage,
  }: {
    service: string
    plan: string
    unsubscribePage: string
  }) => ({
    subject: `Come back to ${plan}`,
    before: `Your ${service} plan ended some time ago. Your data is still stored, and is available again with any plan.`,
    after: [
      `You get this email because you opted in to offers. To unsubscribe: ${unsubscribePage}`,
    ],
  }),
}

export type BillingMessages = typeof en
