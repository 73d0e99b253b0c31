/** The releases of a product as feeds: Atom (RFC 4287) and JSON Feed 1.1. */
import type { CatalogueProduct } from '#catalogue/catalogue.ts'
import type { Config } from '#config/config.ts'
import { html } from '#platform/http/html.ts'
import type { Release } from '../products/releases.ts'
import { releaseId } from './changelog.ts'
import { markdown } from './markdown.ts'

const ITEMS_MAX = 20

type FeedParts = { config: Config; product: CatalogueProduct; releases: readonly Release[] }

export function jsonFeed(parts: FeedParts): string {
  const { title, page, url, items } = describeFeed(parts)
  const { storefront } = parts.config.urls
  return JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title,
    home_page_url: page,
    feed_url: `${url}.json`,
    favicon: storefront + parts.config.brand.iconPath,
    language: 'en',
    items: items.map(({ id, heading, content, publishedAt }) => ({
      id,
      url: id,
      title: heading,
      content_html: content,
      date_published: publishedAt,
    })),
  })
}

/** A feed without entries still needs a time: `emptyAt`. */
export function atomFeed(parts: FeedParts, emptyAt: string): string {
  const { title, page, url, items } = describeFeed(parts)
  return html`<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<id>${url}.xml</id><title>${title}</title>
<link rel="self" type="application/atom+xml" href="${url}.xml"/><link rel="alternate" type="text/html" href="${page}"/>
<author><name>${parts.config.brand.name}</name></author><updated>${items[0]?.publishedAt ?? emptyAt}</updated>
${items.map(
  ({ id, heading, content, publishedAt }) =>
    html`<entry><id>${id}</id><title>${heading}</title><link rel="alternate" type="text/html" href="${id}"/><published>${publishedAt}</published><updated>${publishedAt}</updated><content type="html">${content}</content></entry>\n`,
)}</feed>
`.markup
}

function describeFeed({ config, product, releases }: FeedParts) {
  const { storefront } = config.urls
  const path = `${storefront}/products/${product.slug}`
  const name = `${config.brand.name} ${product.name}`
  return {
    title: `${name} releases`,
    page: `${path}/changelog`,
    url: `${path}/feed`,
    items: releases.slice(0, ITEMS_MAX).map(({ version, publishedAt, notes }) => ({
      id: `${path}/changelog?from=${encodeURIComponent(version)}#${releaseId(encodeURIComponent(version))}`,
      heading: `${name} ${version}`,
      // Readers show the notes elsewhere, so links need the whole address.
      content: markdown(notes).markup.replaceAll('href="/', `href="${storefront}/`),
      publishedAt,
    })),
  }
}
