// The brand: the name, pictures, colors and links that customers see everywhere, from the file of
// BRAND or from what a superuser saved.
import type { Platform } from '#platform/platform.ts'
import type { Room } from '#platform/room.ts'
import { brandProblem } from './problems.ts'
import { brandPictureRoutes, brandRoutes, manifestRoute } from './routes.ts'
import { StoredBrand } from './store.ts'

export function createBrand(
  platform: Pick<Platform, 'config' | 'db' | 'clock' | 'bus' | 'log'>,
): Room {
  const stored = new StoredBrand(platform)
  stored.follow(platform)
  return {
    tags: [
      {
        name: 'brand',
        description: 'The name, pictures and colours of the service',
        problems: brandProblem.catalogue,
      },
    ],
    routes(app) {
      brandRoutes(app, { ...platform, stored })
      brandPictureRoutes(app, platform.config.brand)
      manifestRoute(app, platform.config.brand)
    },
    close: () => stored.close(),
  }
}
