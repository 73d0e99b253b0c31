/** The pages of the documentation, as HTML and as Markdown. */
import { type Html, html, raw } from '#platform/http/html.ts'
import type { Locale } from '#platform/locale.ts'
import { markdown } from '#storefront/pages/markdown.ts'
import { SITE_MESSAGES, type SiteMessages } from '../messages.ts'
import type { DocPage } from './library.ts'
import { type DocResult, QUERY_LENGTH_MAX, splitWords } from './search.ts'

type Pages = readonly DocPage[]

type Texts = SiteMessages['docs']

/** The texts of the documentation are in English, whatever the language around them. */
const ENGLISH = raw(' lang="en"')

/** Rendering a long page takes ten milliseconds. */
const rendered = new WeakMap<DocPage, Html>()

export function docPage(page: DocPage, pages: Pages, locale: Locale): Html {
  const text = SITE_MESSAGES[locale].docs
  const content = rendered.get(page) ?? markdown(page.text, { heading: 2, anchors: true })
  rendered.set(page, content)
  const at = pages.indexOf(page)
  return frame(
    text,
    pages,
    page,
    html`${note(text)}<article class="prose docs-text"${ENGLISH}><h1>${page.title}</h1>
${content}
</article>
${neighbours(text, pages[at - 1], pages[at + 1])}`,
  )
}

export function docHomePage(pages: Pages, reference: string, locale: Locale): Html {
  const text = SITE_MESSAGES[locale].docs
  const groups = Map.groupBy(pages, ({ audience }) => audience)
  return frame(
    text,
    pages,
    null,
    html`<h1>${text.title}</h1>
${note(text)}${searchForm(text, '')}
${[...groups].map(
  ([
    audience,
    list,
  ]) => html`<section class="part" aria-labelledby="docs-${audience}"><h2 id="docs-${audience}">${text.groups[audience]}</h2>
<ul class="doc-cards">${list.map(({ name, title, task }) => html`<li class="card"${ENGLISH}><h3><a href="/docs/${name}">${title}</a></h3><p class="soft">${task}</p></li>`)}${
    audience === 'everyone' &&
    html`<li class="card"><h3><a href="${reference}">${text.reference}</a></h3><p class="soft">${text.referenceTask}</p></li>`
  }</ul></section>`,
)}`,
  )
}

export function docSearchPage(
  pages: Pages,
  query: string,
  results: readonly DocResult[],
  locale: Locale,
): Html {
  const text = SITE_MESSAGES[locale].docs
  const words = splitWords(query)
  const found = results.length === 0 ? text.noResults : text.results(results.length)
  return frame(
    text,
    pages,
    null,
    html`<h1>${text.searchTitle}</h1>
${note(text)}${searchForm(text, query)}
<p class="soft" role="status">${words.length === 0 ? text.noWords : found}</p>
<ol class="doc-results"${ENGLISH}>${results.map(
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
function frame(text: Texts, pages: Pages, current: DocPage | null, content: Html): Html {
  return html`<div class="wrap docs">
<details class="docs-menu"><summary>${text.allPages}</summary>${current !== null && searchForm(text, '')}${pageList(text, pages, current)}</details>
<nav class="docs-side" aria-label="${text.title}">${current !== null && searchForm(text, '')}${pageList(text, pages, current, { headings: true })}</nav>
<div class="docs-main">${content}</div>
</div>`
}

const note = ({ note }: Texts) => note !== null && html`<p class="soft">${note}</p>\n`

function pageList(
  text: Texts,
  pages: Pages,
  current: DocPage | null,
  { headings = false } = {},
): Html {
  const groups = Map.groupBy(pages, ({ audience }) => audience)
  const home = html`<ul class="doc-list"><li><a href="/docs"${current === null && raw(' aria-current="page"')}>${text.title}</a></li></ul>`
  return html`${home}${[...groups].map(
    ([audience, list]) => html`<p class="docs-group">${text.groups[audience]}</p>
<ul class="doc-list"${ENGLISH}>${list.map((page) => html`<li><a href="/docs/${page.name}"${page === current && raw(' aria-current="page"')}>${page.title}</a>${headings && page === current && headingList(page)}</li>`)}</ul>`,
  )}`
}

function headingList({ sections }: DocPage): Html | false {
  const headings = sections.filter(({ depth, id }) => id !== '' && depth === 2)
  if (headings.length < 2) return false
  return html`<ul class="doc-list">${headings.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>`
}

function searchForm(text: Texts, query: string): Html {
  return html`<form class="docs-search" role="search" action="/docs" method="get">
<input type="search" name="q" value="${query}" maxlength="${QUERY_LENGTH_MAX}" placeholder="${text.search}" aria-label="${text.searchTitle}">
<button class="button quiet">${text.search}</button></form>`
}

function neighbours(text: Texts, before: DocPage | undefined, after: DocPage | undefined): Html {
  return html`<nav class="docs-next" aria-label="${text.nextPages}">${before && html`<a rel="prev" href="/docs/${before.name}"><span class="soft">${text.previous}</span><span${ENGLISH}>${before.title}</span></a>`}${after && html`<a rel="next" href="/docs/${after.name}"><span class="soft">${text.next}</span><span${ENGLISH}>${after.title}</span></a>`}</nav>`
}

function markWords(text: string, words: readonly string[]): (Html | string)[] {
  const pattern = new RegExp(`(${words.map((word) => RegExp.escape(word)).join('|')})`, 'giu')
  return text
    .split(pattern)
    .map((part, index) => (index % 2 === 1 ? html`<mark>${part}</mark>` : part))
}
