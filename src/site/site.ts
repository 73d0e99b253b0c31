/**
 * The public site beside the shop, on the storefront's server and in its look: models, documentation,
 * status, and files for crawlers and language models. The API's server has the last ones too.
 */
import type { Platform } from '#platform/platform.ts'
import type { Room } from '#platform/room.ts'
import type { Storefront } from '#storefront/storefront.ts'
import type { SiteDeps } from './deps.ts'
import { DocLibrary } from './docs/library.ts'
import { docRoutes } from './docs/routes.ts'
import { llmsRoutes } from './llms.ts'
import { modelRoutes } from './models-page.ts'
import { sitemapRoutes } from './sitemap.ts'
import { statusRoutes } from './status-page.ts'

export function createSite(
  platform: Pick<Platform, 'config' | 'db' | 'clock' | 'secrets' | 'log' | 'jobs' | 'readiness'>,
  {
    productList,
    products,
    gateway,
  }: Pick<Storefront, 'productList' | 'products'> & Pick<SiteDeps, 'gateway'>,
): Room[] {
  const deps = { ...platform, productList, products, gateway, docs: new DocLibrary() }
  const pages: Room = {
    server: 'storefront',
    routes(app) {
      modelRoutes(app, deps)
      docRoutes(app, deps)
      llmsRoutes(app, deps)
      sitemapRoutes(app, deps)
      statusRoutes(app, deps)
    },
  }
  // A program that knows only the API's address looks for the files there.
  return [pages, { routes: (app) => llmsRoutes(app, deps) }]
}
