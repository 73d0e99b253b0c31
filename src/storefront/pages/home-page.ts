/** The home page. The operator's `_home.md`, beside the products, replaces its heading and text. */
import type { PlanView } from '#billing/plans.ts'
import { type Html, html } from '#platform/http/html.ts'
import type { PageMessages } from '../messages/pages.ts'
import { type LegalDeps, parsePage, readInTime } from './legal-pages.ts'
import { markdown } from './markdown.ts'
import { tierCards } from './offer-pages.ts'
import { listOffers, type Offer, type OfferDeps } from './offers.ts'
import { listSoldPlans, type PlanCardParts, type PlanDeps, planSection } from './plan-cards.ts'

type HomeText = { title: string; eyebrow: string | null; text: string }
type Home = { text: HomeText; offers: Offer[]; plans: readonly PlanView[] }

const FILE = '_home.md'

/** Reads what the home page shows. Plans are in their place while no product is sold. */
export async function readHome(
  deps: LegalDeps & OfferDeps & PlanDeps,
  userId: string | null,
  messages: PageMessages,
): Promise<Home> {
  const [offers, plans, own] = await Promise.all([
    listOffers(deps, userId),
    deps.productList.sold.length === 0 ? listSoldPlans(deps) : [],
    readInTime(deps, () => deps.products.text(FILE), null),
  ])
  const { name } = deps.config.brand
  const text =
    own === null
      ? chooseText(deps, messages, { hasPlans: plans.length > 0 })
      : { ...parsePage(name, own), eyebrow: null }
  return { text, offers, plans }
}

function chooseText(
  { config, productList }: OfferDeps,
  { home: text }: PageMessages,
  { hasPlans }: { hasPlans: boolean },
): HomeText {
  const { name } = config.brand
  if (productList.isBuiltIn) return { ...text.builtIn, eyebrow: text.eyebrow(name) }
  if (productList.sold.length > 0) return { ...text.general, eyebrow: name }
  return { ...(hasPlans ? text.plansOnly : text.nothing), eyebrow: name }
}

type HomeParts = Home & PlanCardParts

export function homePage({ text, offers, ...parts }: HomeParts): Html {
  return html`<div class="wrap">
<div class="hero">
${text.eyebrow && html`<p class="eyebrow">${text.eyebrow}</p>`}
<h1>${text.title}</h1>
<div class="lead prose">${markdown(text.text, { heading: 2 })}</div>
</div>
${offers.length > 0 ? productOffers(offers, parts) : parts.plans.length > 0 && planSection(parts)}
</div>`
}

function productOffers(
  offers: Offer[],
  { code, messages }: Pick<HomeParts, 'code' | 'messages'>,
): Html {
  const text = messages.home
  return html`${tierCards(offers, code, messages)}
<section class="points" aria-label="${text.points}">
<div><h3>${text.delivery}</h3><p>${text.deliveryText}</p></div>
${describeUpdates(offers, messages)}
<div><h3>${text.recovery}</h3><p>${text.recoveryText}</p></div>
</section>`
}

/** Says nothing when the products differ. */
function describeUpdates(offers: Offer[], { home: text }: PageMessages): Html | false {
  const products = offers.filter(({ members }) => members.length === 0)
  const [months, ...others] = new Set(products.map(({ product }) => product.updatesMonths))
  if (months === undefined || others.length > 0) return false
  if (months === null) {
    return html`<div><h3>${text.withoutEnd}</h3><p>${text.withoutEndText}</p></div>`
  }
  return html`<div><h3>${text.updates(months)}</h3><p>${text.updatesText(months)}</p></div>`
}
