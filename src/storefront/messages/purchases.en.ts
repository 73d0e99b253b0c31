import { type Html, html } from '#platform/http/html.ts'
import type { CheckoutState } from '../payments/payments.ts'
import type { PurchaseStatus } from '../tables.ts'

/** Texts of the page of a buyer's purchases. */
export const en = {
  purchases: {
    title: 'Your purchases',
    noneYet: 'No purchases yet',
    noneYetText: 'Your purchases appear here with their license keys and downloads.',
    bought: 'bought',

    payment: {
      paid: html`<strong>Thank you, your payment has arrived.</strong> Your license key is below. We also emailed it to you.`,
      settling: html`<strong>Your payment is processing.</strong> This can take some days, and your bank may ask you to confirm the payment. We will email your license key when the payment arrives.`,
      pending: html`<strong>Confirming your payment.</strong> This page updates automatically, and we will email you when it is confirmed.`,
      unknown: html`<strong>No pending payment found.</strong> If your bank declined the payment, you were not charged. If you paid and see no license below, <a href="/contact">contact us</a>.`,
    } as Record<CheckoutState, Html>,

    waiting: (name: string, day: Html) =>
      html`<strong>${name} is waiting for you.</strong> Someone bought it for your email address on ${day}, without signing in.`,
    claim: 'Add to my purchases',

    status: {
      completed: 'Active',
      expired: 'Downloads used up',
      disputed: 'Disputed',
      upgraded: 'Replaced',
      refunded: 'Refunded',
      withdrawn: 'Withdrawn',
      revoked: 'Revoked',
    } as Record<PurchaseStatus, string>,
    disputed: 'This payment is disputed. You can download again when your bank has decided.',
    usedUp: (max: number) =>
      html`You have used all ${max} downloads of this release. The next release gives you new ones. Your key stays valid, and you can resume an interrupted download for 24 hours. To download again, <a href="/pricing">buy a new license</a> or <a href="/contact">contact us</a>.`,
    ended: 'This purchase has ended. Its key and downloads no longer work.',
    bundle: 'The products of this bundle follow, each with its own license key and downloads.',
    bundleEnded: 'This purchase has ended, with all its products.',
    upgraded: 'A later purchase replaces this one and has its license key.',

    licenseKey: 'License key',
    showKey: 'Show key',
    downloads: 'Downloads',
    downloadsOf: (version: string) => `Downloads of ${version}`,
    downloadsLeft: 'Downloads left',
    left: (left: number, max: number) => `${left} of ${max} left`,
    invoice: 'Invoice',
    viewInvoice: 'View the PDF',
    updatesUntil: 'Updates until',
    noEnd: 'no end',
    checksum: 'Checksum',
    checksumOf: 'SHA-256 of your ZIP:',
    compare:
      'Compare it with “sha256sum FILE” (Linux), “shasum -a 256 FILE” (macOS) or “certutil -hashfile FILE SHA256” (Windows).',

    notYet: 'This product is not available for download yet. We will email you when it is.',
    download: (version: string) => `Download ${version}`,
    started: 'Your download has started.',
    next: (seconds: number) => `You can start the next one in ${seconds} s.`,
    resume: 'You can resume an interrupted download for 24 hours; it counts once.',
    upgrade: (name: string, price: string) => `Upgrade to ${name} for ${price}`,
    upgradeFree: (name: string) => `Upgrade to ${name} at no charge`,
    renew: (day: Html, price: string) => html`Renew updates until ${day} for ${price}`,
    releases: 'Releases',
    yours: ' (your download)',
    notCovered: ' (after your update period)',
    withdraw: 'Withdraw from this purchase',
    waived: (day: Html, time: string, version: string) =>
      html`You agreed on ${day} at ${time} UTC that your right of withdrawal ends with the first download (text of ${version}).`,

    open: 'How to open the ZIP',
    encrypted: html`The ZIP is encrypted with AES-256. Its password is your license key, including the dashes. <code>unzip</code> and the macOS Archive Utility cannot open it.`,
    windows: html`Open it with <a href="https://www.7-zip.org" rel="noreferrer">7-Zip</a> or WinZip: choose “Extract here”, then paste the key.`,
    macos: html`Open it with <a href="https://www.keka.io" rel="noreferrer">Keka</a>, or run <code>bsdtar -xf FILE.zip</code> in Terminal.`,
    linux: html`Run <code>7z x FILE.zip</code> or <code>bsdtar -xf FILE.zip</code>.`,

    history: 'Recent downloads',
    when: 'When (UTC)',
    product: 'Product',
    version: 'Version',
    address: 'IP address',
    country: 'Country',
  },

  license: {
    machines: (count: number, limit: number | null) =>
      limit === null ? `Machines (${count})` : `Machines (${count} of ${limit})`,
    noMachine: 'The license is not active on any machine.',
    releasesRenew: (day: Html) => html`You can release machines again on ${day}.`,
    releasesLeft: (left: number) => `You can release ${left} more this month.`,
    unnamed: 'Unnamed machine',
    since: 'since',
    release: 'Release',

    tokens: (count: number) => `Download tokens (${count})`,
    tokensText:
      'With a token, a build server downloads the archive without your account and without a password.',
    neverUsed: 'never used',
    lastUsed: 'last used',
    expires: 'expires',
    revoke: 'Revoke',
    name: 'Name',
    expiresIn: 'Expires in',
    lifetimes: { 30: '30 days', 90: '90 days', 365: '1 year', 730: '2 years' },
    create: 'Create token',
    created: (name: string) =>
      html`<strong>Token “${name}” created.</strong> Copy it now; we do not show it again.`,
    nameMissing: 'Give the token a name of at most 100 characters.',

    replace: 'Replace the license key',
    replaceText:
      'The old key stops working at once, also as the password of new downloads. Machines and tokens stay. We email you the new key.',
    replaceButton: 'Replace key',
  },
}

export type PurchaseMessages = typeof en
