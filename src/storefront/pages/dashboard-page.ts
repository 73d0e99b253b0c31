import { type Html, html } from '#platform/http/html.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import type { PageMessages } from '../messages/pages.ts'
import type { CheckoutState } from '../payments/payments.ts'
import type { ProductList } from '../products/product-list.ts'
import { isBundle, isCurrent, isEnded, isMember, type PurchaseRow } from '../purchases/store.ts'
import type { PurchaseStatus } from '../tables.ts'
import type { Dashboard, OwnedProduct } from './dashboard-data.ts'
import { licenseSections } from './dashboard-license.ts'
import { bytes, day } from './formats.ts'
import { markdown } from './markdown.ts'

export function dashboardPage(
  productList: ProductList,
  { products, waiting, downloads }: Dashboard,
  notice: DashboardNotice | null,
  messages: PageMessages,
): Html {
  return html`<div class="wrap">
<h1>${messages.purchases.title}</h1>
${notice && renderNotice(notice, messages)}
${waiting.map((purchase) => waitingCard(productList, purchase, messages))}
${products.length === 0 ? waiting.length === 0 && emptyState(messages) : html`<div class="stack">${products.filter(({ purchase }) => !isMember(purchase)).map((product) => renderOrder(productList, product, products, messages))}</div>`}
<div data-history>${products.length > 0 && history(productList, { products, downloads }, messages)}</div>
</div>`
}

/** A message that the page shows once, at its top. */
export type DashboardNotice =
  | { kind: 'payment'; state: CheckoutState }
  | { kind: 'error'; text: string }
  | { kind: 'token'; name: string; token: string }

function renderNotice(notice: DashboardNotice, { purchases, license }: PageMessages): Html {
  if (notice.kind === 'error')
    return html`<div class="notice bad" role="alert"><p>${notice.text}</p></div>`
  if (notice.kind === 'token')
    return html`<div class="notice" role="status"><p>${license.created(notice.name)}</p><p><span class="key" data-copy>${notice.token}</span></p></div>`
  const look = notice.state === 'paid' ? '' : ' warn'
  return html`<div class="notice${look}" role="status"><p>${purchases.payment[notice.state]}</p></div>`
}

function emptyState({ purchases: text, errors }: PageMessages): Html {
  return html`<div class="card empty"><h2>${text.noneYet}</h2><p class="soft">${text.noneYetText}</p><p><a class="button" href="/pricing">${errors.seePricing}</a></p></div>`
}

/** The license key is not shown before the purchase belongs to the account. */
function waitingCard(
  productList: ProductList,
  { id, tier, created_at }: PurchaseRow,
  { purchases: text, locale }: PageMessages,
): Html {
  const name = productList.getName(tier)
  return html`<form class="notice" method="post" action="/dashboard/claim" aria-label="${name}"><input type="hidden" name="purchase" value="${id}">
<p>${text.waiting(name, day(created_at, locale))}</p>
<p><button class="button">${text.claim}</button></p></form>`
}

/** A bundle is one order; its products follow it, each with its license. */
function renderOrder(
  productList: ProductList,
  order: OwnedProduct,
  all: readonly OwnedProduct[],
  messages: PageMessages,
): Html {
  const { purchase } = order
  if (!isBundle(purchase)) return productCard(productList, order, messages)
  const members = all
    .filter((product) => isMember(product.purchase) && product.purchase.bundle_id === purchase.id)
    .toSorted((a, b) => (a.purchase.tier < b.purchase.tier ? -1 : 1))
  return html`<section class="stack" aria-labelledby="purchase-${purchase.id}">
${bundleCard(productList, order, messages)}
${members.map((product) => productCard(productList, product, messages))}
</section>`
}

function bundleCard(
  productList: ProductList,
  { purchase, hasInvoice, canWithdraw }: OwnedProduct,
  messages: PageMessages,
): Html {
  const { purchases: text } = messages
  const { id, status } = purchase
  return html`<article class="card purchase" aria-labelledby="purchase-${id}">
${cardHeader(productList, purchase, messages)}
${status === 'disputed' && html`<div class="notice warn"><p>${text.disputed}</p></div>`}
${isEnded(purchase) && html`<div class="notice bad"><p>${text.bundleEnded}</p></div>`}
<p class="soft">${text.bundle}</p>
${hasInvoice && html`<p><a href="/api/purchases/${id}/invoice">${text.invoice}: ${text.viewInvoice}</a></p>`}
${withdrawalLines(purchase, canWithdraw, messages)}
</article>`
}

