import type { Billing } from '#billing/billing.ts'
import { billingProblem } from '#billing/problems.ts'
import type { Identity } from '#identity/identity.ts'
import { identityProblem } from '#identity/problems.ts'
import type { Platform } from '#platform/platform.ts'
import type { Room } from '#platform/room.ts'
import { adminBillingRoutes } from './billing-routes.ts'
import { tellOfDeadJobs } from './dead-jobs.ts'
import { adminProblem } from './problems.ts'
import { adminRoutes } from './routes.ts'
import { adminUsageRoutes } from './usage-routes.ts'

export function createAdmin(platform: Platform, identity: Identity, billing: Billing): Room {
  tellOfDeadJobs(platform)
  return {
    tags: [
      {
        name: 'admin',
        description: 'For superusers',
        problems: { ...identityProblem.catalogue, ...billingProblem.catalogue, ...adminProblem.catalogue },
      },
    ],
    routes(app) {
      adminRoutes(app, { platform, identity })
      adminUsageRoutes(app, platform)
      adminBillingRoutes(app, platform, billing)
    },
  }
}
