/** What is in a bundle: its products with links and prices, and what they cost one by one. */
import type { CatalogueProduct } from '#catalogue/catalogue.ts'
import { type Html, html } from '#platform/http/html.ts'
import type { PageMessages } from '../messages/pages.ts'
import { formatAlone, formatPrice } from './formats.ts'
import { withCode } from './offers.ts'

export function bundleContents(
  members: readonly CatalogueProduct[],
  code: string | null,
  messages: PageMessages,
): Html {
  const alone = formatAlone(members, messages)
  return html`<ul class="ticks">${members.map((product) => html`<li><a href="${withCode(`/products/${product.slug}`, code)}">${product.name}</a> <span class="soft">${formatPrice(product, messages)}</span></li>`)}</ul>
${alone !== null && html`<p class="soft">${messages.product.alone(alone)}</p>`}`
}
