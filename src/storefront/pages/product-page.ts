/** The page of one product: what it is, what its ZIP contains, and how to buy it. */
import type { CatalogueProduct } from '#catalogue/catalogue.ts'
import type { Config } from '#config/config.ts'
import { type Html, html, raw } from '#platform/http/html.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import type { PageMessages } from '../messages/pages.ts'
import type { Release, ReleaseFiles } from '../products/releases.ts'
import { WAIVERS } from '../withdrawals/waiver.ts'
import { bundleContents } from './bundle-contents.ts'
import { changelogPreview } from './changelog.ts'
import { comparisonTable } from './comparison.ts'
import { describeContents } from './file-tree.ts'
import { bytes, day, formatPrice, labelBuying } from './formats.ts'
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
  messages: PageMessages
}

export function productPage(parts: ProductPageParts): Html {
  const { brand, offer, products, releases, code, messages } = parts
  const text = messages.product
  const { product, release } = offer
  const { name, description, gallery, features, includes, faq, terms } = product
  return html`<div class="wrap">
<nav class="crumbs" aria-label="${text.breadcrumb}"><a href="/pricing">${text.products}</a> <span aria-hidden="true">/</span> <span aria-current="page">${name}</span></nav>
<div class="product">
<div class="product-head">
<p class="eyebrow">${brand}</p>
<h1>${name}</h1>
<div class="prose lead">${markdown(description, { heading: 2 })}</div>
</div>
${buyBox(parts)}
<div class="product-body">
${gallery.length > 0 && renderGallery(gallery)}
${section('inside', text.inside, offer.members.length > 0 && bundleContents(offer.members, code, messages))}
${section('features', text.features, (includes !== null || features.length > 0) && html`<ul class="ticks columns">${includes !== null && html`<li class="all">${includes}</li>`}${features.map((feature) => html`<li>${feature}</li>`)}</ul>`)}
${section('files', text.files, release && renderFiles(release, messages))}
${section('changelog', text.changelog, releases.length > 0 && changelogPreview(product, releases, messages))}
${section('compare', messages.pricing.compare, comparisonTable(products, { current: product.tier, code }, messages))}
${section('faq', text.questions, faq.length > 0 && faq.map(({ question, answer }) => html`<details><summary>${question}</summary><div class="prose">${markdown(answer, { heading: 3 })}</div></details>`))}
${section('terms', text.terms, terms !== '' && html`<div class="prose">${markdown(terms, { heading: 3 })}</div>`)}
${offer.isForSale && !offer.isOwned && html`<p class="buy-below"><a class="button wide" href="#buy">${labelBuying(product, messages)}</a></p>`}
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

function renderFiles({ version, publishedAt, files }: ReleaseFiles, messages: PageMessages): Html {
  const contents = describeContents(files, messages)
  return html`<p class="soft">${messages.product.release(version)} ${day(publishedAt, messages.locale)}: ${messages.files.count(contents.files)}, ${bytes(contents.sizeBytes, messages.locale)}.</p>
<div class="tree">${contents.tree}</div>`
}

function buyBox({ offer, code, tax, upgrades, legalPages, messages }: ProductPageParts): Html {
  const { product: text, pricing, locale } = messages
  const { product, isOwned, isForSale, members, release } = offer
  const { free, currency, updatesMonths, renewalPrice } = product
  const money = (amount: number) => formatMoney(amount, currency, { short: true, locale })
  return html`<aside class="card buy" id="buy" aria-label="${labelBuying(product, messages)}">
<p class="price">${formatPrice(product, messages)}</p>
<p class="once">${free === null ? `${pricing.oneTime}${text.taxNotes[tax.by === 'off' ? 'off' : tax.behavior]}` : pricing.freeTerms[free]}</p>
${isOwned ? html`<p><a class="button wide" href="/dashboard">${pricing.toDownload}</a></p>` : isForSale ? buyForm({ offer, code, tax, messages }) : html`<p class="notice">${text.notYet}</p>`}
${upgrades.map(({ fromId, fromName, cents, currency }) => html`<p><a class="button quiet wide" href="/api/checkout?tier=${product.tier}&amp;from=${fromId}">${cents === 0 ? text.upgradeFree(fromName) : text.upgrade(fromName, formatMoney(inUnits(cents, currency), currency, { short: true, locale }))}</a></p>`)}
<ul class="ticks">
${release && html`<li>${text.version(release.version)} ${day(release.publishedAt, locale)}</li>`}
<li>${members.length > 0 ? text.updatesOfEach : updatesMonths === null ? text.allUpdates : text.updates(updatesMonths)}${updatesMonths !== null && renewalPrice !== null && text.thenAgain(money(renewalPrice), updatesMonths)}</li>
<li>${members.length > 0 ? text.atOnceBundle : text.atOnce}</li>
${free === null && html`<li>${text.withdraw}</li>`}
</ul>
${legalPages.length > 0 && html`<p class="soft small">${legalPages.map(({ path, title }, index) => html`${index > 0 && ' · '}<a href="${path}">${title}</a>`)}</p>`}
</aside>`
}

/** A plain form, so that the consent and the code reach the checkout without a script. */
function buyForm({
  offer,
  code,
  tax,
  messages,
}: Pick<ProductPageParts, 'offer' | 'code' | 'tax' | 'messages'>): Html {
  const { pricing, locale } = messages
  const { tier, free } = offer.product
  return html`<form method="get" action="/checkout">
<input type="hidden" name="tier" value="${tier}">
${code !== null && free === null && html`<input type="hidden" name="code" value="${code}"><p class="notice">${pricing.codeBefore} <strong>${code}</strong> ${pricing.codeAfter}</p>`}
${
  // With Stripe Tax, the payment page asks for the same consent.
  tax.by !== 'stripe' &&
  free === null &&
  html`<p class="check"><input type="checkbox" id="waiver" name="waiver" value="${WAIVERS[locale].version}"><label for="waiver">${WAIVERS[locale].text} ${messages.product.optional}</label></p>`
}
<button class="button wide">${labelBuying(offer.product, messages)}</button>
</form>`
}
