import { type Html, html } from '#platform/http/html.ts'
import { currencyName, formatMoney } from '#platform/money.ts'
import type { ReleaseFiles } from '../products/releases.ts'
import { comparisonTable } from './comparison.ts'
import { countFiles, describeContents } from './file-tree.ts'
import { cutIntroduction, markdown } from './markdown.ts'
import { type Offer, withCode } from './offers.ts'
import { type PlanCardParts, planCards } from './plan-cards.ts'

export type PricingParts = PlanCardParts & { offers: Offer[]; isCanceled: boolean }

export function pricingPage({ offers, isCanceled, code, ...parts }: PricingParts): Html {
  const products = offers.map(({ product }) => product)
  const comparison = comparisonTable(products, { current: null, code })
  const hasPlans = parts.plans.length > 0
  return html`<div class="wrap">
${isCanceled && html`<div class="notice warn" role="status"><p><strong>Checkout cancelled.</strong> You were not charged.</p></div>`}
${code !== null && html`<div class="notice" role="status"><p>Code <strong>${code}</strong> is applied at checkout.</p></div>`}
${
  hasPlans &&
  html`<div class="hero"><h1>Pricing</h1><p class="lead">${offers.length > 0 ? 'Subscribe to a plan, or pay once for a product.' : 'Cancel at any time; your plan then lasts until its period ends.'}</p></div>
<section class="part" aria-labelledby="plans"><h2 id="plans">Plans</h2>${planCards({ ...parts, code })}</section>`
}
${
  hasPlans
    ? offers.length > 0 &&
      html`<section class="part" aria-labelledby="products"><h2 id="products">Pay once, no subscription</h2><p class="lead">${describeTerms(offers)}</p>${tierCards(offers, code)}</section>`
    : html`<div class="hero"><h1>Pay once, no subscription</h1><p class="lead">${offers.length === 0 ? 'No products are for sale at the moment.' : describeTerms(offers)}</p></div>${tierCards(offers, code)}`
}
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

/** Shows the products side by side. With three or more products, the middle one is recommended. */
export function tierCards(offers: Offer[], code: string | null): Html {
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
<div class="soft">${markdown(cutIntroduction(description))}</div>
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

/** Names the first files of the ZIP in one line. */
function contentsLine(page: string, name: string, release: ReleaseFiles): Html {
  const { files, topNames } = describeContents(release.files)
  return html`<p class="contents">In the ZIP: ${topNames.map((one) => html`<code>${one}</code> `)}<a href="${page}#files" aria-label="All ${countFiles(files)} of ${name}">all ${countFiles(files)}</a></p>`
}
