/** The releases of a product with their notes: on its page, as a changelog, and as feeds. */
import type { CatalogueProduct } from '#catalogue/catalogue.ts'
import { type Html, html } from '#platform/http/html.ts'
import type { Locale } from '#platform/locale.ts'
import type { PageMessages } from '../messages/pages.ts'
import type { Release } from '../products/releases.ts'
import { day } from './formats.ts'
import { markdown } from './markdown.ts'

/** A page of the changelog holds at most this much. A longer note is alone on its page. */
const RELEASES_MAX = 20
const NOTES_LENGTH_MAX = 16_000

const PREVIEW_RELEASES_MAX = 3
const PREVIEW_LENGTH_MAX = 1_200

export type ChangelogPart = {
  releases: Release[]
  /** The version that the next page begins with; null on the last page. */
  next: string | null
}

/** `from`: the version that the page begins with; null for the newest. */
export function takePart(releases: readonly Release[], from: string | null): ChangelogPart | null {
  const start = from === null ? 0 : releases.findIndex(({ version }) => version === from)
  if (start < 0) return null
  let length = 0
  let end = start
  for (const { notes } of releases.slice(start, start + RELEASES_MAX)) {
    length += notes.length
    if (end > start && length > NOTES_LENGTH_MAX) break
    end++
  }
  return { releases: releases.slice(start, end), next: releases[end]?.version ?? null }
}

export function changelogPage(
  product: CatalogueProduct,
  part: ChangelogPart,
  messages: PageMessages,
): Html {
  const text = messages.changelog
  const { slug, name, changelog } = product
  const path = `/products/${slug}`
  const isLast = part.next === null
  return html`<div class="wrap reading">
<nav class="crumbs" aria-label="${messages.product.breadcrumb}"><a href="/pricing">${messages.product.products}</a> <span aria-hidden="true">/</span> <a href="${path}">${name}</a></nav>
<h1>${text.of(name)}</h1>
<p class="lead">${text.follow} <a href="${path}/feed.xml">Atom</a>, <a href="${path}/feed.json">JSON</a></p>
${part.releases.length === 0 && html`<p>${text.none}</p>`}
${part.releases.map((release) => renderRelease(release, markdown(release.notes, { heading: 3 }), messages.locale))}
${isLast && changelog !== '' && html`<section class="prose"><h2>${text.earlier}</h2>${markdown(changelog, { heading: 3 })}</section>`}
${!isLast && html`<p><a class="button quiet" href="${path}/changelog?from=${part.next}">${text.older}</a></p>`}
</div>`
}

/** The newest releases in short, for the product's page. */
export function changelogPreview(
  { slug }: CatalogueProduct,
  releases: readonly Release[],
  messages: PageMessages,
): Html {
  return html`${releases.slice(0, PREVIEW_RELEASES_MAX).map(({ notes, ...release }) => renderRelease({ ...release, notes }, markdown(cutNotes(notes), { heading: 4 }), messages.locale, 'h3'))}
<p><a href="/products/${slug}/changelog">${messages.changelog.all}</a></p>`
}

function renderRelease(
  { version, publishedAt }: Release,
  notes: Html,
  locale: Locale,
  tag: 'h2' | 'h3' = 'h2',
): Html {
  const heading = html`${version} <span class="soft">${day(publishedAt, locale)}</span>`
  return html`<article class="release prose" id="${releaseId(version)}">${tag === 'h2' ? html`<h2>${heading}</h2>` : html`<h3>${heading}</h3>`}${notes}</article>`
}

export const releaseId = (version: string): string => `v${version}`

/** Cuts long notes at the end of a paragraph, or of a line. */
export function cutNotes(notes: string): string {
  if (notes.length <= PREVIEW_LENGTH_MAX) return notes
  const head = notes.slice(0, PREVIEW_LENGTH_MAX)
  const end = [head.lastIndexOf('\n\n'), head.lastIndexOf('\n'), head.lastIndexOf(' ')].find(
    (at) => at > PREVIEW_LENGTH_MAX / 2,
  )
  return `${head.slice(0, end)} …`
}
