import type { ContactSubject } from '../tables.ts'

/** Texts of the shop's emails to buyers and visitors. `name` is the product's, `shop` the brand's. */
export const en = {
  product: 'Product',
  paid: 'Paid',
  order: 'Order',
  licenseKey: 'License key',
  toDownloads: 'Go to your downloads',

  howToOpen:
    'The ZIP is encrypted with AES-256. Its password is your license key, including the dashes. Windows: open it with 7-Zip or WinZip. ' +
    'macOS: open it with Keka, or run “bsdtar -xf FILE” in Terminal. Linux: run “7z x FILE” or “bsdtar -xf FILE”. “unzip” and the macOS Archive Utility cannot open it.',

  purchase: ({ name }: { name: string }) => ({
    subject: `Your license for ${name}`,
    first: `Thank you for buying ${name}. Your license key also opens the downloaded ZIP. Keep this email.`,
    free: `Here is your license for ${name}. Your license key also opens the downloaded ZIP. Keep this email.`,
    bundle: `Thank you for buying ${name}. Each of its products has its own license key, which also opens its ZIP. Keep this email.`,
    later: `Thank you for your order of ${name}. Your license key stays the same and also opens the downloaded ZIP.`,
    date: 'Date',
    Invoice: 'Invoice',
    Receipt: 'Receipt',
    downloads: 'Downloads',
    updatesUntil: 'Updates until',
    noEnd: 'no end',
    withoutAccount:
      'This purchase belongs to no account. Reply to this email to get your download.',
  }),

  freeProduct: ({ name }: { name: string }) => ({
    subject: `Confirm your email address to get ${name}`,
    before: `You asked for ${name}, which is free. Confirm your email address to get your license key and the download.`,
    button: 'Confirm and get it',
    after:
      'The link works once, for 7 days. If you did not ask for this, ignore this email: nothing happens.',
  }),

  claims: {
    account: {
      button: 'Open your purchase',
      text: 'The link works once, for 7 days. It confirms your email address and signs you in to your new account. Later, sign in with a code that we email to you.',
    },
    purchase: {
      button: 'Add it to your account',
      text: 'The link works once, for 7 days. Your email address already has an account, so sign in there to add the purchase. If you did not buy anything, ignore this email: your account stays as it is.',
    },
  },

  keyRecovery: ({ isOne }: { isOne: boolean }) => ({
    subject: isOne ? 'Your license key' : 'Your license keys',
    before: 'You asked us to send your license keys again. If you did not, ignore this email.',
    refunded: '(refunded)',
  }),

  revoked: ({ name }: { name: string }) => ({
    subject: `Your license for ${name} was revoked`,
    dispute: `Your bank returned your payment for ${name} to you. Your license key and downloads no longer work.`,
    seller: `We revoked your license for ${name}. Your license key and downloads no longer work.`,
    after: ['If you think that this is a mistake, reply to this email.'],
  }),

  revokedBundle: ({ name }: { name: string }) => ({
    subject: `Your licenses for ${name} were revoked`,
    dispute: `Your bank returned your payment for ${name} to you. The license keys and downloads of its products no longer work.`,
    seller: `We revoked your licenses for ${name}. The license keys and downloads of its products no longer work.`,
    after: ['If you think that this is a mistake, reply to this email.'],
  }),

  refundEnds: {
    license: 'Your license key and downloads no longer work.',
    bundle: 'The license keys and downloads of its products no longer work.',
  },

  updateEnd: ({ name, day, isAhead }: { name: string; day: string; isAhead: boolean }) => ({
    subject: isAhead ? `Updates of ${name} end on ${day}` : `Updates of ${name} have ended`,
    before: [
      isAhead
        ? `Your updates of ${name} end on ${day}.`
        : `Your updates of ${name} ended on ${day}.`,
      'Your license key stays valid, and you can go on using every release published before that day.',
    ],
    updatesUntil: 'Updates until',
    renewal: 'Renewal',
    renew: 'Renew updates',
    toPurchases: 'Go to your purchases',
  }),

  release: ({ shop, optoutUrl }: { shop: string; optoutUrl: string }) => ({
    subjectOfOne: (release: string) => `New release: ${shop} ${release}`,
    subjectOfSeveral: (count: number) => `${count} new releases of ${shop}`,
    isOut: (release: string) => `${shop} ${release} is out.`,
    after: [
      'Your license key stays the same, and each release has downloads of its own.',
      `You get this email because you bought ${shop}, at most once a week. To get no more emails about releases: ${optoutUrl}`,
    ],
  }),

  withdrawal: ({ shop }: { shop: string }) => ({
    subject: 'We received your withdrawal',
    before: `We received your withdrawal from your purchase at ${shop}.`,
    open: 'Your license key and downloads no longer work. We refund your payment to the card or account that you paid with.',
    openBundle:
      'The license keys and downloads of all its products no longer work. We refund your payment to the card or account that you paid with.',
    waived:
      'At checkout you requested immediate delivery and acknowledged that you lose your right of withdrawal once it begins. It has begun. We will look at your request and reply.',
    late: 'The withdrawal period of 14 days is over. We will look at your request and reply.',
    ended: 'This purchase has already ended. We will look at your request and reply.',
    free: 'Nothing was paid for this purchase, so there is nothing to return. We will look at your request and reply.',
    bought: 'Bought',
    withdrawn: 'Withdrawn',
    consent: 'Your consent at checkout',
    consentText: (text: string, version: string, at: string) =>
      `${text} (version ${version}, ${at})`,
  }),

  subjects: {
    sales: 'Sales Inquiry',
    support: 'Technical Support',
    enterprise: 'Enterprise Solutions',
    partnership: 'Partnership',
    other: 'General Inquiry',
  } as Record<ContactSubject, string>,

  contact: ({ shop, topic }: { shop: string; topic: string }) => ({
    subject: 'We have received your message',
    before: `Thank you for contacting ${shop}. We received your message (${topic}) and usually reply within one working day.`,
    after: [
      'If you did not contact us, someone entered your address by mistake. You will get no further email.',
    ],
  }),

  reply: ({ shop, topic, day }: { shop: string; topic: string; day: string }) => ({
    subject: `Re: ${topic} at ${shop}`,
    youWrote: `You wrote on ${day}:`,
  }),
}

export type ShopEmailMessages = typeof en
