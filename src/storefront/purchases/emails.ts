import type { CatalogueProduct, Tier } from '#catalogue/catalogue.ts'
import type { Config } from '#config/config.ts'
import { composeEmailToUser, type Email, type Recipient } from '#mail/email.ts'
import { composeOperatorEmail } from '#mail/operator.ts'
import { formatDate, type Locale } from '#platform/locale.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import { readEmailMessages } from '../messages/emails.ts'
import { getOperatorMessages } from '../messages/operator.ts'
import type { Listed } from '../products/product-list.ts'
import { isBundle, isUnpaid, type PurchaseRow } from './store.ts'

type EmailDeps = Listed & { config: Config }
/** The address may belong to no account. */
export type Buyer = Pick<Recipient, 'id' | 'email' | 'locale'>

/** The invoice or the receipt of a purchase. */
export type Bill = { name: 'Invoice' | 'Receipt'; url: string }

/** Contains the license key, the link to the download, and instructions for the ZIP. */
export function purchaseEmail(
  { config, productList }: EmailDeps,
  to: Buyer,
  purchase: PurchaseRow,
  { licenseKey, members, bill, claim }: Confirmed,
): Email {
  const locale = to.locale ?? config.brand.language
  const messages = readEmailMessages(locale)
  const name = `${config.brand.name} ${productList.getName(purchase.tier)}`
  const text = messages.purchase({ name })
  const { amount_cents, currency } = purchase
  const price = formatMoney(inUnits(amount_cents, currency), currency, { locale })
  return composeEmailToUser(config.brand, to, {
    subject: text.subject,
    before: [chooseThanks(purchase, text)],
    facts: [
      ...listKeys({ productList }, { licenseKey, members }, messages.licenseKey),
      [messages.product, name],
      ...(isUnpaid(purchase) ? [] : [[messages.paid, price] as [string, string]]),
      [messages.order, purchase.id],
      [text.date, formatDate(purchase.created_at, locale)],
      ...(bill === null ? [] : [[text[bill.name], bill.url] as [string, string]]),
      ...(members.length > 0 ? [] : describeLicense(purchase, text, locale)),
    ],
    button: claim
      ? { label: messages.claims[claim.claimable].button, url: claim.url }
      : { label: messages.toDownloads, url: `${config.urls.storefront}/dashboard` },
    after: [
      ...(claim ? [messages.claims[claim.claimable].text] : []),
      messages.howToOpen,
      ...(purchase.user_id === null && !claim ? [text.withoutAccount] : []),
    ],
  })
}

type Fact = [string, string]
type PurchaseText = ReturnType<ReturnType<typeof readEmailMessages>['purchase']>

export type Keys = {
  licenseKey: string
  /** The products of a bundle, which have keys instead of it. */
  members: readonly { tier: Tier; licenseKey: string }[]
}

type Confirmed = Keys & {
  bill: Bill | null
  claim: ClaimLink | null
}

const listKeys = ({ productList }: Listed, { licenseKey, members }: Keys, label: string): Fact[] =>
  members.length > 0
    ? members.map(({ tier, licenseKey: key }) => [productList.getName(tier), key])
    : [[label, licenseKey]]

function chooseThanks(purchase: PurchaseRow, text: PurchaseText): string {
  if (isBundle(purchase)) return text.bundle
  if (isUnpaid(purchase)) return text.free
  return purchase.from_id === null ? text.first : text.later
}

const describeLicense = (
  { max_downloads, entitled_until }: PurchaseRow,
  text: PurchaseText,
  locale: Locale,
): Fact[] => [
  [text.downloads, String(max_downloads)],
  [text.updatesUntil, formatDate(entitled_until, locale) || text.noEnd],
]

/** Contains the link that confirms the address and gives the free product. */
export function freeProductEmail(
  { config }: EmailDeps,
  to: Buyer,
  product: Pick<CatalogueProduct, 'name'>,
  url: string,
): Email {
  const name = `${config.brand.name} ${product.name}`
  const text = readEmailMessages(to.locale ?? config.brand.language).freeProduct({ name })
  return composeEmailToUser(config.brand, to, {
    subject: text.subject,
    before: [text.before],
    button: { label: text.button, url },
    after: [text.after],
  })
}

