import type { Identity } from '#identity/identity.ts'
import { identityProblem } from '#identity/problems.ts'
import type { Platform } from '#platform/platform.ts'
import type { Room } from '#platform/room.ts'
import type { LiveSwitches } from '#switches/live.ts'
import { switchProblem } from '#switches/problems.ts'
import { adminProblem } from './problems.ts'
import { adminRoutes } from './routes.ts'
import { adminSwitchRoutes } from './switch-routes.ts'
import { adminUsageRoutes } from './usage-routes.ts'

export function createAdmin(platform: Platform, identity: Identity, switches: LiveSwitches): Room {
  return {
    tags: [
      {
        name: 'admin',
        description: 'For superusers',
        problems: { ...identityProblem.catalogue, ...adminProblem.catalogue, ...switchProblem.catalogue },
      },
    ],
    routes(app) {
      adminRoutes(app, { platform, identity })
      adminUsageRoutes(app, platform)
      adminSwitchRoutes(app, platform, switches)
    },
  }
}
