import type { Config } from '#config/config.ts'
import { composeEmail, type Email } from '#mail/email.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import type { Claimable } from '../claims/claims.ts'
import type { Listed } from '../products/product-list.ts'
import type { PurchaseRow } from './store.ts'

type EmailDeps = Listed & { config: Config }

const HOW_TO_OPEN =
  'The ZIP is encrypted with AES-256. Its password is your license key, including the dashes. Windows: open it with 7-Zip or WinZip. ' +
  'macOS: open it with Keka, or run “bsdtar -xf FILE” in Terminal. Linux: run “7z x FILE” or “bsdtar -xf FILE”. “unzip” and the macOS Archive Utility cannot open it.'

/** The invoice or the receipt of a purchase. */
export type Bill = { name: 'Invoice' | 'Receipt'; url: string }

/** Contains the license key, the link to the download, and instructions for the ZIP. */
export function purchaseEmail(
  { config, productList }: EmailDeps,
  to: string,
  purchase: PurchaseRow,
  { licenseKey, bill, claim }: { licenseKey: string; bill: Bill | null; claim: ClaimLink | null },
): Email {
  const name = `${config.brand.name} ${productList.getName(purchase.tier)}`
  return composeEmail(config.brand, {
    to,
    subject: `Your license for ${name}`,
    before: [
      purchase.from_id === null
        ? `Thank you for buying ${name}. Your license key also opens the downloaded ZIP. Keep this email.`
        : `Thank you for your order of ${name}. Your license key stays the same and also opens the downloaded ZIP.`,
    ],
    facts: [
      ['License key', licenseKey],
      ['Product', name],
      ['Paid', formatMoney(inUnits(purchase.amount_cents, purchase.currency), purchase.currency)],
      ['Order', purchase.id],
      ['Date', purchase.created_at.slice(0, 10)],
      ...(bill === null ? [] : [[bill.name, bill.url] as [string, string]]),
      ['Downloads', String(purchase.max_downloads)],
      ['Updates until', purchase.entitled_until?.slice(0, 10) ?? 'no end'],
    ],
    button: claim
      ? { label: CLAIMS[claim.claimable].label, url: claim.url }
      : { label: 'Go to your downloads', url: `${config.urls.storefront}/dashboard` },
    after: [
      ...(claim ? [CLAIMS[claim.claimable].text] : []),
      HOW_TO_OPEN,
      ...(purchase.user_id === null && !claim
        ? ['This purchase belongs to no account. Reply to this email to get your download.']
        : []),
    ],
  })
}

/** The link with which the owner of the address gets a guest's purchase. */
export type ClaimLink = { url: string; claimable: Claimable }

const CLAIMS: Record<Claimable, { label: string; text: string }> = {
  account: {
    label: 'Open your purchase',
    text: 'The link works once, for 7 days. It confirms your email address and signs you in to your new account. Later, sign in with a code that we email to you.',
  },
  purchase: {
    label: 'Add it to your account',
    text: 'The link works once, for 7 days. Your email address already has an account, so sign in there to add the purchase. If you did not buy anything, ignore this email: your account stays as it is.',
  },
}

/** Contains all license keys of an address, for buyers who lost the first email. */
export function keyRecoveryEmail(
  { config, productList }: EmailDeps,
  to: string,
  keys: { purchase: PurchaseRow; licenseKey: string }[],
): Email {
  return composeEmail(config.brand, {
    to,
    subject: keys.length === 1 ? 'Your license key' : 'Your license keys',
    before: ['You asked us to send your license keys again. If you did not, ignore this email.'],
    facts: keys.map(({ purchase, licenseKey }) => [
      `${productList.getName(purchase.tier)}, ${purchase.created_at.slice(0, 10)}${purchase.status === 'refunded' ? ' (refunded)' : ''}`,
      licenseKey,
    ]),
    button: { label: 'Go to your downloads', url: `${config.urls.storefront}/dashboard` },
    after: [HOW_TO_OPEN],
  })
}

/** Emails a buyer whose license has ended without a refund. */
export function revokedEmail(
  { config, productList }: EmailDeps,
  to: string,
  purchase: PurchaseRow,
  reason: 'dispute' | 'seller',
): Email {
  const name = `${config.brand.name} ${productList.getName(purchase.tier)}`
  return composeEmail(config.brand, {
    to,
    subject: `Your license for ${name} was revoked`,
    before: [
      reason === 'dispute'
        ? `Your bank returned your payment for ${name} to you. Your license key and downloads no longer work.`
        : `We revoked your license for ${name}. Your license key and downloads no longer work.`,
    ],
    facts: [
      ['Product', name],
      ['Order', purchase.id],
    ],
    after: ['If you think that this is a mistake, reply to this email.'],
    replyTo: config.mail.supportEmail,
  })
}

/** To the operator. */
export function saleEmail(
  { config, productList }: EmailDeps,
  buyer: string | null,
  purchase: PurchaseRow,
): Email {
  const { tier, currency, amount_cents } = purchase
  const name = productList.getName(tier)
  const amount = formatMoney(inUnits(amount_cents, currency), currency)
  return composeEmail(config.brand, {
    to: config.mail.supportEmail,
    subject: `[${config.brand.name}] Sold: ${name} for ${amount}`,
    before: [
      purchase.from_id === null ? 'You sold a product.' : 'You sold an upgrade or a renewal.',
    ],
    facts: [
      ['Product', name],
      ['Paid', amount],
      ['Buyer', buyer ?? 'a deleted account'],
      ['Order', purchase.id],
      ['Payment', purchase.payment_ref],
    ],
  })
}

/** To the operator. */
export function paidTwiceEmail(
  { config, productList }: EmailDeps,
  buyer: string,
  purchase: PurchaseRow,
  others: PurchaseRow[],
): Email {
  const { tier, currency, amount_cents } = purchase
  const name = productList.getName(tier)
  const amount = formatMoney(inUnits(amount_cents, currency), currency)
  return composeEmail(config.brand, {
    to: config.mail.supportEmail,
    subject: `[${config.brand.name}] Paid twice: ${name}`,
    before: [
      'A buyer paid for a product that they already own. Consider refunding one of the payments.',
    ],
    facts: [
      ['Buyer', buyer],
      ['Tier', name],
      ['This payment', `${purchase.payment_ref} (${amount})`],
      ['Earlier', others.map(({ payment_ref }) => payment_ref).join(', ')],
    ],
  })
}
