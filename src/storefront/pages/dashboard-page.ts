import { type Html, html } from '#platform/http/html.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import type { CheckoutState } from '../payments/payments.ts'
import type { ProductList } from '../products/product-list.ts'
import { isCurrent, isEnded, type PurchaseRow } from '../purchases/store.ts'
import type { PurchaseStatus } from '../tables.ts'
import type { Dashboard, OwnedProduct } from './dashboard-data.ts'
import { licenseSections } from './dashboard-license.ts'
import { bytes, day } from './formats.ts'

export function dashboardPage(
  productList: ProductList,
  { products, waiting, downloads }: Dashboard,
  notice: DashboardNotice | null,
): Html {
  return html`<div class="wrap">
<h1>Your purchases</h1>
${notice && renderNotice(notice)}
${waiting.map((purchase) => waitingCard(productList, purchase))}
${products.length === 0 ? waiting.length === 0 && emptyState() : html`<div class="stack">${products.map((product) => productCard(productList, product))}</div>`}
<div data-history>${products.length > 0 && history(downloads)}</div>
</div>`
}

/** A message that the page shows once, at its top. */
export type DashboardNotice =
  | { kind: 'payment'; state: CheckoutState }
  | { kind: 'error'; text: string }
  | { kind: 'token'; name: string; token: string }

function renderNotice(notice: DashboardNotice): Html {
  if (notice.kind === 'error')
    return html`<div class="notice bad" role="alert"><p>${notice.text}.</p></div>`
  if (notice.kind === 'token')
    return html`<div class="notice" role="status"><p><strong>Token “${notice.name}” created.</strong> Copy it now; we do not show it again.</p><p><span class="key" data-copy>${notice.token}</span></p></div>`
  return renderPayment(notice.state)
}

function renderPayment(payment: CheckoutState): Html {
  switch (payment) {
    case 'paid':
      return html`<div class="notice" role="status"><p><strong>Thank you, your payment has arrived.</strong> Your license key is below. We also emailed it to you.</p></div>`
    case 'settling':
      return html`<div class="notice warn" role="status"><p><strong>Your payment is processing.</strong> This can take some days, and your bank may ask you to confirm the payment. We will email your license key when the payment arrives.</p></div>`
    case 'pending':
      return html`<div class="notice warn" role="status"><p><strong>Confirming your payment.</strong> This page updates automatically, and we will email you when it is confirmed.</p></div>`
    case 'unknown':
      return html`<div class="notice warn" role="status"><p><strong>No pending payment found.</strong> If your bank declined the payment, you were not charged. If you paid and see no license below, <a href="/contact">contact us</a>.</p></div>`
  }
}

function emptyState(): Html {
  return html`<div class="card empty"><h2>No purchases yet</h2><p class="soft">Your purchases appear here with their license keys and downloads.</p><p><a class="button" href="/pricing">See pricing</a></p></div>`
}

/** The license key is not shown before the purchase belongs to the account. */
function waitingCard(productList: ProductList, { id, tier, created_at }: PurchaseRow): Html {
  const name = productList.getName(tier)
  return html`<form class="notice" method="post" action="/dashboard/claim" aria-label="${name}"><input type="hidden" name="purchase" value="${id}">
<p><strong>${name} is waiting for you.</strong> Someone bought it for your email address on ${day(created_at)}, without signing in.</p>
<p><button class="button">Add to my purchases</button></p></form>`
}

function productCard(productList: ProductList, product: OwnedProduct): Html {
  const { purchase, releases, file } = product
  const served = releases.find((release) => release.isCovered)
  const id = `purchase-${purchase.id}`
  return html`<article class="card purchase" data-purchase="${purchase.id}" aria-labelledby="${id}">
<header><h2 id="${id}">${productList.getName(purchase.tier)}</h2>${badge(product)}<span class="soft">bought ${day(purchase.created_at)}</span></header>
${purchase.status === 'completed' && actions(product, served?.version)}
${purchase.status === 'disputed' && disputedNotice()}
${
  purchase.status === 'expired' &&
  html`<div class="notice warn"><p>You have used all ${purchase.max_downloads} downloads of this release. The next release gives you new ones. Your key stays valid, and you can resume an interrupted download for 24 hours. To download again, <a href="/pricing">buy a new license</a> or <a href="/contact">contact us</a>.</p></div>`
}
${isEnded(purchase) && html`<div class="notice bad"><p>This purchase was ${purchase.status}. Its key and downloads no longer work.</p></div>`}
${purchase.status === 'upgraded' && html`<div class="notice"><p>A later purchase replaces this one and has its license key.</p></div>`}
<dl class="facts">
<div><dt>License key</dt><dd><code>${product.maskedKey}</code>${!isEnded(purchase) && reveal(product.licenseKey)}</dd></div>
<div><dt>Downloads${served && ` of ${served.version}`}</dt><dd data-left aria-live="polite">${product.downloadsLeft} of ${purchase.max_downloads} left<meter class="meter" min="0" max="${purchase.max_downloads}" value="${product.downloadsLeft}" aria-label="Downloads left">${product.downloadsLeft}</meter></dd></div>
${product.hasInvoice && html`<div><dt>Invoice</dt><dd><a href="/api/purchases/${purchase.id}/invoice">View the PDF</a></dd></div>`}
<div><dt>Updates until</dt><dd>${purchase.entitled_until === null ? 'no end' : day(purchase.entitled_until)}</dd></div>
</dl>
${
  file?.sha256 &&
  html`<details><summary>Checksum</summary><p>SHA-256 of your ZIP: <code class="key">${file.sha256}</code><br><span class="soft">Compare it with “sha256sum FILE” (Linux), “shasum -a 256 FILE” (macOS) or “certutil -hashfile FILE SHA256” (Windows).</span></p></details>`
}
${offerLinks(product)}
${releases.length > 0 && releaseList(product, served?.version)}
${isCurrent(purchase) && howToOpen()}
${product.license && licenseSections(purchase, product.license)}
${product.canWithdraw && html`<p class="soft"><a href="/withdraw?order=${purchase.id}">Withdraw from this purchase</a>${purchase.waiver_json && ` You agreed on ${purchase.waiver_json.at.slice(0, 10)} that this right ends with the first download.`}</p>`}
</article>`
}

