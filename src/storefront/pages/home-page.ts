/** The home page. The operator's `_home.md`, beside the products, replaces its heading and text. */
import { type Html, html } from '#platform/http/html.ts'
import type { PageMessages } from '../messages/pages.ts'
import type { ProductList } from '../products/product-list.ts'
import { type LegalDeps, parsePage, readInTime } from './legal-pages.ts'
import { markdown } from './markdown.ts'
import { tierCards } from './offer-pages.ts'
import type { Offer } from './offers.ts'

export type HomeText = { title: string; eyebrow: string | null; text: string }

const FILE = '_home.md'

export async function readHomeText(
  deps: LegalDeps & { productList: ProductList },
  brand: string,
  { home: text }: PageMessages,
): Promise<HomeText> {
  const own = await readInTime(deps, () => deps.products.text(FILE), null)
  if (own !== null) return { ...parsePage(brand, own), eyebrow: null }
  return deps.productList.isBuiltIn
    ? { ...text.builtIn, eyebrow: text.eyebrow(brand) }
    : { ...text.general, eyebrow: brand }
}

type HomeParts = {
  home: HomeText
  offers: Offer[]
  code: string | null
  messages: PageMessages
}

export function homePage({ home, offers, code, messages }: HomeParts): Html {
  const text = messages.home
  return html`<div class="wrap">
<div class="hero">
${home.eyebrow && html`<p class="eyebrow">${home.eyebrow}</p>`}
<h1>${home.title}</h1>
<div class="lead prose">${markdown(home.text, { heading: 2 })}</div>
</div>
${tierCards(offers, code, messages)}
<section class="points" aria-label="${text.points}">
<div><h3>${text.delivery}</h3><p>${text.deliveryText}</p></div>
${describeUpdates(offers, messages)}
<div><h3>${text.recovery}</h3><p>${text.recoveryText}</p></div>
</section>
</div>`
}

/** Says nothing when the products differ. */
function describeUpdates(offers: Offer[], { home: text }: PageMessages): Html | false {
  const [months, ...others] = new Set(offers.map(({ product }) => product.updatesMonths))
  if (months === undefined || others.length > 0) return false
  if (months === null) {
    return html`<div><h3>${text.withoutEnd}</h3><p>${text.withoutEndText}</p></div>`
  }
  return html`<div><h3>${text.updates(months)}</h3><p>${text.updatesText(months)}</p></div>`
}
