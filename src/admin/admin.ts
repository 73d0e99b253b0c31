import type { Identity } from '#identity/identity.ts'
import { identityProblem } from '#identity/problems.ts'
import type { Platform } from '#platform/platform.ts'
import type { Room } from '#platform/room.ts'
import { tellOfDeadJobs } from './dead-jobs.ts'
import { adminProblem } from './problems.ts'
import { adminRoutes } from './routes.ts'
import { adminUsageRoutes } from './usage-routes.ts'

export function createAdmin(platform: Platform, identity: Identity): Room {
  tellOfDeadJobs(platform)
  return {
    tags: [
      {
        name: 'admin',
        description: 'For superusers',
        problems: { ...identityProblem.catalogue, ...adminProblem.catalogue },
      },
    ],
    routes(app) {
      adminRoutes(app, { platform, identity })
      adminUsageRoutes(app, platform)
    },
  }
}
