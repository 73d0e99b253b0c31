import { type Html, html } from '#platform/http/html.ts'
import { currencyName, formatMoney } from '#platform/money.ts'
import { markdown } from './markdown.ts'
import type { Offer } from './offers.ts'

export function homePage(brand: string, offers: Offer[]): Html {
  return html`<div class="wrap">
<div class="hero">
<p class="eyebrow">${brand} starter kits</p>
<h1>Ship your AI product this month, not next year.</h1>
<p class="lead">Accounts, payments, retrieval and deployment, written once and tested, with the source in your hands. Pay once, keep it, and get every update for twelve months.</p>
</div>
${tierCards(offers)}
<section class="points" aria-label="What every purchase includes">
<div><h3>Yours from the first minute</h3><p>An encrypted ZIP and a license key, by mail and in your purchases, as soon as the payment is made.</p></div>
<div><h3>Twelve months of updates</h3><p>Every release of the next year is part of the price. What was published in that time stays available.</p></div>
<div><h3>No surprises</h3><p>Five downloads, each resumable when the line breaks. Lost your key? It is one mail away.</p></div>
</section>
</div>`
}

export function pricingPage(offers: Offer[], canceled: boolean): Html {
  return html`<div class="wrap">
${canceled && html`<div class="notice warn" role="status"><p><strong>The checkout was canceled.</strong> Nothing was charged. Your choice is still here whenever you are ready.</p></div>`}
<div class="hero"><h1>One price, paid once</h1><p class="lead">${offers.length === 0 ? 'Nothing is for sale at the moment.' : describeTerms(offers)}</p></div>
${tierCards(offers)}
</div>`
}

function describeTerms(offers: Offer[]): string {
  const isLadder =
    offers.length > 1 && offers.slice(1).every(({ product }) => product.includes !== null)
  const currencies = new Set(offers.map(({ product }) => currencyName(product.currency)))
  return [
    isLadder ? 'Each tier holds everything of the one before it. ' : '',
    `Prices are in ${new Intl.ListFormat('en').format(currencies)}; promotion codes go into the checkout.`,
  ].join('')
}

/** With three or more offers, the middle one is recommended. */
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
<p class="once">one payment, no subscription</p>
<ul class="ticks">${includes && html`<li class="all">${includes}</li>`}${features.map((feature) => html`<li>${feature}</li>`)}</ul>
${
  isOwned
    ? html`<a class="button quiet" href="/dashboard">You own this: go to your download</a>`
    : isForSale
      ? html`<a class="button${isPicked ? '' : ' quiet'}" href="/api/checkout?tier=${tier}">Buy ${name}</a>`
      : html`<p class="soft">Coming soon</p>`
}
</section>`
}
