/**
 * The public site beside the shop, on the storefront's server and in its look: documentation, and
 * files for crawlers and language models.
 */
import type { Platform } from '#platform/platform.ts'
import type { Room } from '#platform/room.ts'
import type { Storefront } from '#storefront/storefront.ts'
import { DocLibrary } from './docs/library.ts'
import { docRoutes } from './docs/routes.ts'
import { llmsRoutes } from './llms.ts'
import { sitemapRoutes } from './sitemap.ts'

export function createSite(
  platform: Pick<Platform, 'config' | 'db' | 'clock' | 'secrets' | 'log'>,
  { productList, products }: Pick<Storefront, 'productList' | 'products'>,
): Room {
  const deps = { ...platform, productList, products, docs: new DocLibrary() }
  return {
    server: 'storefront',
    routes(app) {
      docRoutes(app, deps)
      llmsRoutes(app, deps)
      sitemapRoutes(app, deps)
    },
  }
}
