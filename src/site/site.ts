/**
 * The public site beside the shop, on the storefront's server and in its look: models, documentation, and
 * files for crawlers and language models.
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

export function createSite(
  platform: Pick<Platform, 'config' | 'db' | 'clock' | 'secrets' | 'log'>,
  {
    productList,
    products,
    gateway,
  }: Pick<Storefront, 'productList' | 'products'> & Pick<SiteDeps, 'gateway'>,
): Room {
  const deps = { ...platform, productList, products, gateway, docs: new DocLibrary() }
  return {
    server: 'storefront',
    routes(app) {
      modelRoutes(app, deps)
      docRoutes(app, deps)
      llmsRoutes(app, deps)
      sitemapRoutes(app, deps)
    },
  }
}
