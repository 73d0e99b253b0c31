/** The table that compares the products. */
import type { CatalogueProduct, Tier } from '#catalogue/catalogue.ts'
import { type Html, html, raw } from '#platform/http/html.ts'
import type { PageMessages } from '../messages/pages.ts'
import { formatPrice } from './formats.ts'
import { withCode } from './offers.ts'

type Cell = string | boolean
type Row = { name: string; cells: Cell[] }

/**
 * Compares the products that name rows, or all but the bundles when none does. Returns nothing to show
 * for a single product, and on the page of a product that is not compared.
 */
export function comparisonTable(
  all: readonly CatalogueProduct[],
  { current, code }: { current: Tier | null; code: string | null },
  messages: PageMessages,
): Html | false {
  const named = all.filter(({ comparison }) => Object.keys(comparison).length > 0)
  const products = named.length > 0 ? named : all.filter(({ bundle }) => bundle.length === 0)
  const rows = listRows(products)
  const text = messages.pricing
  if (products.length < 2 || rows.length === 0) return false
  if (current !== null && !products.some(({ tier }) => tier === current)) return false
  const mark = (product: CatalogueProduct | undefined) =>
    product?.tier === current && raw(' class="current"')
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${text.comparison}"><table class="comparison">
<thead><tr><td></td>${products.map((product) => html`<th scope="col"${mark(product)}>${product.tier === current ? product.name : html`<a href="${withCode(`/products/${product.slug}`, code)}">${product.name}</a>`}</th>`)}</tr></thead>
<tbody><tr><th scope="row">${text.price}</th>${products.map((product) => html`<td${mark(product)}>${formatPrice(product, messages)}</td>`)}</tr>
${rows.map(({ name, cells }) => html`<tr><th scope="row">${name}</th>${cells.map((cell, index) => html`<td${mark(products[index])}>${renderCell(cell, text)}</td>`)}</tr>\n`)}</tbody></table></div>`
}

function renderCell(cell: Cell, text: PageMessages['pricing']): Html | string {
  if (typeof cell === 'string') return cell
  return cell
    ? html`<span class="yes" role="img" aria-label="${text.included}"></span>`
    : html`<span class="no" role="img" aria-label="${text.notIncluded}"></span>`
}

/** The rows that the products name; without any, their features, where each includes the last. */
export function listRows(products: readonly CatalogueProduct[]): Row[] {
  const names = new Set(products.flatMap(({ comparison }) => Object.keys(comparison)))
  if (names.size > 0) {
    return [...names].map((name) => ({
      name,
      cells: products.map(({ comparison }) => comparison[name] ?? false),
    }))
  }
  const isLadder = products.slice(1).every(({ includes }) => includes !== null)
  if (!isLadder) return []
  const first = new Map<string, number>()
  products.forEach(({ features }, index) => {
    for (const feature of features) if (!first.has(feature)) first.set(feature, index)
  })
  return [...first].map(([name, from]) => ({
    name,
    cells: products.map((_product, index) => index >= from),
  }))
}
