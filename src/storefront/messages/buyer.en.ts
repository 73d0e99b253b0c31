/** Texts of the pages of buyers: sign-in, checkout, withdrawal, contact. */
export const en = {
  email: 'Email',
  contactUs: 'Contact us',

  login: {
    title: 'Sign in',
    buying: 'Sign in to continue to checkout.',
    lead: 'Use the email and password of your account.',
    password: 'Password',
    twoFactor: 'Two-factor code',
    twoFactorHelp: 'From your authenticator app, or one of your recovery codes.',
    byCode: 'Sign in with a code by email',
    passkey: 'a passkey',
    signInWith: (ways: string) => `Sign in with ${ways}`,
    asGuest: 'Buy without an account',
    noAccount: 'No account yet?',
    createAccount: 'Create an account',
    forgot: 'Forgot your password?',
    missing: 'Enter your email and password.',
    /** Shown only without JavaScript. With it, the browser solves the challenge and tries again. */
    proofWithoutScript:
      'Too many sign-ins to this account have failed. Enable JavaScript, or use a device that has signed in before.',
    otherBrowser: 'The sign-in was started in another browser or has expired. Start again.',
  },

  code: {
    heading: 'Sign in with a code',
    lead: 'We email a code to the address of your account.',
    button: 'Email me a code',
    otherWay: 'Sign in another way',
    check: 'Check your inbox',
    sent: (email: string) =>
      `If ${email} belongs to an account, we emailed how to sign in. The code works for ten minutes, in this browser.`,
    label: 'Code from the email',
    noEmail: 'No email? Look into the spam folder, or',
    again: 'request a new code',
  },

  checkout: {
    title: 'Checkout',
    heading: (name: string) => `Buy ${name}`,
    lead: (price: string) =>
      `${price}, paid once. No account needed: we email your license key and a link to your downloads.`,
    emailHelp: 'Check it: your license key goes there.',
    code: 'Promotion code (optional)',
    button: 'Continue to payment',
    hasAccount: 'Do you have an account?',
    signIn: 'Sign in',
    toBuy: ' to buy with it.',
    invalidEmail: 'Enter a valid email address.',
  },

  free: {
    byEmail: 'Free. We email you a link; it opens your license key and your download.',
    forAccount: (email: string) => `Free, for your account ${email}.`,
    send: 'Email me the link',
    toGet: ' to get it at once.',
    sent: 'Check your inbox',
    sentText: 'We have emailed you a link. It works once, for 7 days.',
  },

  /** Heading and text by the state of the payment. */
  order: {
    title: 'Your order',
    paid: [
      'Thank you. Check your inbox',
      'Your payment has arrived. We emailed your license key and a link that opens your purchase.',
    ],
    settling: [
      'Your payment is processing',
      'This can take some days. We will email your license key when the payment arrives.',
    ],
    pending: [
      'Confirming your payment',
      'This page updates automatically, and we will email you when the payment is confirmed.',
    ],
    unknown: [
      'No pending payment found',
      'If your bank declined the payment, you were not charged. If you paid and got no email, contact us.',
    ],
    noEmail: 'No email after some minutes? Look into the spam folder, or',
    again: 'have it sent again',
  },

  claim: {
    title: 'Your purchase',
    open: 'Open your purchase',
    add: 'Add the purchase to your account',
    confirmsBefore: 'This confirms',
    confirmsAfter: 'and signs you in.',
    madeFor: 'The purchase was made for',
    signInFirst: 'Sign in to that account first.',
    signIn: 'Sign in',
    openButton: 'Open my purchase',
    addButton: 'Add to my account',
    notYou: 'You did not ask for this? Close this page. Without this button, nothing happens.',
    expired: 'This link no longer works',
    expiredText: 'It works once, for 7 days. We can email you a new one.',
    newLink: 'Email me a new link',
    other: 'This purchase is for another account',
    otherText: 'Sign out, then follow the link from the email again.',
    toPurchases: 'Go to your purchases',
  },

  contact: {
    title: 'Contact',
    heading: 'Contact us',
    lead: 'We read every message and usually reply within one working day.',
    name: 'Name',
    subject: 'Subject',
    message: 'Message',
    button: 'Send message',
    sent: 'Message sent',
    sentText: 'Thank you. We emailed you a confirmation.',
    back: 'Back to home',
    incomplete: 'Fill in every field with a valid email address.',
    description: (brand: string, lead: string) => `Ask ${brand} a question. ${lead}`,
  },

  recover: {
    title: 'Lost your key?',
    lead: 'We’ll email you the license keys of your purchases.',
    button: 'Email my keys',
    sent: 'If purchases belong to this email, their license keys have been sent.',
    signedInBefore: 'If you are signed in, you can also see them under',
    signedInLink: 'your purchases',
  },

  withdrawal: {
    title: 'Withdraw from a purchase',
    lead: 'Consumers may withdraw within 14 days, without a reason and without an account. The order number is in your purchase email.',
    order: 'Order',
    email: 'Email of the purchase',
    reason: 'Reason (optional)',
    button: 'Continue',
    confirm: 'Confirm your withdrawal',
    statement: (order: string) => `I withdraw from my purchase of order ${order}.`,
    receipt: (email: string) => `We email a receipt to ${email} at once.`,
    confirmButton: 'Confirm withdrawal',
    confirmed: 'Withdrawal confirmed',
    confirmedText:
      'If the order and the email address belong together, a receipt is on its way to that address. If none arrives,',
    contact: 'contact us',
    incomplete: 'Enter the order and a valid email address.',
  },

  releaseEmails: {
    title: 'Emails about new releases',
    lead: 'You get at most one email a week. Emails about your orders and your license continue.',
    button: 'Stop emails about releases',
    out: 'You get no more emails about new releases.',
    again: 'Get them again',
    in: 'You get emails about new releases again, at most one a week.',
  },

  errors: {
    signInText: 'Sign in with the account that you used for the purchase.',
    signInRequired: 'Sign in required',
    tooMany: 'Too many requests',
    noDownload: 'Download not available',
    failed: 'Something went wrong',
    notPossible: 'Request not possible',
    seePricing: 'See pricing',
  },
}

export type BuyerMessages = typeof en