const BADGES: Record<PurchaseStatus, [look: string, text: string]> = {
  completed: ['', 'Active'],
  expired: [' warn', 'Downloads used up'],
  disputed: [' warn', 'Disputed'],
  upgraded: ['', 'Replaced'],
  refunded: [' bad', 'Refunded'],
  withdrawn: [' bad', 'Withdrawn'],
  revoked: [' bad', 'Revoked'],
}

function badge({ purchase }: OwnedProduct): Html {
  const [look, text] = BADGES[purchase.status]
  return html`<span class="badge${look}">${text}</span>`
}

function actions({ purchase, waitSeconds, file }: OwnedProduct, version: string | undefined): Html {
  if (!version)
    return html`<div class="notice warn"><p>This product is not available for download yet. We will email you when it is.</p></div>`
  const wait = waitSeconds > 0 ? html` data-wait-seconds="${waitSeconds}"` : ''
  return html`<div class="actions"><a class="button" href="/api/download?purchase_id=${purchase.id}" data-download${wait}>Download ${version}</a>
<span class="soft">${waitSeconds > 0 && html`<span data-wait>Your download has started. You can start the next one in ${waitSeconds} s. </span>`}${file && `${bytes(file.sizeBytes)}. `}You can resume an interrupted download for 24 hours; it counts once.</span></div>`
}

function offerLinks({ purchase, offers }: OwnedProduct): Html | false {
  const { upgrades, renewal } = offers
  if (upgrades.length === 0 && !renewal) return false
  return html`<p class="actions">${upgrades.map(
    ({ tier, name, amount_cents, currency }) =>
      html`<a class="button quiet" href="/api/checkout?tier=${tier}&from=${purchase.id}">Upgrade to ${name} ${amount_cents === 0 ? 'at no charge' : `for ${amount(amount_cents, currency)}`}</a>`,
  )}${
    renewal &&
    html`<a class="button quiet" href="/api/checkout?tier=${purchase.tier}&renew=${purchase.id}">Updates until ${day(renewal.until)} for ${amount(renewal.amount_cents, renewal.currency)}</a>`
  }</p>`
}

const amount = (cents: number, currency: string) =>
  formatMoney(inUnits(cents, currency), currency, { short: true })

function disputedNotice(): Html {
  return html`<div class="notice warn"><p>This payment is disputed. You can download again when your bank has decided.</p></div>`
}

function reveal(licenseKey: string): Html {
  return html`<details class="reveal"><summary>Show key</summary><span class="key" data-copy>${licenseKey}</span></details>`
}

function releaseList({ releases }: OwnedProduct, served: string | undefined): Html {
  return html`<details><summary>Releases</summary><ul>${releases.map(
    ({ version, publishedAt, notes, isCovered }) =>
      html`<li><strong>${version}</strong>, ${day(publishedAt)}${version === served && ' (your download)'}${!isCovered && ' (after your update period)'}${notes && html`<br><span class="soft">${notes}</span>`}</li>`,
  )}</ul></details>`
}

function howToOpen(): Html {
  return html`<details><summary>How to open the ZIP</summary>
<p>The ZIP is encrypted with AES-256. Its password is your license key, including the dashes. <code>unzip</code> and the macOS Archive Utility cannot open it.</p>
<div class="systems">
<div data-system="windows"><h3>Windows</h3><p>Open it with <a href="https://www.7-zip.org" rel="noreferrer">7-Zip</a> or WinZip: choose “Extract here”, then paste the key.</p></div>
<div data-system="macos"><h3>macOS</h3><p>Open it with <a href="https://www.keka.io" rel="noreferrer">Keka</a>, or run <code>bsdtar -xf FILE.zip</code> in Terminal.</p></div>
<div data-system="linux"><h3>Linux</h3><p>Run <code>7z x FILE.zip</code> or <code>bsdtar -xf FILE.zip</code>.</p></div>
</div></details>`
}

function history(downloads: Dashboard['downloads']): Html {
  if (downloads.length === 0) return html``
  return html`<section class="card history" aria-labelledby="history"><h2 id="history">Recent downloads</h2>
<div class="scroll" tabindex="0" role="group" aria-label="Recent downloads"><table><thead><tr><th scope="col">When (UTC)</th><th scope="col">Version</th><th scope="col">IP address</th><th scope="col">Country</th></tr></thead>
<tbody>${downloads.map(
    (row) =>
      html`<tr><td>${row.downloaded_at.slice(0, 16).replace('T', ' ')}</td><td>${row.version}</td><td>${row.ip_address}</td><td>${row.country ?? '–'}</td></tr>`,
  )}</tbody></table></div></section>`
}
