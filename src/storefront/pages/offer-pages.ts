import { type Html, html } from '#platform/http/html.ts'
import { currencyName, formatMoney } from '#platform/money.ts'
import { markdown } from './markdown.ts'
import type { Offer } from './offers.ts'

export function homePage(brand: string, offers: Offer[]): Html {
  return html`<div class="wrap">
<div class="hero">
<p class="eyebrow">${brand} starter kits</p>
<h1>Ship your AI product this month, not next year.</h1>
<p class="lead">Accounts, payments, retrieval and deployment, tested and with full source code. Pay once, keep it forever, and get updates for twelve months.</p>
</div>
${tierCards(offers)}
<section class="points" aria-label="What every purchase includes">
<div><h3>Instant delivery</h3><p>Download an encrypted ZIP when you have paid. We email you the license key.</p></div>
<div><h3>Twelve months of updates</h3><p>The price includes every release of the next twelve months. You can still download them later.</p></div>
<div><h3>Easy to recover</h3><p>Five downloads, which you can resume if the connection fails. Lost your key? We’ll email it to you.</p></div>
</section>
</div>`
}

export function pricingPage(offers: Offer[], canceled: boolean): Html {
  return html`<div class="wrap">
${canceled && html`<div class="notice warn" role="status"><p><strong>Checkout cancelled.</strong> You were not charged.</p></div>`}
<div class="hero"><h1>Pay once, no subscription</h1><p class="lead">${offers.length === 0 ? 'No products are for sale at the moment.' : describeTerms(offers)}</p></div>
${tierCards(offers)}
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
function tierCards(offers: Offer[]): Html {
  const picked = offers.length > 2 ? offers[offers.length >> 1] : undefined
  return html`<div class="tiers">${offers.map((offer) => tierCard(offer, offer === picked))}</div>`
}

function tierCard({ product, isOwned, isForSale }: Offer, isPicked: boolean): Html {
  const { tier, name, price, currency, description, includes, images, features } = product
  return html`<section class="card tier${isPicked ? ' picked' : ''}" aria-labelledby="tier-${tier}">
${isPicked && html`<span class="flag">Recommended</span>`}
${images.map((address) => html`<img src="${address}" alt="" loading="lazy">`)}
<h2 id="tier-${tier}">${name}</h2>
<div class="soft">${markdown(description)}</div>
<p class="price">${formatMoney(price, currency, { short: true })}</p>
<p class="once">one-time payment</p>
<ul class="ticks">${includes && html`<li class="all">${includes}</li>`}${features.map((feature) => html`<li>${feature}</li>`)}</ul>
${
  isOwned
    ? html`<a class="button quiet" href="/dashboard">Go to your download</a>`
    : isForSale
      ? html`<a class="button${isPicked ? '' : ' quiet'}" href="/api/checkout?tier=${tier}">Buy ${name}</a>`
      : html`<p class="soft">Coming soon</p>`
}
</section>`
}
