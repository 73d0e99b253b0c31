import { productName } from '#catalogue/catalogue.ts'
import type { Config } from '#config/config.ts'
import { composeEmail, type Email } from '#mail/email.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import { getBrand } from '../brand.ts'
import type { PurchaseRow } from './store.ts'

const HOW_TO_OPEN =
  'The ZIP is encrypted with AES-256; your license key is its password, dashes included. Windows: 7-Zip or WinZip. macOS: Keka, or ' +
  '“bsdtar -xf FILE” in the Terminal. Linux: “7z x FILE” or “bsdtar -xf FILE”. The tools “unzip” and macOS’s own Archive Utility cannot open AES.'

/** The email with the license key, the link to the download, and instructions for opening it. */
export function purchaseEmail(
  config: Config,
  to: string,
  purchase: PurchaseRow,
  { licenseKey, invoiceUrl }: { licenseKey: string; invoiceUrl: string | null },
): Email {
  const name = `${getBrand(config)} ${productName(config.catalogue, purchase.tier)}`
  return composeEmail({
    to,
    subject: `Your license for ${name}`,
    before: [
      `Thank you for buying ${name}. Your license key is the key to your download; keep this mail.`,
    ],
    facts: [
      ['License key', licenseKey],
      ['Product', name],
      ['Paid', formatMoney(inUnits(purchase.amount_cents, purchase.currency), purchase.currency)],
      ['Order', purchase.id],
      ['Date', purchase.created_at.slice(0, 10)],
      ...(invoiceUrl === null ? [] : [['Invoice', invoiceUrl] as [string, string]]),
      ['Downloads', String(purchase.max_downloads)],
      ['Updates until', purchase.entitled_until.slice(0, 10)],
    ],
    button: { label: 'Go to your downloads', url: `${config.urls.storefront}/dashboard` },
    after: [
      HOW_TO_OPEN,
      ...(purchase.user_id === null
        ? [
            'The account that started this purchase no longer exists, so the download needs our help: please write to us.',
          ]
        : []),
    ],
  })
}

/** The email with all license keys of an address, for buyers who lost the first email. */
export function keyRecoveryEmail(
  config: Config,
  to: string,
  keys: { purchase: PurchaseRow; licenseKey: string }[],
): Email {
  return composeEmail({
    to,
    subject: keys.length === 1 ? 'Your license key' : 'Your license keys',
    before: ['Somebody, probably you, asked us to send the license keys of this address again.'],
    facts: keys.map(({ purchase, licenseKey }) => [
      `${productName(config.catalogue, purchase.tier)}, ${purchase.created_at.slice(0, 10)}${purchase.status === 'refunded' ? ' (refunded)' : ''}`,
      licenseKey,
    ]),
    button: { label: 'Go to your downloads', url: `${config.urls.storefront}/dashboard` },
    after: [HOW_TO_OPEN],
  })
}

/** The email to the operator. */
export function paidTwiceEmail(
  config: Config,
  buyer: string,
  purchase: PurchaseRow,
  others: PurchaseRow[],
): Email {
  const { tier, currency, amount_cents } = purchase
  const name = productName(config.catalogue, tier)
  const amount = formatMoney(inUnits(amount_cents, currency), currency)
  return composeEmail({
    to: config.mail.supportEmail,
    subject: `[${config.brand}] Paid twice: ${name}`,
    before: [
      'A buyer has paid for a tier that they already own. You may want to refund one of the payments.',
    ],
    facts: [
      ['Buyer', buyer],
      ['Tier', name],
      ['This payment', `${purchase.payment_ref} (${amount})`],
      ['Earlier', others.map(({ payment_ref }) => payment_ref).join(', ')],
    ],
  })
}
