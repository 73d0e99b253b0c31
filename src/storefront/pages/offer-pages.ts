import { type Html, html } from '#platform/http/html.ts'
import { OFFERS } from '#storefront/offers.ts'
import { type ProductTier, TIERS } from '#storefront/products/releases.ts'

const PICKED: ProductTier = 'pro'

/** What a visitor owns already, and what can be bought at all. */
export type Offered = { owned: ProductTier[]; forSale: ProductTier[] }

export function homePage(brand: string, offered: Offered): Html {
  return html`<div class="wrap">
<div class="hero">
<p class="eyebrow">${brand} starter kits</p>
<h1>Ship your AI product this month, not next year.</h1>
<p class="lead">Accounts, payments, retrieval and deployment, written once and tested, with the source in your hands. Pay once, keep it, and get every update for twelve months.</p>
</div>
${tierCards(offered)}
<section class="points" aria-label="What every purchase includes">
<div><h3>Yours from the first minute</h3><p>An encrypted ZIP and a license key, by mail and in your purchases, as soon as the payment is made.</p></div>
<div><h3>Twelve months of updates</h3><p>Every release of the next year is part of the price. What was published in that time stays available.</p></div>
<div><h3>No surprises</h3><p>Five downloads, each resumable when the line breaks. Lost your key? It is one mail away.</p></div>
</section>
</div>`
}

export function pricingPage(offered: Offered, canceled: boolean): Html {
  return html`<div class="wrap">
${canceled && html`<div class="notice warn" role="status"><p><strong>The checkout was canceled.</strong> Nothing was charged. Your choice is still here whenever you are ready.</p></div>`}
<div class="hero"><h1>One price, paid once</h1><p class="lead">Each tier holds everything of the one before it. Prices are in US dollars; promotion codes go into the checkout.</p></div>
${tierCards(offered)}
</div>`
}

function tierCards({ owned, forSale }: Offered): Html {
  return html`<div class="tiers">${TIERS.map((tier) => tierCard(tier, owned.includes(tier), forSale.includes(tier)))}</div>`
}

function tierCard(tier: ProductTier, isOwned: boolean, isForSale: boolean): Html {
  const { name, priceUsd, pitch, includes, features } = OFFERS[tier]
  const isPicked = tier === PICKED
  return html`<section class="card tier${isPicked ? ' picked' : ''}" aria-labelledby="tier-${tier}">
${isPicked && html`<span class="flag">Recommended</span>`}
<h2 id="tier-${tier}">${name}</h2>
<p class="soft">${pitch}</p>
<p class="price">$${priceUsd}</p>
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