function cardHeader(
  productList: ProductList,
  { id, tier, status, created_at }: PurchaseRow,
  { purchases: text, locale }: PageMessages,
): Html {
  return html`<header><h2 id="purchase-${id}">${productList.getName(tier)}</h2><span class="badge${LOOKS[status]}">${text.status[status]}</span><span class="soft">${text.bought} ${day(created_at, locale)}</span></header>`
}

function withdrawalLines(
  { id, waiver_json: waiver }: PurchaseRow,
  canWithdraw: boolean,
  { purchases: text, locale }: PageMessages,
): Html {
  return html`${canWithdraw && html`<p class="soft"><a href="/withdraw?order=${id}">${text.withdraw}</a></p>`}
${waiver && html`<p class="soft">${text.waived(day(waiver.at, locale), waiver.at.slice(11, 16), waiver.version)}</p>`}`
}

function productCard(
  productList: ProductList,
  product: OwnedProduct,
  messages: PageMessages,
): Html {
  const { purchase, releases } = product
  const { purchases: text } = messages
  const { status } = purchase
  const served = releases.find((release) => release.isCovered)
  return html`<article class="card purchase" data-purchase="${purchase.id}" aria-labelledby="purchase-${purchase.id}">
${cardHeader(productList, purchase, messages)}
${status === 'completed' && actions(product, served?.version, messages)}
${status === 'disputed' && html`<div class="notice warn"><p>${text.disputed}</p></div>`}
${status === 'expired' && html`<div class="notice warn"><p>${text.usedUp(purchase.max_downloads)}</p></div>`}
${isEnded(purchase) && html`<div class="notice bad"><p>${text.ended}</p></div>`}
${status === 'upgraded' && html`<div class="notice"><p>${text.upgraded}</p></div>`}
${facts(product, served?.version, messages)}
${offerLinks(product, messages)}
${checksum(product, messages)}
${releases.length > 0 && releaseList(product, served?.version, messages)}
${isCurrent(purchase) && howToOpen(messages)}
${product.license && licenseSections(purchase, product.license, messages)}
${withdrawalLines(purchase, product.canWithdraw, messages)}
</article>`
}

const LOOKS: Record<PurchaseStatus, string> = {
  completed: '',
  expired: ' warn',
  disputed: ' warn',
  upgraded: '',
  refunded: ' bad',
  withdrawn: ' bad',
  revoked: ' bad',
}

function facts(
  { purchase, maskedKey, licenseKey, downloadsLeft, hasInvoice }: OwnedProduct,
  served: string | undefined,
  { purchases: text, locale }: PageMessages,
): Html {
  const { max_downloads: max, entitled_until: until } = purchase
  return html`<dl class="facts">
<div><dt>${text.licenseKey}</dt><dd><code>${maskedKey}</code>${!isEnded(purchase) && html`<details class="reveal"><summary>${text.showKey}</summary><span class="key" data-copy>${licenseKey}</span></details>`}</dd></div>
<div><dt>${served ? text.downloadsOf(served) : text.downloads}</dt><dd data-left aria-live="polite">${text.left(downloadsLeft, max)}<meter class="meter" min="0" max="${max}" value="${downloadsLeft}" aria-label="${text.downloadsLeft}">${downloadsLeft}</meter></dd></div>
${hasInvoice && html`<div><dt>${text.invoice}</dt><dd><a href="/api/purchases/${purchase.id}/invoice">${text.viewInvoice}</a></dd></div>`}
<div><dt>${text.updatesUntil}</dt><dd>${until === null ? text.noEnd : day(until, locale)}</dd></div>
</dl>`
}

function checksum({ file }: OwnedProduct, { purchases: text }: PageMessages): Html | false {
  if (!file?.sha256) return false
  return html`<details><summary>${text.checksum}</summary><p>${text.checksumOf} <code class="key">${file.sha256}</code><br><span class="soft">${text.compare}</span></p></details>`
}

