/** The pages of the documentation, as HTML and as Markdown. */
import { type Html, html, raw } from '#platform/http/html.ts'
import { markdown } from '#storefront/pages/markdown.ts'
import type { DocPage } from './library.ts'
import { type DocResult, QUERY_LENGTH_MAX, splitWords } from './search.ts'

type Pages = readonly DocPage[]

const GROUPS = { everyone: 'Guides', operator: 'Operating' } as const

/** Rendering a long page takes ten milliseconds. */
const rendered = new WeakMap<DocPage, Html>()

export function docPage(page: DocPage, pages: Pages): Html {
  const content = rendered.get(page) ?? markdown(page.text, { heading: 2, anchors: true })
  rendered.set(page, content)
  const at = pages.indexOf(page)
  return frame(
    pages,
    page,
    html`<article class="prose docs-text"><h1>${page.title}</h1>
${content}
</article>
${neighbours(pages[at - 1], pages[at + 1])}`,
  )
}

export function docHomePage(pages: Pages, reference: string): Html {
  const groups = Map.groupBy(pages, ({ audience }) => audience)
  return frame(
    pages,
    null,
    html`<h1>Documentation</h1>
${searchForm('')}
${[...groups].map(
  ([
    audience,
    list,
  ]) => html`<section class="part" aria-labelledby="docs-${audience}"><h2 id="docs-${audience}">${GROUPS[audience]}</h2>
<ul class="doc-cards">${list.map(({ name, title, task }) => html`<li class="card"><h3><a href="/docs/${name}">${title}</a></h3><p class="soft">${task}</p></li>`)}${
    audience === 'everyone' &&
    html`<li class="card"><h3><a href="${reference}">API reference</a></h3><p class="soft">Look up every operation, with examples</p></li>`
  }</ul></section>`,
)}`,
  )
}

export function docSearchPage(pages: Pages, query: string, results: readonly DocResult[]): Html {
  const words = splitWords(query)
  const count = results.length === 1 ? '1 result' : `${results.length} results`
  return frame(
    pages,
    null,
    html`<h1>Search the documentation</h1>
${searchForm(query)}
<p class="soft" role="status">${words.length === 0 ? 'Enter one or more words.' : results.length === 0 ? 'No section contains all of these words.' : count}</p>
<ol class="doc-results">${results.map(
      ({ page, section, excerpt }) => html`<li>
<a href="/docs/${page.name}${section.id !== '' && `#${section.id}`}">${section.title || page.title}</a>
<p class="soft">${section.id !== '' && html`${page.title} · `}${markWords(excerpt, words)}</p></li>`,
    )}</ol>`,
  )
}

/** The page as a Markdown file, for programs. Its links are complete. */
export function docFile({ title, text }: DocPage, storefront: string): string {
  return `# ${title}\n\n${text.replaceAll('](/docs/', `](${storefront}/docs/`)}\n`
}

/** A phone shows the list of pages above the text, closed. */
function frame(pages: Pages, current: DocPage | null, content: Html): Html {
  return html`<div class="wrap docs">
<details class="docs-menu"><summary>All pages</summary>${current !== null && searchForm('')}${pageList(pages, current)}</details>
<nav class="docs-side" aria-label="Documentation">${current !== null && searchForm('')}${pageList(pages, current, { headings: true })}</nav>
<div class="docs-main">${content}</div>
</div>`
}

function pageList(pages: Pages, current: DocPage | null, { headings = false } = {}): Html {
  const groups = Map.groupBy(pages, ({ audience }) => audience)
  const home = html`<ul class="doc-list"><li><a href="/docs"${current === null && raw(' aria-current="page"')}>Documentation</a></li></ul>`
  return html`${home}${[...groups].map(
    ([audience, list]) => html`<p class="docs-group">${GROUPS[audience]}</p>
<ul class="doc-list">${list.map((page) => html`<li><a href="/docs/${page.name}"${page === current && raw(' aria-current="page"')}>${page.title}</a>${headings && page === current && headingList(page)}</li>`)}</ul>`,
  )}`
}

function headingList({ sections }: DocPage): Html | false {
  const headings = sections.filter(({ depth, id }) => id !== '' && depth === 2)
  if (headings.length < 2) return false
  return html`<ul class="doc-list">${headings.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>`
}

function searchForm(query: string): Html {
  return html`<form class="docs-search" role="search" action="/docs" method="get">
<input type="search" name="q" value="${query}" maxlength="${QUERY_LENGTH_MAX}" placeholder="Search" aria-label="Search the documentation">
<button class="button quiet">Search</button></form>`
}

function neighbours(before: DocPage | undefined, after: DocPage | undefined): Html {
  return html`<nav class="docs-next" aria-label="Next pages">${before && html`<a rel="prev" href="/docs/${before.name}"><span class="soft">Previous</span>${before.title}</a>`}${after && html`<a rel="next" href="/docs/${after.name}"><span class="soft">Next</span>${after.title}</a>`}</nav>`
}

function markWords(text: string, words: readonly string[]): (Html | string)[] {
  const pattern = new RegExp(`(${words.map((word) => RegExp.escape(word)).join('|')})`, 'giu')
  return text
    .split(pattern)
    .map((part, index) => (index % 2 === 1 ? html`<mark>${part}</mark>` : part))
}
