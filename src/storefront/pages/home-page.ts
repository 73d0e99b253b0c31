/** The home page. The operator's `_home.md`, beside the products, replaces its heading and text. */
import { type Html, html } from '#platform/http/html.ts'
import type { ProductList } from '../products/product-list.ts'
import { type LegalDeps, parsePage, readInTime } from './legal-pages.ts'
import { markdown } from './markdown.ts'
import { tierCards } from './offer-pages.ts'
import type { Offer } from './offers.ts'

export type HomeText = { title: string; eyebrow: string | null; text: string }

const FILE = '_home.md'

/** Describes the built-in products. */
const BUILT_IN = {
  title: 'Ship your AI product this month, not next year.',
  text: 'Accounts, payments, retrieval and deployment, tested and with full source code. Pay once, keep it forever, and get updates for twelve months.',
}
const GENERAL = {
  title: 'Buy once, keep it forever',
  text: 'One payment, no subscription. Download at once, and update as long as your updates last.',
}

export async function readHomeText(
  deps: LegalDeps & { productList: ProductList },
  brand: string,
): Promise<HomeText> {
  const own = await readInTime(deps, () => deps.products.text(FILE), null)
  if (own !== null) return { ...parsePage(brand, own), eyebrow: null }
  return deps.productList.isBuiltIn
    ? { ...BUILT_IN, eyebrow: `${brand} starter kits` }
    : { ...GENERAL, eyebrow: brand }
}

type HomeParts = { home: HomeText; offers: Offer[]; code: string | null }

export function homePage({ home, offers, code }: HomeParts): Html {
  return html`<div class="wrap">
<div class="hero">
${home.eyebrow && html`<p class="eyebrow">${home.eyebrow}</p>`}
<h1>${home.title}</h1>
<div class="lead prose">${markdown(home.text, { heading: 2 })}</div>
</div>
${tierCards(offers, code)}
<section class="points" aria-label="What every purchase includes">
<div><h3>Instant delivery</h3><p>Download an encrypted ZIP when you have paid. We email you the license key.</p></div>
${describeUpdates(offers)}
<div><h3>Easy to recover</h3><p>Five downloads of each release, which you can resume if the connection fails. Lost your key? We’ll email it to you.</p></div>
</section>
</div>`
}

/** Says nothing when the products differ. */
function describeUpdates(offers: Offer[]): Html | false {
  const [months, ...others] = new Set(offers.map(({ product }) => product.updatesMonths))
  if (months === undefined || others.length > 0) return false
  if (months === null) {
    return html`<div><h3>Updates without end</h3><p>The price includes every future release.</p></div>`
  }
  const period = months === 1 ? 'month' : `${months} months`
  return html`<div><h3>${months === 1 ? 'A month' : period} of updates</h3><p>The price includes every release of the next ${period}. You can still download them later.</p></div>`
}
