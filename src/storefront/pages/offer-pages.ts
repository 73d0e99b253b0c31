import { type Html, html } from '#platform/http/html.ts'
import { currencyName } from '#platform/money.ts'
import type { PageMessages } from '../messages/pages.ts'
import type { ReleaseFiles } from '../products/releases.ts'
import { bundleContents } from './bundle-contents.ts'
import { comparisonTable } from './comparison.ts'
import { describeContents } from './file-tree.ts'
import { formatPrice, labelBuying } from './formats.ts'
import { cutIntroduction, markdown } from './markdown.ts'
import { type Offer, withCode } from './offers.ts'
import { type PlanCardParts, planSection } from './plan-cards.ts'

export type PricingParts = PlanCardParts & { offers: Offer[]; isCanceled: boolean }

export function pricingPage({ offers, isCanceled, code, ...parts }: PricingParts): Html {
  const { messages } = parts
  const text = messages.pricing
  const products = offers.map(({ product }) => product)
  const comparison = comparisonTable(products, { current: null, code }, messages)
  const hasPlans = parts.plans.length > 0
  return html`<div class="wrap">
${isCanceled && html`<div class="notice warn" role="status"><p><strong>${text.cancelled}</strong> ${text.notCharged}</p></div>`}
${code !== null && html`<div class="notice" role="status"><p>${text.codeBefore} <strong>${code}</strong> ${text.codeAfter}</p></div>`}
${
  hasPlans &&
  html`<div class="hero"><h1>${text.title}</h1><p class="lead">${offers.length > 0 ? text.planOrProduct : text.cancelAnytime}</p></div>
${planSection({ ...parts, code })}`
}
${
  hasPlans
    ? offers.length > 0 &&
      html`<section class="part" aria-labelledby="products"><h2 id="products">${text.once}</h2><p class="lead">${describeTerms(offers, messages)}</p>${tierCards(offers, code, messages)}</section>`
    : html`<div class="hero"><h1>${text.once}</h1><p class="lead">${offers.length === 0 ? text.nothing : describeTerms(offers, messages)}</p></div>${tierCards(offers, code, messages)}`
}
${comparison && html`<section class="part" aria-labelledby="compare"><h2 id="compare">${text.compare}</h2>${comparison}</section>`}
</div>`
}

function describeTerms(offers: Offer[], { pricing: text, locale }: PageMessages): string {
  const currencies = new Set(offers.map(({ product }) => currencyName(product.currency, locale)))
  return [
    isLadder(listTiers(offers)) ? text.ladder : '',
    text.currencies(new Intl.ListFormat(locale).format(currencies)),
  ].join('')
}

const listTiers = (offers: Offer[]) => offers.filter(({ members }) => members.length === 0)

/** Returns true when each tier includes the one before. */
const isLadder = (tiers: Offer[]) =>
  tiers.length > 1 && tiers.slice(1).every(({ product }) => product.includes !== null)

/**
 * Shows the products side by side. Of three or more tiers that each include the one before, the
 * middle one is recommended.
 */
export function tierCards(offers: Offer[], code: string | null, messages: PageMessages): Html {
  const tiers = listTiers(offers)
  const picked = tiers.length > 2 && isLadder(tiers) ? tiers[tiers.length >> 1] : undefined
  return html`<div class="tiers">${offers.map((offer) => tierCard(offer, { isPicked: offer === picked, code, messages }))}</div>`
}

type CardOptions = { isPicked: boolean; code: string | null; messages: PageMessages }

/** The product's page asks for the consent that a purchase needs, so the button leads there. */
function tierCard(
  { product, isOwned, isForSale, members, release }: Offer,
  { isPicked, code, messages }: CardOptions,
): Html {
  const { pricing: text } = messages
  const { tier, slug, name, description, includes, images, features } = product
  const page = withCode(`/products/${slug}`, code)
  return html`<section class="card tier${isPicked ? ' picked' : ''}" aria-labelledby="tier-${tier}">
${isPicked && html`<span class="flag">${text.recommended}</span>`}
${images.map((address) => html`<img src="${address}" alt="" width="640" height="400" loading="lazy" decoding="async">`)}
<h2 id="tier-${tier}"><a href="${page}">${name}</a></h2>
<div class="soft">${markdown(cutIntroduction(description))}</div>
<p class="price">${formatPrice(product, messages)}</p>
<p class="once">${product.free === null ? text.oneTime : text.freeTerms[product.free]}</p>
${members.length > 0 && bundleContents(members, code, messages)}
<ul class="ticks">${includes && html`<li class="all">${includes}</li>`}${features.map((feature) => html`<li>${feature}</li>`)}</ul>
${release && contentsLine(page, name, release, messages)}
${
  isOwned
    ? html`<a class="button quiet" href="/dashboard">${text.toDownload}</a>`
    : isForSale
      ? html`<a class="button${isPicked ? '' : ' quiet'}" href="${page}#buy">${labelBuying(product, messages)}</a>`
      : html`<p class="soft">${text.comingSoon}</p>`
}
</section>`
}

/** Names the first files of the ZIP in one line. */
function contentsLine(
  page: string,
  name: string,
  release: ReleaseFiles,
  messages: PageMessages,
): Html {
  const { files, topNames } = describeContents(release.files, messages)
  const text = messages.pricing
  const count = messages.files.count(files)
  return html`<p class="contents">${text.inTheZip} ${topNames.map((one) => html`<code>${one}</code> `)}<a href="${page}#files" aria-label="${text.allFilesOf(count, name)}">${text.allFiles(count)}</a></p>`
}