/** `account`: the link opens the new account. `purchase`: its holder adds the purchase to it. */
export type Claimable = 'account' | 'purchase'

/** The link with which the owner of the address gets a guest's purchase. */
export type ClaimLink = { url: string; claimable: Claimable }

/** Contains all license keys of an address, for buyers who lost the first email. */
export function keyRecoveryEmail(
  { config, productList }: EmailDeps,
  to: Buyer,
  keys: { purchase: PurchaseRow; licenseKey: string }[],
): Email {
  const locale = to.locale ?? config.brand.language
  const messages = readEmailMessages(locale)
  const { subject, before, refunded } = messages.keyRecovery({ isOne: keys.length === 1 })
  return composeEmailToUser(config.brand, to, {
    subject,
    before: [before],
    facts: keys.map(({ purchase: { tier, created_at, status }, licenseKey }) => [
      `${productList.getName(tier)}, ${formatDate(created_at, locale)}${status === 'refunded' ? ` ${refunded}` : ''}`,
      licenseKey,
    ]),
    button: { label: messages.toDownloads, url: `${config.urls.storefront}/dashboard` },
    after: [messages.howToOpen],
  })
}

/** Emails a buyer whose license has ended without a refund. The keys are masked. */
export function revokedEmail(
  { config, productList }: EmailDeps,
  to: Buyer,
  purchase: PurchaseRow,
  { licenseKey, members, reason }: Keys & { reason: 'dispute' | 'seller' },
): Email {
  const messages = readEmailMessages(to.locale ?? config.brand.language)
  const name = `${config.brand.name} ${productList.getName(purchase.tier)}`
  const text = isBundle(purchase) ? messages.revokedBundle({ name }) : messages.revoked({ name })
  return composeEmailToUser(config.brand, to, {
    subject: text.subject,
    before: [text[reason]],
    facts: [
      ...listKeys({ productList }, { licenseKey, members }, messages.licenseKey),
      [messages.product, name],
      [messages.order, purchase.id],
    ],
    after: text.after,
    replyTo: config.mail.supportEmail,
  })
}

/** To the operator. */
export function saleEmail(deps: EmailDeps, buyer: string | null, purchase: PurchaseRow): Email {
  const { sale } = getOperatorMessages(deps.config.brand.language)
  return composeOrderEmail(deps, buyer, purchase, {
    subject: sale.subject,
    before: purchase.from_id === null ? sale.first : sale.later,
  })
}

/** To the operator: a purchase has ended, and its payment was kept. */
export function keptPaymentEmail(
  deps: EmailDeps,
  buyer: string | null,
  purchase: PurchaseRow,
): Email {
  const { keptPayment } = getOperatorMessages(deps.config.brand.language)
  return composeOrderEmail(deps, buyer, purchase, keptPayment)
}

type OrderText = { subject: (name: string, amount: string) => string; before: string }

function composeOrderEmail(
  { config, productList }: EmailDeps,
  buyer: string | null,
  { id, tier, currency, amount_cents, payment_ref }: PurchaseRow,
  { subject, before }: OrderText,
): Email {
  const { language: locale } = config.brand
  const text = getOperatorMessages(locale)
  const name = productList.getName(tier)
  const amount = formatMoney(inUnits(amount_cents, currency), currency, { locale })
  return composeOperatorEmail(config, {
    title: subject(name, amount),
    before: [before],
    facts: [
      [text.product, name],
      [text.paid, amount],
      [text.buyer, buyer ?? text.deletedAccount],
      [text.order, id],
      [text.payment, payment_ref],
    ],
    button: { label: text.openOrder, url: `${config.urls.frontend}/shop/orders/${id}` },
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
  const { language: locale } = config.brand
  const { paidTwice: text, ...messages } = getOperatorMessages(locale)
  const name = productList.getName(tier)
  const amount = formatMoney(inUnits(amount_cents, currency), currency, { locale })
  return composeOperatorEmail(config, {
    title: text.subject(name),
    before: [text.before],
    facts: [
      [messages.buyer, buyer],
      [messages.product, name],
      [text.thisPayment, `${purchase.payment_ref} (${amount})`],
      [text.earlier, others.map(({ payment_ref }) => payment_ref).join(', ')],
    ],
  })
}