function actions(
  { purchase, waitSeconds, file }: OwnedProduct,
  version: string | undefined,
  { purchases: text, locale }: PageMessages,
): Html {
  if (!version) return html`<div class="notice warn"><p>${text.notYet}</p></div>`
  const wait = waitSeconds > 0 ? html` data-wait-seconds="${waitSeconds}"` : ''
  return html`<div class="actions"><a class="button" href="/api/download?purchase_id=${purchase.id}" data-download${wait}>${text.download(version)}</a>
<span class="soft">${waitSeconds > 0 && html`<span data-wait>${text.started} ${text.next(waitSeconds)} </span>`}${file && `${bytes(file.sizeBytes, locale)}. `}${text.resume}</span></div>`
}

function offerLinks(
  { purchase, offers }: OwnedProduct,
  { purchases: text, locale }: PageMessages,
): Html | false {
  const { upgrades, renewal } = offers
  if (upgrades.length === 0 && !renewal) return false
  const price = ({ amount_cents, currency }: { amount_cents: number; currency: string }) =>
    formatMoney(inUnits(amount_cents, currency), currency, { short: true, locale })
  return html`<p class="actions">${upgrades.map(
    (upgrade) =>
      html`<a class="button quiet" href="/api/checkout?tier=${upgrade.tier}&from=${purchase.id}">${upgrade.amount_cents === 0 ? text.upgradeFree(upgrade.name) : text.upgrade(upgrade.name, price(upgrade))}</a>`,
  )}${
    renewal &&
    html`<a class="button quiet" href="/api/checkout?tier=${purchase.tier}&renew=${purchase.id}"><span>${text.renew(day(renewal.until, locale), price(renewal))}</span></a>`
  }</p>`
}

function releaseList(
  product: OwnedProduct,
  served: string | undefined,
  messages: PageMessages,
): Html {
  const { purchases: text, locale } = messages
  return html`<details><summary>${text.releases}</summary><ul>${product.releases.map(
    (release) =>
      html`<li><strong>${release.version}</strong>, ${day(release.publishedAt, locale)}${release.version === served ? text.yours : release.isCovered ? olderDownload(product, release, messages) : text.notCovered}${release.notes && html`<div class="prose soft">${markdown(release.notes, { heading: 3 })}</div>`}</li>`,
  )}</ul></details>`
}

/** Each release has its own downloads. */
function olderDownload(
  { purchase, waitSeconds }: OwnedProduct,
  { version, downloadsLeft: left }: OwnedProduct['releases'][number],
  { purchases: text }: PageMessages,
): Html | false {
  const { id, status, max_downloads: max } = purchase
  if (status !== 'completed' && status !== 'expired') return false
  const wait = waitSeconds > 0 ? html` data-wait-seconds="${waitSeconds}"` : ''
  return html`, <span data-left>${text.left(left, max)}</span> <span data-older>${left > 0 && html`<a class="button quiet" href="/api/download?purchase_id=${id}&version=${version}" data-download${wait}>${text.download(version)}</a>`}</span>`
}

function howToOpen({ purchases: text }: PageMessages): Html {
  return html`<details><summary>${text.open}</summary>
<p>${text.encrypted}</p>
<div class="systems">
<div data-system="windows"><h3>Windows</h3><p>${text.windows}</p></div>
<div data-system="macos"><h3>macOS</h3><p>${text.macos}</p></div>
<div data-system="linux"><h3>Linux</h3><p>${text.linux}</p></div>
</div></details>`
}

function history(
  productList: ProductList,
  { products, downloads }: Pick<Dashboard, 'products' | 'downloads'>,
  { purchases: text }: PageMessages,
): Html {
  if (downloads.length === 0) return html``
  const names = new Map(
    products.map(({ purchase }) => [purchase.id, productList.getName(purchase.tier)]),
  )
  return html`<section class="card history" aria-labelledby="history"><h2 id="history">${text.history}</h2>
<div class="scroll" tabindex="0" role="group" aria-label="${text.history}"><table><thead><tr>${[text.when, text.product, text.version, text.address, text.country].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${downloads.map(
    (row) =>
      html`<tr><td>${row.downloaded_at.slice(0, 16).replace('T', ' ')}</td><td>${names.get(row.purchase_id)}</td><td>${row.version}</td><td>${row.ip_address}</td><td>${row.country ?? '–'}</td></tr>`,
  )}</tbody></table></div></section>`
}
