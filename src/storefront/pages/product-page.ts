/** The page of one product: what it is, what its ZIP contains, and how to buy it. */
import type { CatalogueProduct } from '#catalogue/catalogue.ts'
import type { Config } from '#config/config.ts'
import { type Html, html, raw } from '#platform/http/html.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import type { Release, ReleaseFiles } from '../products/releases.ts'
import { WAIVERS } from '../withdrawals/waiver.ts'
import { changelogPreview } from './changelog.ts'
import { comparisonTable } from './comparison.ts'
import { countFiles, describeContents } from './file-tree.ts'
import { bytes, day } from './formats.ts'
import type { LegalPage } from './legal-pages.ts'
import { markdown } from './markdown.ts'
import type { Offer } from './offers.ts'

export type ProductPageParts = {
  brand: string
  offer: Offer
  /** All products on sale, for the comparison. */
  products: readonly CatalogueProduct[]
  releases: readonly Release[]
  /** The visitor's purchases that can become this product, with the prices. */
  upgrades: readonly { fromId: string; fromName: string; cents: number; currency: string }[]
  /** A promotion code that the link carried. */
  code: string | null
  tax: Config['processor']['tax']
  legalPages: readonly LegalPage[]
}

export function productPage(parts: ProductPageParts): Html {
  const { brand, offer, products, releases, code } = parts
  const { product, release } = offer
  const { name, description, gallery, features, includes, faq, terms } = product
  return html`<div class="wrap">
<nav class="crumbs" aria-label="Breadcrumb"><a href="/pricing">Products</a> <span aria-hidden="true">/</span> <span aria-current="page">${name}</span></nav>
<div class="product">
<div class="product-head">
<p class="eyebrow">${brand}</p>
<h1>${name}</h1>
<div class="prose lead">${markdown(description, { heading: 2 })}</div>
</div>
${buyBox(parts)}
<div class="product-body">
${gallery.length > 0 && renderGallery(gallery)}
${section('features', 'What you get', (includes !== null || features.length > 0) && html`<ul class="ticks columns">${includes !== null && html`<li class="all">${includes}</li>`}${features.map((feature) => html`<li>${feature}</li>`)}</ul>`)}
${section('files', 'What’s in the ZIP', release && renderFiles(release))}
${section('changelog', 'Changelog', releases.length > 0 && changelogPreview(product, releases))}
${section('compare', 'Compare', comparisonTable(products, { current: product.tier, code }))}
${section('faq', 'Questions', faq.length > 0 && faq.map(({ question, answer }) => html`<details><summary>${question}</summary><div class="prose">${markdown(answer, { heading: 3 })}</div></details>`))}
${section('terms', 'License terms', terms !== '' && html`<div class="prose">${markdown(terms, { heading: 3 })}</div>`)}
${offer.isForSale && !offer.isOwned && html`<p class="buy-below"><a class="button wide" href="#buy">Buy ${name}</a></p>`}
</div>
</div>
</div>`
}

function section(id: string, title: string, content: Html | Html[] | false | null): Html | false {
  if (content === false || content === null) return false
  return html`<section class="part" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${content}</section>`
}

/** Pictures keep their place while they load: the style sheet gives them one shape. */
function renderGallery(gallery: CatalogueProduct['gallery']): Html {
  return html`<div class="gallery">${gallery.map(
    ({ url, alt }, index) =>
      html`<a href="${url}"><img src="${url}" alt="${alt}" width="1600" height="1000" decoding="async"${index > 0 && raw(' loading="lazy"')}></a>`,
  )}</div>`
}

function renderFiles({ version, publishedAt, files }: ReleaseFiles): Html {
  const contents = describeContents(files)
  return html`<p class="soft">Release ${version} of ${day(publishedAt)}: ${countFiles(contents.files)}, ${bytes(contents.sizeBytes)}.</p>
<div class="tree">${contents.tree}</div>`
}

function buyBox({ offer, code, tax, upgrades, legalPages }: ProductPageParts): Html {
  const { product, isOwned, isForSale, release } = offer
  const { name, price, currency, updatesMonths, renewalPrice } = product
  const money = (amount: number) => formatMoney(amount, currency, { short: true })
  return html`<aside class="card buy" id="buy" aria-label="Buy ${name}">
<p class="price">${money(price)}</p>
<p class="once">one-time payment${TAX_NOTES[tax.by === 'off' ? 'off' : tax.behavior]}</p>
${isOwned ? html`<p><a class="button wide" href="/dashboard">Go to your download</a></p>` : isForSale ? buyForm({ offer, code, tax }) : html`<p class="notice">Coming soon. This product cannot be bought yet.</p>`}
${upgrades.map(({ fromId, fromName, cents, currency }) => html`<p><a class="button quiet wide" href="/api/checkout?tier=${product.tier}&amp;from=${fromId}">Upgrade from ${fromName} for ${formatMoney(inUnits(cents, currency), currency, { short: true })}</a></p>`)}
<ul class="ticks">
${release && html`<li>Version ${release.version}, of ${day(release.publishedAt)}</li>`}
<li>${updatesMonths === null ? 'All future updates' : `${updatesMonths === 1 ? '1 month' : `${updatesMonths} months`} of updates${renewalPrice === null ? '' : `, then ${money(renewalPrice)} for as many again`}`}</li>
<li>Download at once; the license key comes by email</li>
<li>Withdraw within 14 days</li>
</ul>
${legalPages.length > 0 && html`<p class="soft small">${legalPages.map(({ path, title }, index) => html`${index > 0 && ' · '}<a href="${path}">${title}</a>`)}</p>`}
</aside>`
}

const TAX_NOTES = {
  off: '',
  exclusive: ', plus the tax of your country',
  inclusive: ', tax included',
}

/** A plain form, so that the consent and the code reach the checkout without a script. */
function buyForm({ offer, code, tax }: Pick<ProductPageParts, 'offer' | 'code' | 'tax'>): Html {
  const { tier, name } = offer.product
  return html`<form method="get" action="/checkout">
<input type="hidden" name="tier" value="${tier}">
${code !== null && html`<input type="hidden" name="code" value="${code}"><p class="notice">Code <strong>${code}</strong> is applied at checkout.</p>`}
${
  // With Stripe Tax, the payment page asks for the same consent.
  tax.by !== 'stripe' &&
  html`<p class="check"><input type="checkbox" id="waiver" name="waiver" value="${WAIVERS.en.version}"><label for="waiver">${WAIVERS.en.text} (optional)</label></p>`
}
<button class="button wide">Buy ${name}</button>
</form>`
}
