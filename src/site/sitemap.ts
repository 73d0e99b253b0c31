/** Files for crawlers: robots.txt, and the sitemap of all pages that they may list. */
import type { App } from '#platform/http/app.ts'
import { html } from '#platform/http/html.ts'
import { listLegalPages } from '#storefront/pages/legal-pages.ts'
import { MINUTES, SharedContent } from '#storefront/pages/shared-reply.ts'
import { showReleases } from '#storefront/products/releases.ts'
import type { SiteDeps } from './deps.ts'
import { readSetting } from './docs/routes.ts'

/** Pages with personal data, and forms. */
const PRIVATE = [
  '/api/',
  '/checkout',
  '/claim',
  '/dashboard',
  '/download/',
  '/login',
  '/logout',
  '/purchased',
  '/recover',
  '/withdraw',
]

export function sitemapRoutes(app: App, deps: SiteDeps): void {
  const { storefront } = deps.config.urls

  app.get('/robots.txt', { config: { access: 'anyone' } }, (_request, reply) => {
    const rules = ['User-agent: *', ...PRIVATE.map((path) => `Disallow: ${path}`)]
    const text = `${rules.join('\n')}\n\nSitemap: ${storefront}/sitemap.xml\n`
    return new SharedContent(text).send(reply.type('text/plain; charset=utf-8'), MINUTES)
  })

  app.get('/sitemap.xml', { config: { access: 'anyone' } }, async (_request, reply) => {
    const entries = (await listEntries(deps)).map(
      ({ path, changedAt }) =>
        html`<url><loc>${storefront}${path}</loc>${changedAt && html`<lastmod>${changedAt}</lastmod>`}</url>\n`,
    )
    const text = html`<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${entries}</urlset>
`
    return new SharedContent(text.markup).send(
      reply.type('application/xml; charset=utf-8'),
      MINUTES,
    )
  })
}

/** Pages without a known time of change have no `lastmod`: crawlers distrust an invented one. */
async function listEntries(
  deps: SiteDeps,
): Promise<{ path: string; changedAt?: string | undefined }[]> {
  const products = deps.productList.sold.map(async ({ tier, slug }) => {
    const [newest] = await showReleases(deps, tier)
    const changedAt = newest?.publishedAt
    const page = { path: `/products/${slug}`, changedAt }
    return newest ? [page, { path: `/products/${slug}/changelog`, changedAt }] : [page]
  })
  return [
    { path: '/' },
    { path: '/pricing' },
    ...(await Promise.all(products)).flat(),
    { path: '/models' },
    { path: '/docs' },
    ...deps.docs.list('everyone', readSetting(deps)).map(({ name }) => ({ path: `/docs/${name}` })),
    { path: '/status' },
    { path: '/contact' },
    ...(await listLegalPages(deps)).map(({ path }) => ({ path })),
  ]
}
