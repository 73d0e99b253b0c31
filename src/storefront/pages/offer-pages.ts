import { type Html, html } from '#platform/http/html.ts'
import { currencyName, formatMoney } from '#platform/money.ts'
import { comparisonTable } from './comparison.ts'
import { countFiles, listTopNames } from './file-tree.ts'
import { markdown } from './markdown.ts'
import { type Offer, withCode } from './offers.ts'

export const HOME_LEAD =
  'Accounts, payments, retrieval and deployment, tested and with full source code. Pay once, keep it forever, and get updates for twelve months.'

export function homePage(brand: string, offers: Offer[], code: string | null): Html {
  return html`<div class="wrap">
<div class="hero">
<p class="eyebrow">${brand} starter kits</p>
<h1>Ship your AI product this month, not next year.</h1>
<p class="lead">${HOME_LEAD}</p>
</div>
${tierCards(offers, code)}
<section class="points" aria-label="What every purchase includes">
<div><h3>Instant delivery</h3><p>Download an encrypted ZIP when you have paid. We email you the license key.</p></div>
<div><h3>Twelve months of updates</h3><p>The price includes every release of the next twelve months. You can still download them later.</p></div>
<div><h3>Easy to recover</h3><p>Five downloads, which you can resume if the connection fails. Lost your key? We’ll email it to you.</p></div>
</section>
</div>`
}

export type PricingParts = { offers: Offer[]; isCanceled: boolean; code: string | null }

export function pricingPage({ offers, isCanceled, code }: PricingParts): Html {
  const products = offers.map(({ product }) => product)
  const comparison = comparisonTable(products, { current: null, code })
  return html`<div class="wrap">
${isCanceled && html`<div class="notice warn" role="status"><p><strong>Checkout cancelled.</strong> You were not charged.</p></div>`}
${code !== null && html`<div class="notice" role="status"><p>Code <strong>${code}</strong> is applied at checkout.</p></div>`}
<div class="hero"><h1>Pay once, no subscription</h1><p class="lead">${offers.length === 0 ? 'No products are for sale at the moment.' : describeTerms(offers)}</p></div>
${tierCards(offers, code)}
${comparison && html`<section class="part" aria-labelledby="compare"><h2 id="compare">Compare</h2>${comparison}</section>`}
</div>`
}

function describeTerms(offers: Offer[]): string {
  const isLadder =
    offers.length > 1 && offers.slice(1).every(({ product }) => product.includes !== null)
  const currencies = new Set(offers.map(({ product }) => currencyName(product.currency)))
  return [
    isLadder ? 'Each tier includes everything in the tier before it. ' : '',
    `Prices are in ${new Intl.ListFormat('en').format(currencies)}. You can enter a promotion code at checkout.`,
  ].join('')
}

/** With three or more products, the middle one is recommended. */
function tierCards(offers: Offer[], code: string | null): Html {
  const picked = offers.length > 2 ? offers[offers.length >> 1] : undefined
  return html`<div class="tiers">${offers.map((offer) => tierCard(offer, { isPicked: offer === picked, code }))}</div>`
}

type CardOptions = { isPicked: boolean; code: string | null }

/** The product's page asks for the consent that a purchase needs, so the button leads there. */
function tierCard(
  { product, isOwned, isForSale, release }: Offer,
  { isPicked, code }: CardOptions,
): Html {
  const { tier, slug, name, price, currency, description, includes, images, features } = product
  const page = withCode(`/products/${slug}`, code)
  return html`<section class="card tier${isPicked ? ' picked' : ''}" aria-labelledby="tier-${tier}">
${isPicked && html`<span class="flag">Recommended</span>`}
${images.map((address) => html`<img src="${address}" alt="" width="640" height="400" loading="lazy" decoding="async">`)}
<h2 id="tier-${tier}"><a href="${page}">${name}</a></h2>
<div class="soft">${markdown(description)}</div>
<p class="price">${formatMoney(price, currency, { short: true })}</p>
<p class="once">one-time payment</p>
<ul class="ticks">${includes && html`<li class="all">${includes}</li>`}${features.map((feature) => html`<li>${feature}</li>`)}</ul>
${release && contentsLine(page, name, release)}
${
  isOwned
    ? html`<a class="button quiet" href="/dashboard">Go to your download</a>`
    : isForSale
      ? html`<a class="button${isPicked ? '' : ' quiet'}" href="${page}#buy">Buy ${name}</a>`
      : html`<p class="soft">Coming soon</p>`
}
</section>`
}

const TOP_NAMES_MAX = 3

/** Names the first files of the ZIP in one line. */
function contentsLine(page: string, name: string, { files }: NonNullable<Offer['release']>): Html {
  const names = listTopNames(files.map(({ path }) => path))
  const shown = names.slice(0, TOP_NAMES_MAX)
  return html`<p class="contents">In the ZIP: ${shown.map((one) => html`<code>${one}</code> `)}<a href="${page}#files" aria-label="All ${countFiles(files.length)} of ${name}">all ${countFiles(files.length)}</a></p>`
}
